// Softmax and log-softmax, forward and backward, over n elements.
// FLOPs: forward 5·n (maximum, subtraction, exponential, sum, division or subtraction); softmax backward 4·n (two for the sum of products, subtraction,
// product); log-softmax backward 4·n (sum, exponential, product, subtraction).
// Bytes: forward input + output; backward output gradient + output + input gradient; each once.
// Source: the stable formulas of PyTorch's documentation. Limits: fp32 results of half-precision inputs are taken from the concrete arguments; where
// those are not recorded the result has the input's type.

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> work(const OperatorCall& call) {
  const Argument* first = tensor_argument(call, 0);
  if (first == nullptr) return std::nullopt;
  const std::optional<double> n = value_count(*first);
  if (!n) return std::nullopt;
  ByteSum bytes;
  Work work;
  if (call.name.ends_with("_backward_data")) {  // (gradient, output, dim, input type)
    const Argument* output = tensor_argument(call, 1);
    if (output == nullptr) return std::nullopt;
    const DataType given = type_argument(call, 3);
    bytes.add(first).add(output).add(*n, given == DataType::unknown ? first->type : given);
    work.flops = 4 * *n;
  } else {
    DataType output = first->type;
    if (call.name.starts_with("aten::_")) {  // (input, dim, half to float)
      if (boolean_argument(call, 2).value_or(false)) output = DataType::fp32;
    } else if (const DataType given = type_argument(call, 2); given != DataType::unknown) {  // (input, dim, type)
      output = given;
    }
    bytes.add(first).add(*n, output);
    work.flops = 5 * *n;
  }
  if (!bytes.total()) return std::nullopt;
  work.bytes = *bytes.total();
  work.type = first->type;
  work.description = tensor_text(first->shape, first->type);
  return work;
}

constexpr std::string_view operators[] = {"aten::softmax",
                                          "aten::_softmax",
                                          "aten::_safe_softmax",
                                          "aten::log_softmax",
                                          "aten::_log_softmax",
                                          "aten::_softmax_backward_data",
                                          "aten::_log_softmax_backward_data"};

}  // namespace

extern const OperatorCost softmax_cost{
    .name = "softmax",
    .help = "forward 5·n, backward 4·n; bytes input + output (backward: gradient + output + input gradient)",
    .operators = operators,
    .category = OperatorCategory::normalisation,
    .work = work,
};

}  // namespace stepscope
