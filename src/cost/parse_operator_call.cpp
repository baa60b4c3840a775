#include "cost/operator_cost.h"

namespace stepscope {

std::optional<OperatorCall> parse_operator_call(std::string_view, std::string_view) {
  return std::nullopt;
}

}  // namespace stepscope
