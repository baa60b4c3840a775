// Layer, batch, group, instance and RMS normalisation, forward. n elements fall into s sets, each with a mean and a variance: batch norm s = channels, layer
// norm s = rows, group norm s = batch·groups, instance norm s = batch·channels.
// FLOPs: 5·n + 6·s with statistics of the data (3·n to find mean and variance, 2·n to scale and shift, 6·s to turn sums into a scale and a shift);
// 2·n + 6·s with given statistics. RMS norm: 3·n + 2·s, and n more with a weight; fused_add_rms_norm n more.
// Bytes: input, weight, bias, given or running statistics read; output, saved statistics (mean and 1/deviation, fp32) and running statistics written; each
// once. Sources: the operators' definitions in PyTorch's documentation; the layer-norm count follows the batch-norm form, which folds weight and bias into one
// scale and one shift. Limits: the saved statistics are taken to be fp32, as the GPU kernels keep them.

#include <array>

#include "cost/arguments.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

enum class Kind : std::uint8_t { batch, layer, group, instance, rms, add_rms };

// Index of each argument by operator; none = the operator has no such argument.
struct Layout {
  std::string_view name;
  Kind kind;
  std::size_t input, weight, bias, running_mean, running_variance, training, shape;  // shape: normalized shape (layer, rms) or number of groups (group)
  bool saves_statistics;
};
using enum Kind;
constexpr Layout layouts[] = {
    // name                                     kind input weight bias mean variance training shape saves
    {"aten::batch_norm", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::native_batch_norm", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::_native_batch_norm_legit", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::_batch_norm_with_update", batch, 0, 1, 2, 3, 4, none, none, true},
    {"aten::_batch_norm_impl_index", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::cudnn_batch_norm", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::miopen_batch_norm", batch, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::layer_norm", layer, 0, 2, 3, none, none, none, 1, true},
    {"aten::native_layer_norm", layer, 0, 2, 3, none, none, none, 1, true},
    {"aten::group_norm", group, 0, 2, 3, none, none, none, 1, true},
    {"aten::native_group_norm", group, 0, 1, 2, none, none, none, 6, true},
    {"aten::instance_norm", instance, 0, 1, 2, 3, 4, 5, none, true},
    {"aten::rms_norm", rms, 0, 2, none, none, none, none, 1, false},
    {"aten::_fused_rms_norm", rms, 0, 2, none, none, none, none, 1, true},
    {"_C::rms_norm", rms, 1, 2, none, none, none, none, none, false},
    {"_C::fused_add_rms_norm", add_rms, 0, 2, none, none, none, none, none, false},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

// In how many sets the elements are normalised, each by itself.
std::optional<double> set_count(const OperatorCall& call, const Layout& layout, const Argument& input) {
  const Shape& shape = input.shape;
  switch (layout.kind) {
    case batch:
      if (shape.size() < 2) return std::nullopt;
      return static_cast<double>(shape[1]);
    case instance:
      if (shape.size() < 3) return std::nullopt;
      return static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
    case group: {
      const std::optional<std::int64_t> groups = integer_argument(call, layout.shape);
      if (shape.size() < 2 || !groups || *groups < 1) return std::nullopt;
      return static_cast<double>(shape[0]) * static_cast<double>(*groups);
    }
    default: {
      // The normalised dimensions are the last ones: as many as the given shape, or as the weight has.
      std::size_t normalised = 0;
      if (layout.shape != none) {
        if (const auto given = integers_argument(call, layout.shape)) normalised = given->size();
      }
      if (normalised == 0)
        if (const Argument* weight = tensor_argument(call, layout.weight)) normalised = weight->shape.size();
      if (normalised == 0 || normalised > shape.size()) return std::nullopt;
      return sizes_product(Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(normalised)));
    }
  }
}

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  if (layout == nullptr) return std::nullopt;
  const Argument* input = tensor_argument(call, layout->input);
  if (input == nullptr) return std::nullopt;
  const std::optional<double> n = value_count(*input), sets = set_count(call, *layout, *input);
  if (!n || !sets) return std::nullopt;
  bool training = true;
  if (layout->training != none) {
    const std::optional<bool> given = boolean_argument(call, layout->training);
    if (!given) return std::nullopt;
    training = *given;
  }
  const Argument* weight = layout->weight == none ? nullptr : tensor_argument(call, layout->weight);
  const Argument* bias = layout->bias == none ? nullptr : tensor_argument(call, layout->bias);
  const Argument* mean = layout->running_mean == none ? nullptr : tensor_argument(call, layout->running_mean);
  const Argument* variance = layout->running_variance == none ? nullptr : tensor_argument(call, layout->running_variance);
  ByteSum bytes;
  bytes.add(input).add(weight).add(bias).add(mean).add(variance).add(*n, input->type);
  Work work;
  if (layout->kind == rms || layout->kind == add_rms) {
    work.flops = 3 * *n + 2 * *sets + (weight == nullptr ? 0 : *n);
    if (layout->saves_statistics) bytes.add(*sets, DataType::fp32);
    if (layout->kind == add_rms) {  // (input, residual, weight): input becomes the result, residual the sum; both are read and written
      work.flops += *n;
      bytes.add(tensor_argument(call, 1)).add(*n, input->type);
    }
  } else {
    work.flops = (training ? 5 : 2) * *n + 6 * *sets;
    if (training) {
      if (layout->saves_statistics) bytes.add(2 * *sets, DataType::fp32);
      bytes.add(mean).add(variance);  // updated in place
    }
  }
  if (!bytes.total()) return std::nullopt;
  work.bytes = *bytes.total();
  work.type = input->type;
  work.description = tensor_text(input->shape, input->type) + (training ? "" : ", given statistics");
  return work;
}

}  // namespace

extern const OperatorCost normalisation_cost{
    .name = "normalisation",
    .help = "5·n + 6·sets (given statistics 2·n + 6·sets; RMS 3·n + 2·sets + n with weight); bytes each tensor and saved statistic once",
    .operators = names,
    .category = OperatorCategory::normalisation,
    .work = work,
};

}  // namespace stepscope
