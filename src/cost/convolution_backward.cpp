// Gradients of a convolution, as the output mask asks for them: of the input, of the weight, of the bias.
// FLOPs: each of the first two costs the forward pass's 2·|output|·|weight[1:]| (transposed 2·|input|·|weight[1:]|); the bias gradient |output gradient|
// additions. Bytes: output gradient once, weight (for the input's gradient), input (for the weight's gradient), and the gradients asked for, each once. Source:
// both gradients are convolutions with the same multiply-adds (PyTorch's convolution_backward in native_functions.yaml). Limits: a kernel that makes both
// gradients reads the output gradient twice in practice; the bound counts it once (METRICS.md, Bytes).

#include <array>

#include "cost/convolution_arguments.h"

namespace stepscope {

namespace {

struct Layout {
  std::string_view name;
  std::size_t output_gradient, input, weight, stride, padding, dilation, groups, mask;
  std::size_t transposed, output_padding;  // 99 = the operator has no such argument
};
constexpr Layout layouts[] = {
    {"aten::convolution_backward", 0, 1, 2, 4, 5, 6, 9, 10, 7, 8},
    {"aten::cudnn_convolution_backward", 1, 0, 2, 4, 3, 5, 6, 10, 99, 99},  // until PyTorch 1.10; its mask has no bias
    {"aten::miopen_convolution_backward", 1, 0, 2, 4, 3, 5, 6, 9, 99, 99},  // until PyTorch 1.10
};

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  if (layout == nullptr) return std::nullopt;
  const Argument* gradient = tensor_argument(call, layout->output_gradient);
  const Argument* input = tensor_argument(call, layout->input);
  const Argument* weight = tensor_argument(call, layout->weight);
  const auto groups = integer_argument(call, layout->groups);
  const auto mask = booleans_argument(call, layout->mask);
  if (gradient == nullptr || input == nullptr || weight == nullptr || !groups || !mask || mask->size() < 2 || gradient->shape.empty()) return std::nullopt;
  ConvolutionParameters parameters;  // the sizes are all recorded; only whether it is transposed matters
  if (layout->transposed != 99) {
    const std::optional<bool> transposed = boolean_argument(call, layout->transposed);
    if (!transposed) return std::nullopt;
    parameters.transposed = *transposed;
  }
  const std::optional<Convolution> sizes = convolution_sizes(input->shape, weight->shape, parameters, *groups, gradient->shape);
  if (!sizes) return std::nullopt;
  const bool to_input = (*mask)[0], to_weight = (*mask)[1], to_bias = mask->size() > 2 && (*mask)[2];
  ByteSum bytes;
  bytes.add(gradient);
  if (to_input) bytes.add(weight).add(sizes->input_count, input->type);
  if (to_weight) bytes.add(input).add(sizes->weight_count, weight->type);
  const double output_channels = static_cast<double>(parameters.transposed ? weight->shape[1] * *groups : weight->shape[0]);
  if (to_bias) bytes.add(output_channels, weight->type);
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = 2 * sizes->multiply_adds * ((to_input ? 1 : 0) + (to_weight ? 1 : 0)) + (to_bias ? sizes->output_count : 0);
  work.bytes = *bytes.total();
  work.type = gradient->type;
  work.matrix_units = true;
  work.description = sizes->description + " " + std::string(data_type_name(gradient->type)) + ", gradients of" + (to_input ? " input" : "") +
                     (to_weight ? " weight" : "") + (to_bias ? " bias" : "");
  return work;
}

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

}  // namespace

extern const OperatorCost convolution_backward_cost{
    .name = "convolution_backward",
    .help = "forward FLOPs for each of the input's and weight's gradients asked for, + |output| for the bias; bytes each tensor once",
    .operators = names,
    .category = OperatorCategory::convolution,
    .backward = true,
    .work = work,
};

}  // namespace stepscope
