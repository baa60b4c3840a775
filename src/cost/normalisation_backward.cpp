// Layer, batch, group and RMS normalisation, backward. n elements; which gradients are made follows the output mask.
// FLOPs, batch norm with statistics of the data: 4·n for the two sums (of the gradient, and of gradient times deviation, which are the bias and weight
// gradients too)
// + 5·n for the input gradient; with given statistics 4·n + 2·n. Terms per channel are left out.
// Layer and group norm: 2·n (normalised input) + n with a weight (gradient times weight) + 7·n for the input gradient (sums over each set 3·n, combining 4·n)
// + 2·n for the weight gradient + n for the bias gradient. RMS norm: n + n with a weight + 6·n + 2·n for the weight gradient.
// Bytes: output gradient, input, weight, saved statistics read; the gradients asked for written; each once.
// Source: derived from the forward definitions (sums of products counted as one multiplication and one addition).
// Limits: batch norm's running statistics are read only where the statistics were given.

#include <array>

#include "cost/arguments.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

enum class Kind : std::uint8_t { batch, layer, rms };

// Index of each argument by operator; none = the operator has no such argument.
struct Layout {
  std::string_view name;
  Kind kind;
  std::size_t gradient, input, weight, running_mean, saved_mean, saved_scale, training, mask;  // the running variance follows the running mean
  bool mask_has_bias;
};
using enum Kind;
constexpr Layout layouts[] = {
    // name                                       kind gradient input weight running saved saved_scale training mask bias
    {"aten::native_batch_norm_backward", batch, 0, 1, 2, 3, 5, 6, 7, 9, true},
    {"aten::cudnn_batch_norm_backward", batch, 1, 0, 2, none, 5, 6, none, none, true},
    {"aten::miopen_batch_norm_backward", batch, 1, 0, 2, none, 5, 6, none, none, true},
    {"aten::native_layer_norm_backward", layer, 0, 1, 5, none, 3, 4, none, 7, true},
    {"aten::native_group_norm_backward", layer, 0, 1, 4, none, 2, 3, none, 9, true},
    {"aten::_fused_rms_norm_backward", rms, 0, 1, 4, none, none, 3, none, 5, false},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  if (layout == nullptr) return std::nullopt;
  const Argument* gradient = tensor_argument(call, layout->gradient);
  const Argument* input = tensor_argument(call, layout->input);
  if (gradient == nullptr || input == nullptr) return std::nullopt;
  const std::optional<double> count = value_count(*input);
  if (!count) return std::nullopt;
  bool training = true;
  if (layout->training != none) {
    const std::optional<bool> given = boolean_argument(call, layout->training);
    if (!given) return std::nullopt;
    training = *given;
  }
  const Argument* weight = tensor_argument(call, layout->weight);
  bool to_input = true, to_weight = weight != nullptr, to_bias = layout->mask_has_bias;
  if (layout->mask != none) {
    const auto mask = booleans_argument(call, layout->mask);
    if (!mask || mask->size() < (layout->mask_has_bias ? 3u : 2u)) return std::nullopt;
    to_input = (*mask)[0];
    to_weight = (*mask)[1];
    to_bias = layout->mask_has_bias && (*mask)[2];
  }
  const double n = *count;
  Work work;
  switch (layout->kind) {
    case batch:
      work.flops = 4 * n + (to_input ? (training ? 5 : 2) * n : 0);
      break;
    case layer:
      work.flops = 2 * n + (to_input ? (weight == nullptr ? 7 : 8) * n : 0) + (to_weight ? 2 * n : 0) + (to_bias ? n : 0);
      break;
    case rms:
      work.flops = n + (to_input ? (weight == nullptr ? 6 : 7) * n : 0) + (to_weight ? 2 * n : 0);
      break;
  }
  ByteSum bytes;
  bytes.add(gradient).add(input).add(weight);
  if (training) {
    if (layout->saved_mean != none) bytes.add(tensor_argument(call, layout->saved_mean));
    bytes.add(tensor_argument(call, layout->saved_scale));
  } else if (layout->running_mean != none) {
    bytes.add(tensor_argument(call, layout->running_mean)).add(tensor_argument(call, layout->running_mean + 1));
  }
  if (to_input) bytes.add(n, input->type);
  if (weight != nullptr) {
    const std::optional<double> channels = value_count(*weight);
    if (!channels) return std::nullopt;
    if (to_weight) bytes.add(*channels, weight->type);
    if (to_bias) bytes.add(*channels, weight->type);
  }
  if (!bytes.total()) return std::nullopt;
  work.bytes = *bytes.total();
  work.type = input->type;
  work.description = tensor_text(input->shape, input->type);
  return work;
}

}  // namespace

extern const OperatorCost normalisation_backward_cost{
    .name = "normalisation_backward",
    .help = "batch norm 9·n; layer and group norm 13·n, RMS norm 10·n with all gradients; bytes each tensor once",
    .operators = names,
    .category = OperatorCategory::normalisation,
    .backward = true,
    .work = work,
};

}  // namespace stepscope
