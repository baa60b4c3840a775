// Filling a tensor with one value.
// FLOPs: none. Bytes: the tensor, written once.
// Source: native_functions.yaml. Limits: small tensors are filled by a kernel, large ones may be by a memory set, which is a slice of its own kind.

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> work(const OperatorCall& call) {
  const Argument* tensor = tensor_argument(call, 0);
  if (tensor == nullptr) return std::nullopt;
  const std::optional<double> bytes = tensor_bytes(*tensor);
  if (!bytes) return std::nullopt;
  Work work;
  work.bytes = *bytes;
  work.type = tensor->type;
  work.description = tensor_text(tensor->shape, tensor->type);
  return work;
}

constexpr std::string_view operators[] = {"aten::fill_", "aten::zero_"};

}  // namespace

extern const OperatorCost fill_cost{
    .name = "fill",
    .help = "no FLOPs; bytes of the tensor",
    .operators = operators,
    .category = OperatorCategory::memory,
    .work = work,
};

}  // namespace stepscope
