// Products of groups of rows with a matrix each, as mixtures of experts need: _grouped_mm(A, B, offsets?, bias?, out_dtype?) and
// _scaled_grouped_mm(A, B, scale_a, scale_b, offsets?, bias?, scale_result?, out_dtype?, fast).
//   A[m, k]    · B[g, k, n] : the rows of A fall into g groups        2·m·n·k      output [m, n]
//   A[g, m, k] · B[k, n]    : the columns of B fall into g groups     2·m·n·k      output [m, n]
//   A[m, k]    · B[k, n]    : the inner dimension falls into g groups 2·m·n·k      output [g, m, n]
//   A[g, m, k] · B[g, k, n] : a batched product                       2·g·m·n·k    output [g, m, n]
// Bytes: A + B + scales + offsets + output, each once. Source: the shape rules of native_functions.yaml.
// Limits: rows beyond the last offset (padding) are counted, because offsets are data; all experts' matrices count as read, also those without rows.

#include <fmt/core.h>

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> work(const OperatorCall& call) {
  const bool scaled = call.name == "aten::_scaled_grouped_mm";
  const Argument* a = tensor_argument(call, 0);
  const Argument* b = tensor_argument(call, 1);
  const Argument* offsets = tensor_argument(call, scaled ? 4 : 2);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::size_t a_rank = a->shape.size(), b_rank = b->shape.size();
  if (a_rank < 2 || a_rank > 3 || b_rank < 2 || b_rank > 3 || a->shape.back() != b->shape[b_rank - 2]) return std::nullopt;
  double groups = 0;
  if (a_rank == 3 || b_rank == 3) {
    groups = static_cast<double>(a_rank == 3 ? a->shape[0] : b->shape[0]);
    if (a_rank == 3 && b_rank == 3 && a->shape[0] != b->shape[0]) return std::nullopt;
  } else {
    if (offsets == nullptr || offsets->shape.size() != 1) return std::nullopt;
    groups = static_cast<double>(offsets->shape[0]);
  }
  const double m = static_cast<double>(a->shape[a_rank - 2]), n = static_cast<double>(b->shape.back()), k = static_cast<double>(a->shape.back());
  if (groups < 0 || m < 0 || n < 0 || k < 0) return std::nullopt;
  const bool batched = a_rank == 3 && b_rank == 3;
  const double products = batched ? groups : 1;
  const double outputs = a_rank == b_rank ? groups * m * n : m * n;
  const DataType given = type_argument(call, scaled ? 7 : 4);
  const DataType output = given != DataType::unknown ? given : scaled ? DataType::bf16 : a->type;  // PyTorch's default for scaled products is bf16
  ByteSum bytes;
  bytes.add(a).add(b).add(offsets).add(outputs, output);
  if (scaled) bytes.add(tensor_argument(call, 2)).add(tensor_argument(call, 3));
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = 2 * products * m * n * k;
  work.bytes = *bytes.total();
  work.type = a->type;
  work.matrix_units = true;
  work.description = fmt::format("groups={:.0f} m={:.0f} n={:.0f} k={:.0f} {}", groups, m, n, k, data_type_name(a->type));
  return work;
}

constexpr std::string_view operators[] = {"aten::_grouped_mm", "aten::_scaled_grouped_mm"};

}  // namespace

extern const OperatorCost grouped_gemm_cost{
    .name = "grouped_gemm",
    .help = "2·m·n·k over all groups; bytes A + B + scales + offsets + output",
    .operators = operators,
    .category = OperatorCategory::gemm,
    .work = work,
};

}  // namespace stepscope
