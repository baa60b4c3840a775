// Losses over n scores or values of r rows.
// FLOPs: cross entropy as a whole 5·n + 2·r (log-softmax and pick); nll_loss r forward and backward (pick, weigh); mse and l1 forward 3·n, backward 3·n
// (difference, square or sign, sum or scale); binary cross entropy with logits 8·n (stable form: maximum, two products, exponential, log1p, sums).
// Bytes: inputs, targets and weights read, outputs written, each once. nll_loss reads one score per row; its backward writes all n gradients.
// Source: the formulas of PyTorch's documentation. Limits: with reduction “none” the output is as large as the rows or values; where the reduction is not
// recorded there is no formula. Class probabilities as targets are not told apart from indices by shape alone: only integer targets have a formula.

#include <array>

#include "cost/arguments.h"

namespace stepscope {

namespace {

enum class Kind : std::uint8_t { cross_entropy, nll, nll_backward, pointwise, pointwise_backward };

struct Layout {
  std::string_view name;
  Kind kind;
  std::size_t scores, target, weight, reduction;
  double flops_per_value;
};
using enum Kind;
constexpr std::size_t none = 99;
constexpr Layout layouts[] = {
    // name                                          kind scores target weight reduction
    {"aten::cross_entropy_loss", cross_entropy, 0, 1, 2, 3, 5},
    {"aten::nll_loss_forward", nll, 0, 1, 2, 3, 0},
    {"aten::nll_loss2d_forward", nll, 0, 1, 2, 3, 0},
    {"aten::nll_loss_backward", nll_backward, 1, 2, 3, 4, 0},
    {"aten::nll_loss2d_backward", nll_backward, 1, 2, 3, 4, 0},
    {"aten::mse_loss", pointwise, 0, 1, none, 2, 3},
    {"aten::l1_loss", pointwise, 0, 1, none, 2, 3},
    {"aten::binary_cross_entropy_with_logits", pointwise, 0, 1, 2, 4, 8},
    {"aten::mse_loss_backward", pointwise_backward, 1, 2, none, 3, 3},
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
  const Argument* scores = tensor_argument(call, layout->scores);
  const Argument* target = tensor_argument(call, layout->target);
  const std::optional<std::int64_t> reduction = integer_argument(call, layout->reduction);  // 0 none, 1 mean, 2 sum
  if (scores == nullptr || target == nullptr || !reduction || *reduction < 0 || *reduction > 2) return std::nullopt;
  const std::optional<double> n = value_count(*scores), targets = value_count(*target);
  if (!n || !targets) return std::nullopt;
  const bool picks = layout->kind == cross_entropy || layout->kind == nll || layout->kind == nll_backward;
  if (picks && target->type != DataType::int64 && target->type != DataType::uint8) return std::nullopt;
  const Argument* weight = layout->weight == none ? nullptr : tensor_argument(call, layout->weight);
  const double outputs = *reduction == 0 ? *targets : 1;
  ByteSum bytes;
  bytes.add(target).add(weight);
  Work work;
  switch (layout->kind) {
    case cross_entropy:
      work.flops = layout->flops_per_value * *n + 2 * *targets;
      bytes.add(scores).add(outputs, scores->type);
      break;
    case nll:
      work.flops = *targets;
      bytes.add(*targets, scores->type).add(outputs, scores->type);
      break;
    case nll_backward:
      work.flops = *targets;
      bytes.add(tensor_argument(call, 0)).add(*n, scores->type);
      break;
    case pointwise:
      work.flops = layout->flops_per_value * *n;
      bytes.add(scores).add(outputs, scores->type);
      break;
    case pointwise_backward:
      work.flops = layout->flops_per_value * *n;
      bytes.add(tensor_argument(call, 0)).add(scores).add(*n, scores->type);
      break;
  }
  if (!bytes.total()) return std::nullopt;
  work.bytes = *bytes.total();
  work.type = scores->type;
  work.description = tensor_text(scores->shape, scores->type);
  return work;
}

}  // namespace

extern const OperatorCost loss_cost{
    .name = "loss",
    .help = "cross entropy 5·n + 2·rows, nll rows, mse and l1 3·n, binary cross entropy 8·n; bytes inputs, targets and outputs once",
    .operators = names,
    .category = OperatorCategory::loss,
    .work = work,
};

}  // namespace stepscope
