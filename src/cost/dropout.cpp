// Dropout of n elements.
// FLOPs: forward 2·n (comparison, product); drawing the random numbers is not counted. Backward 2·n (mask, scale).
// Bytes: input + output + the mask (one byte each) that the operator keeps; backward gradient + mask + input gradient.
// Source: native_functions.yaml. Limits: outside training the operator passes its input through and launches nothing: no formula then.

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> work(const OperatorCall& call) {
  const Argument* input = tensor_argument(call, 0);
  if (input == nullptr) return std::nullopt;
  const std::optional<double> n = value_count(*input);
  if (!n) return std::nullopt;
  ByteSum bytes;
  bytes.add(input).add(*n, input->type);
  if (call.name == "aten::native_dropout_backward") {  // (gradient, mask, scale)
    const Argument* mask = tensor_argument(call, 1);
    if (mask == nullptr) return std::nullopt;
    bytes.add(mask);
  } else {
    if (call.name != "aten::_fused_dropout" && !boolean_argument(call, 2).value_or(false)) return std::nullopt;  // (input, p, train)
    bytes.add(*n, DataType::boolean);
  }
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = 2 * *n;
  work.bytes = *bytes.total();
  work.type = input->type;
  work.description = tensor_text(input->shape, input->type);
  return work;
}

constexpr std::string_view operators[] = {"aten::dropout", "aten::native_dropout", "aten::_fused_dropout", "aten::native_dropout_backward"};

}  // namespace

extern const OperatorCost dropout_cost{
    .name = "dropout",
    .help = "2·n; bytes input + output + mask",
    .operators = operators,
    .category = OperatorCategory::elementwise,
    .work = work,
};

}  // namespace stepscope
