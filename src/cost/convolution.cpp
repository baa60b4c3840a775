// Convolutions, also transposed, grouped and of unbatched inputs.
// FLOPs: 2·|output|·|weight[1:]|, transposed 2·|input|·|weight[1:]|; |output| more for a bias, |output| more for a tensor that is added (…_add_relu).
// Bytes: input + weight + bias + output, each once; the output has the input's type.
// Source: the definition in PyTorch's documentation (Conv2d, ConvTranspose2d); a direct convolution is counted, also where a kernel uses Winograd's or
// Fourier's. Limits: needs the concrete strides and paddings (recorded since PyTorch 2.0); padding given as a word is known for stride 1 only.

#include <array>

#include "cost/convolution_arguments.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

// Index of each argument by operator; none = the operator has no such argument.
struct Layout {
  std::string_view name;
  std::size_t bias, stride, padding, dilation, groups, transposed, output_padding, added;
};
constexpr Layout layouts[] = {
    // name                                   bias stride padding dilation groups transposed output_padding added
    {"aten::convolution", 2, 3, 4, 5, 8, 6, 7, none},
    {"aten::_convolution", 2, 3, 4, 5, 8, 6, 7, none},
    {"aten::convolution_overrideable", 2, 3, 4, 5, 8, 6, 7, none},
    {"aten::conv1d", 2, 3, 4, 5, 6, none, none, none},
    {"aten::conv2d", 2, 3, 4, 5, 6, none, none, none},
    {"aten::conv3d", 2, 3, 4, 5, 6, none, none, none},
    {"aten::conv_transpose1d", 2, 3, 4, 7, 6, none, 5, none},
    {"aten::conv_transpose2d", 2, 3, 4, 7, 6, none, 5, none},
    {"aten::conv_transpose3d", 2, 3, 4, 7, 6, none, 5, none},
    {"aten::cudnn_convolution", none, 3, 2, 4, 5, none, none, none},
    {"aten::cudnn_convolution_relu", 2, 3, 4, 5, 6, none, none, none},
    {"aten::cudnn_convolution_add_relu", 4, 5, 6, 7, 8, none, none, 2},
    {"aten::cudnn_convolution_transpose", none, 4, 2, 5, 6, none, 3, none},
    {"aten::miopen_convolution", 2, 4, 3, 5, 6, none, none, none},
    {"aten::miopen_depthwise_convolution", 2, 4, 3, 5, 6, none, none, none},
    {"aten::miopen_convolution_relu", 2, 3, 4, 5, 6, none, none, none},
    {"aten::miopen_convolution_transpose", 2, 5, 3, 6, 7, none, 4, none},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

// Padding as numbers, or as one of conv2d's words: "valid" pads nothing; "same" keeps the size at stride 1, which padding (reach - 1) / 2 says where it is
// whole.
bool read_padding(const OperatorCall& call, std::size_t index, const Shape& input, const Shape& weight, ConvolutionParameters& parameters, Shape& output) {
  if (const auto values = integers_argument(call, index)) {
    parameters.padding = *values;
    return true;
  }
  if (index >= call.arguments.size()) return false;
  const std::string_view word = call.arguments[index].concrete;
  if (word.find("valid") != std::string_view::npos) return true;
  if (word.find("same") == std::string_view::npos) return false;
  for (const std::int64_t stride : parameters.stride)
    if (stride != 1) return false;
  if (weight.size() < 3 || input.size() + 1 < weight.size()) return false;
  output = input;
  if (input.size() + 1 == weight.size()) output.insert(output.begin(), 1);
  output[1] = weight[0];
  return true;
}

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  const Argument* input = tensor_argument(call, 0);
  const Argument* weight = tensor_argument(call, 1);
  if (layout == nullptr || input == nullptr || weight == nullptr) return std::nullopt;
  ConvolutionParameters parameters;
  const auto stride = integers_argument(call, layout->stride), dilation = integers_argument(call, layout->dilation);
  const auto groups = integer_argument(call, layout->groups);
  if (!stride || !dilation || !groups) return std::nullopt;
  parameters.stride = *stride;
  parameters.dilation = *dilation;
  Shape output;
  if (!read_padding(call, layout->padding, input->shape, weight->shape, parameters, output)) return std::nullopt;
  if (layout->transposed != none) {
    const std::optional<bool> transposed = boolean_argument(call, layout->transposed);
    if (!transposed) return std::nullopt;
    parameters.transposed = *transposed;
  } else {
    parameters.transposed = layout->output_padding != none;
  }
  if (parameters.transposed) {
    const auto output_padding = integers_argument(call, layout->output_padding);
    if (!output_padding) return std::nullopt;
    parameters.output_padding = *output_padding;
  }
  const std::optional<Convolution> sizes = convolution_sizes(input->shape, weight->shape, parameters, *groups, output);
  if (!sizes) return std::nullopt;
  const Argument* bias = layout->bias == none ? nullptr : tensor_argument(call, layout->bias);
  const Argument* added = layout->added == none ? nullptr : tensor_argument(call, layout->added);
  const std::optional<double> bytes = ByteSum().add(input).add(weight).add(bias).add(added).add(sizes->output_count, input->type).total();
  if (!bytes) return std::nullopt;
  Work work;
  work.flops = 2 * sizes->multiply_adds + (bias == nullptr ? 0 : sizes->output_count) + (added == nullptr ? 0 : sizes->output_count);
  work.bytes = *bytes;
  work.type = input->type;
  work.matrix_units = true;
  work.description = sizes->description + " " + std::string(data_type_name(input->type)) + (bias == nullptr ? "" : ", bias");
  return work;
}

}  // namespace

extern const OperatorCost convolution_cost{
    .name = "convolution",
    .help = "2·|output|·|weight[1:]| (transposed 2·|input|·|weight[1:]|) + |output| with bias; bytes input + weight + bias + output",
    .operators = names,
    .category = OperatorCategory::convolution,
    .work = work,
};

}  // namespace stepscope
