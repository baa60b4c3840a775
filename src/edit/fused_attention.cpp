// fused_attention: attention that is made of matrix products, scaling, mask, softmax and dropout becomes one kernel that never writes the scores.
//
// One attention is what a *scaled_dot_product_attention* operator launched, or a softmax with the batched products before and behind it on its stream
// (attention_spans.h). Its time by roofline (FlashAttention, arXiv:2205.14135):
//   FLOPs = those of its matrix products, in backward 5/4 of them (the scores are computed again)
//   bytes = those of its matrix products without each one's largest tensor (the scores): queries, keys, values and results
//   time  = max(FLOPs / (efficiency · matrix rate), bytes / memory bandwidth), at most what the kernels take now
// efficiency: 0.5 where it is not given; the band is from 0.35 (FlashAttention-2 on an H100, arXiv:2407.08608) to 0.73 (on an A100, arXiv:2307.08691).
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cost/arguments.h"
#include "edit/attention_spans.h"
#include "edit/change.h"
#include "edit/words.h"
#include "edit/work_of.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::compute};
constexpr EditParameter parameters[] = {{"efficiency", "share of the matrix rate that the fused kernel reaches (0.5)"}};
constexpr double usual = 0.5, lowest = 0.35, highest = 0.73;
constexpr std::size_t most_nested = 10'000;

// The outermost operator around that is attention; no_id = none.
SliceId attention_around(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  SliceId found = no_id<SliceId>;
  if (slice == no_id<SliceId>) return found;
  std::size_t level = 0;
  for (SliceId at = scene.facts.operation[slice]; at != no_id<SliceId> && level < most_nested; at = scene.facts.operation[at], ++level) {
    const std::string name = lower_case(scene.timeline.name_of(at));
    if (name.find("scaled_dot_product_attention") != std::string::npos || name.find("scaleddotproductattention") != std::string::npos) found = at;
  }
  return found;
}

struct Products {
  double flops = 0, bytes = 0;
  std::size_t count = 0;
  DataType type = DataType::unknown;
};

// Of the distinct matrix products among the kernels.
Products products_of(const Graph&, WorkOf& works, std::span<const OpId> run) {
  Products sum;
  std::vector<SliceId> counted_calls;
  for (const OpId op : run) {
    const WorkOf::Found found = works.of(op);
    if (found.work == nullptr || !found.work->matrix_units || std::ranges::find(counted_calls, found.call) != counted_calls.end()) continue;
    const std::optional<OperatorCall> call = works.arguments(found.call);
    if (!call) continue;
    counted_calls.push_back(found.call);
    double largest = 0, read = 0;
    for (const Argument& argument : call->arguments) {
      if (!argument.is_tensor) continue;
      const double bytes = tensor_bytes(argument).value_or(0);
      largest = std::max(largest, bytes);
      read += bytes;
    }
    largest = std::max(largest, found.work->bytes - read);  // what it writes
    sum.flops += found.work->flops;
    sum.bytes += std::max(0.0, found.work->bytes - largest);
    sum.type = found.type;
    ++sum.count;
  }
  return sum;
}

// Chosen kernels of one stream that one call launched, one behind the other.
struct Launched {
  SliceId call = no_id<SliceId>;  // no_id = its work is not known
  AttentionPart part{};
  std::size_t first = 0, last = 0;  // of the kernels, both within
};

