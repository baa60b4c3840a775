#include "cost/operator_cost.h"

#include <unordered_map>

namespace stepscope {

const OperatorCost* find_operator_cost(std::string_view operator_name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OperatorCost*> map;
    for (const OperatorCost* cost : all_operator_costs())
      for (const std::string_view name : cost->operators) map.try_emplace(name, cost);
    return map;
  }();
  const auto found = by_name.find(operator_name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace stepscope
