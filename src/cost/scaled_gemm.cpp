// Matrix products of 8-bit and 4-bit floating-point inputs with scales: _scaled_mm(A, B, scale_a, scale_b, bias?, scale_result?, out_dtype?, fast).
// FLOPs: 2·m·n·k (+ m·n for a bias); applying the scales is not counted. Bytes: A + B + scales + bias + output, each once.
// A packed fp4 tensor records two values per element, so its k is twice the recorded size.
// Source: native_functions.yaml; before PyTorch 2.5 the order was (A, B, bias?, out_dtype?, scale_a, scale_b, scale_result?, fast).
// Limits: the form with lists of scales (_scaled_mm_v2) does not record their types: no formula.

#include <fmt/core.h>

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> work(const OperatorCall& call) {
  const Argument* a = tensor_argument(call, 0);
  const Argument* b = tensor_argument(call, 1);
  if (a == nullptr || b == nullptr || a->shape.size() != 2 || b->shape.size() != 2 || a->shape[1] != b->shape[0]) return std::nullopt;
  const bool scales_first = tensor_argument(call, 2) != nullptr && tensor_argument(call, 3) != nullptr;
  const std::size_t scale_index = scales_first ? 2 : 4, bias_index = scales_first ? 4 : 2, type_index = scales_first ? 6 : 3;
  const Argument* scale_a = tensor_argument(call, scale_index);
  const Argument* scale_b = tensor_argument(call, scale_index + 1);
  const Argument* bias = tensor_argument(call, bias_index);
  if (scales_first && (scale_a == nullptr || scale_b == nullptr)) return std::nullopt;
  const std::optional<double> values = value_count(*a);
  if (!values || *values < 0 || a->shape[0] <= 0 || b->shape[1] < 0) return std::nullopt;
  const double m = static_cast<double>(a->shape[0]), n = static_cast<double>(b->shape[1]), k = *values / m;
  DataType output = type_argument(call, type_index);
  if (output == DataType::unknown) {
    if (type_index < call.arguments.size() && !call.arguments[type_index].concrete.empty()) return std::nullopt;  // a type that we do not know
    output = a->type;
  }
  const std::optional<double> bytes = ByteSum().add(a).add(b).add(scale_a).add(scale_b).add(bias).add(m * n, output).total();
  if (!bytes) return std::nullopt;
  Work work;
  work.flops = 2 * m * n * k + (bias == nullptr ? 0 : m * n);
  work.bytes = *bytes;
  work.type = a->type;
  work.matrix_units = true;
  work.description =
      fmt::format("m={:.0f} n={:.0f} k={:.0f} {} to {}{}", m, n, k, data_type_name(a->type), data_type_name(output), bias == nullptr ? "" : ", add");
  return work;
}

constexpr std::string_view operators[] = {"aten::_scaled_mm"};

}  // namespace

extern const OperatorCost scaled_gemm_cost{
    .name = "scaled_gemm",
    .help = "2·m·n·k (+ m·n with bias) of fp8 or fp4 inputs; bytes A + B + scales + bias + output",
    .operators = operators,
    .category = OperatorCategory::gemm,
    .work = work,
};

}  // namespace stepscope
