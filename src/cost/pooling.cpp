// Max and average pooling with windows, forward and backward, two dimensions.
// FLOPs: forward window size (product of the kernel) per output; backward of max pooling one addition per output gradient.
// Bytes: input + output (+ the place of each maximum, int64); backward output gradient + places + input gradient (all of it is written).
// Source: PyTorch's documentation of MaxPool2d for the output's size. Limits: ceil_mode only as the recorded argument says.

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<std::int64_t> pooled_size(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation, bool up) {
  constexpr std::int64_t largest = std::int64_t{1} << 28;
  for (const std::int64_t value : {size, kernel, stride, padding, dilation})
    if (value < 0 || value > largest) return std::nullopt;
  if (stride == 0 || kernel == 0) return std::nullopt;
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0) return std::nullopt;
  std::int64_t result = (room + (up ? stride - 1 : 0)) / stride + 1;
  if (up && (result - 1) * stride >= size + padding) --result;  // a window may not start in the padding behind the input
  return result;
}

std::int64_t of_dimension(const std::vector<std::int64_t>& values, std::size_t i, std::int64_t otherwise) {
  return values.empty() ? otherwise : i < values.size() ? values[i] : values.back();
}

std::optional<Work> forward(const OperatorCall& call, bool maximum) {
  const Argument* input = tensor_argument(call, 0);
  const auto kernel = integers_argument(call, 1), stride = integers_argument(call, 2), padding = integers_argument(call, 3);
  const auto dilation = maximum ? integers_argument(call, 4) : std::optional(std::vector<std::int64_t>{});
  const std::optional<bool> up = boolean_argument(call, maximum ? 5 : 4);
  if (input == nullptr || input->shape.size() < 3 || !kernel || kernel->empty() || !stride || !padding || !dilation || !up) return std::nullopt;
  Shape output = input->shape;
  double window = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    std::int64_t& size = output[output.size() - 2 + i];
    const std::int64_t width = of_dimension(*kernel, i, 1);
    const auto pooled = pooled_size(size, width, of_dimension(*stride, i, width), of_dimension(*padding, i, 0), of_dimension(*dilation, i, 1), *up);
    if (!pooled) return std::nullopt;
    size = *pooled;
    window *= static_cast<double>(width);
  }
  const std::optional<double> outputs = sizes_product(output);
  if (!outputs) return std::nullopt;
  ByteSum bytes;
  bytes.add(input).add(*outputs, input->type);
  if (maximum) bytes.add(*outputs, DataType::int64);
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = window * *outputs;
  work.bytes = *bytes.total();
  work.type = input->type;
  work.description = shape_text(input->shape) + " to " + tensor_text(output, input->type);
  return work;
}

std::optional<Work> work(const OperatorCall& call) {
  if (call.name != "aten::max_pool2d_with_indices_backward") return forward(call, call.name != "aten::avg_pool2d");
  // (gradient, self, kernel, stride, padding, dilation, ceil mode, places)
  const Argument* gradient = tensor_argument(call, 0);
  const Argument* input = tensor_argument(call, 1);
  const Argument* places = tensor_argument(call, 7);
  if (gradient == nullptr || input == nullptr || places == nullptr) return std::nullopt;
  const std::optional<double> outputs = value_count(*gradient), inputs = value_count(*input);
  if (!outputs || !inputs) return std::nullopt;
  const std::optional<double> bytes = ByteSum().add(gradient).add(places).add(*inputs, gradient->type).total();
  if (!bytes) return std::nullopt;
  Work work;
  work.flops = *outputs;
  work.bytes = *bytes;
  work.type = gradient->type;
  work.description = tensor_text(input->shape, gradient->type);
  return work;
}

constexpr std::string_view operators[] = {"aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward", "aten::avg_pool2d"};

}  // namespace

extern const OperatorCost pooling_cost{
    .name = "pooling",
    .help = "window size per output; bytes input + output + places of the maxima",
    .operators = operators,
    .category = OperatorCategory::reduction,
    .work = work,
};

}  // namespace stepscope
