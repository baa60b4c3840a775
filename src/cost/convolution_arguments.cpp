#include "cost/convolution_arguments.h"

#include <fmt/core.h>

namespace stepscope {

namespace {

// The parameter of dimension i: frameworks give one value for all dimensions or one each.
std::optional<std::int64_t> of_dimension(const std::vector<std::int64_t>& values, std::size_t i, std::int64_t otherwise) {
  if (values.empty()) return otherwise;
  if (values.size() == 1) return values[0];
  if (i < values.size()) return values[i];
  return std::nullopt;
}

// PyTorch's documentation of Conv2d and ConvTranspose2d, section Shape. Small sizes only, so that nothing can overflow.
std::optional<std::int64_t> output_size(std::int64_t size, std::int64_t kernel, const ConvolutionParameters& parameters, std::size_t i) {
  const auto stride = of_dimension(parameters.stride, i, 1), padding = of_dimension(parameters.padding, i, 0),
             dilation = of_dimension(parameters.dilation, i, 1);
  const auto extra = of_dimension(parameters.output_padding, i, 0);
  if (!stride || !padding || !dilation || !extra) return std::nullopt;
  constexpr std::int64_t largest = std::int64_t{1} << 28;
  for (const std::int64_t value : {size, kernel, *stride, *padding, *dilation, *extra})
    if (value < 0 || value > largest) return std::nullopt;
  if (*stride == 0) return std::nullopt;
  const std::int64_t reach = *dilation * (kernel - 1) + 1;
  const std::int64_t result = parameters.transposed ? (size - 1) * *stride - 2 * *padding + reach + *extra : (size + 2 * *padding - reach) / *stride + 1;
  if (result < 0 || (!parameters.transposed && size + 2 * *padding < reach)) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Convolution> convolution_sizes(const Shape& given_input, const Shape& weight, const ConvolutionParameters& parameters, std::int64_t groups,
                                             const Shape& given_output) {
  constexpr std::int64_t largest_groups = std::int64_t{1} << 28, largest_channels = std::int64_t{1} << 34;  // their product fits
  if (weight.size() < 3 || groups < 1 || groups > largest_groups || weight[1] < 0 || weight[1] > largest_channels) return std::nullopt;
  Shape input = given_input;
  if (input.size() + 1 == weight.size()) input.insert(input.begin(), 1);  // one image without a batch dimension
  if (input.size() != weight.size()) return std::nullopt;
  const std::int64_t input_channels = input[1];
  if (input_channels != (parameters.transposed ? weight[0] : weight[1] * groups)) return std::nullopt;
  const std::int64_t output_channels = parameters.transposed ? weight[1] * groups : weight[0];
  Shape output = given_output;
  if (!output.empty()) {
    if (output.size() + 1 == weight.size()) output.insert(output.begin(), 1);
    if (output.size() != weight.size() || output[0] != input[0] || output[1] != output_channels) return std::nullopt;
  } else {
    output = {input[0], output_channels};
    for (std::size_t i = 2; i < input.size(); ++i) {
      const std::optional<std::int64_t> size = output_size(input[i], weight[i], parameters, i - 2);
      if (!size) return std::nullopt;
      output.push_back(*size);
    }
  }
  const std::optional<double> inputs = sizes_product(input), weights = sizes_product(weight), outputs = sizes_product(output),
                              per_result = sizes_product(weight, 1);
  if (!inputs || !weights || !outputs || !per_result) return std::nullopt;
  Convolution result;
  result.input_count = *inputs;
  result.weight_count = *weights;
  result.output_count = *outputs;
  // Every output is a sum over the kernel and a group's input channels; transposed, every input is spread over the kernel and a group's output channels.
  result.multiply_adds = (parameters.transposed ? *inputs : *outputs) * *per_result;
  result.description = fmt::format("{} * {}{}{}", shape_text(input), shape_text(weight), parameters.transposed ? " transposed" : "",
                                   groups == 1 ? "" : fmt::format(" in {} groups", groups));
  return result;
}

}  // namespace stepscope