std::vector<std::vector<OpId>> attentions_of(const EditScene& scene, const Graph& graph, WorkOf& works, std::span<const OpId> operations) {
  std::vector<bool> chosen(graph.size(), false);
  for (const OpId op : operations) chosen[index(op)] = true;
  std::vector<std::vector<OpId>> list;
  for (const std::vector<OpId>& stream : by_stream(graph)) {
    std::map<SliceId, std::size_t> by_operator;
    std::vector<OpId> kernels;
    std::vector<Launched> calls;
    for (const OpId op : stream) {
      if (!chosen[index(op)]) continue;
      if (const SliceId around = attention_around(scene, graph, op); around != no_id<SliceId>) {
        const auto [at, fresh] = by_operator.try_emplace(around, list.size());
        if (fresh) list.emplace_back();
        list[at->second].push_back(op);
        continue;
      }
      const WorkOf::Found found = works.of(op);
      kernels.push_back(op);
      const std::size_t place = kernels.size() - 1;
      if (found.work != nullptr && !calls.empty() && calls.back().call == found.call) {
        calls.back().last = place;
        continue;
      }
      const AttentionPart part =
          found.work == nullptr ? attention_part(graph.name_of(op), false) : attention_part(scene.timeline.name_of(found.call), found.work->matrix_units);
      // What is not known is no step of the way from a product to its softmax, unless its name says that it is one.
      if (found.work != nullptr || part != AttentionPart::other) calls.push_back({found.work == nullptr ? no_id<SliceId> : found.call, part, place, place});
    }
    std::vector<AttentionPart> parts;
    for (const Launched& one : calls) parts.push_back(one.part);
    for (const AttentionSpan& span : attention_spans(parts))
      list.emplace_back(kernels.begin() + static_cast<std::ptrdiff_t>(calls[span.first].first),
                        kernels.begin() + static_cast<std::ptrdiff_t>(calls[span.last].last) + 1);
  }
  return list;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  if (scene.gpu == nullptr) return edit_error("the GPU that ran the trace is not known, so that there is no roofline", "name it with --gpu");
  const auto efficiency = factor_parameter(edit, "efficiency");
  if (!efficiency) return std::unexpected(efficiency.error());
  if (*efficiency && (**efficiency <= 0 || **efficiency > 1)) return edit_error("efficiency= is not between 0 and 1", "for example: efficiency=0.5");
  const Gpu& gpu = *scene.gpu;
  const Launches launches(scene, graph);
  WorkOf works(scene, graph);
  EditEffect effect{.operations = 0, .summary = {}, .caveats = {}};
  Nanoseconds before = 0, after = 0;
  double best = 0, worst = 0;
  std::size_t fused = 0, calls = 0, unknown = 0;
  for (const std::vector<OpId>& run : attentions_of(scene, graph, works, operations)) {
    if (run.size() < 3) continue;  // it is fused already
    const Products products = products_of(graph, works, run);
    const std::optional<double> rate = gpu.matrix_rate(products.type);
    if (products.count < 2 || !rate || !gpu.memory_bytes_per_second) {
      ++unknown;
      continue;
    }
    const SliceId first = graph.operations.origin[run.front()];
    const double again = first != no_id<SliceId> && scene.facts.phase[first] == Phase::backward ? 1.25 : 1;
    const auto time = [&](double share) {
      const double seconds = std::max(again * products.flops / (share * *rate), products.bytes / *gpu.memory_bytes_per_second);
      return std::min(seconds * 1e9, static_cast<double>(total_duration(graph, run)));
    };
    const Nanoseconds sum = total_duration(graph, run), now = scaled(1, time(efficiency->value_or(usual)));
    before += sum;
    best += static_cast<double>(sum) - time(efficiency->value_or(highest));
    worst += static_cast<double>(sum) - time(efficiency->value_or(lowest));
    after += now;
    effect.operations += run.size();
    calls += fuse_into_first(graph, launches, run, now);
    ++fused;
  }
  if (fused == 0)
    return unknown > 0
               ? edit_error("the shapes of the attention's matrix products, or the GPU's rate for their type, are not known", "record with record_shapes=True")
               : edit_error("no attention of separate kernels was found: no batched product, softmax and batched product behind one another",
                            "where it is fused already, there is nothing to do; else record with record_shapes=True");
  if (before > after) {
    effect.optimistic = best / static_cast<double>(before - after);
    effect.pessimistic = worst / static_cast<double>(before - after);
  }
  effect.summary = fmt::format("{} of {} kernels fused: {} instead of {}, {} fewer", plural(fused, "attention"), effect.operations, format_duration(after),
                               format_duration(before), plural(calls, "launch call"));
  if (unknown > 0) effect.caveats.push_back(fmt::format("{} stay: the shapes of their products are not known.", plural(unknown, "attention")));
  return effect;
}

}  // namespace

extern const EditKind fused_attention_edit{
    .name = "fused_attention",
    .help = "Attention of separate kernels becomes one fused kernel, by roofline.",
    .example = "fused_attention module=*Attention*",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
