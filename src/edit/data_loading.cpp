// data_loading: waiting for data takes no time (to=0), another time per batch (to=), or is done by k worker processes (workers=k).
//
// With k workers a batch is ready every t / k, where t is what one loading takes on the training thread now; while the step does other things (rest: from the
// end of a loading to the start of the next one on its thread), loading goes on. What is left to wait for per batch: max(0, t / k − rest). The rest is not what
// it was: a step that waited for data waits for its device now. So the loading of a batch becomes a dependency on the end of the one before it, t / k later;
// of the first batch, before which the capture tells nothing, max(0, t / k − mean rest) stays.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::data_loading};
constexpr EditParameter parameters[] = {{"to", "waiting per batch: 0, 2ms"}, {"workers", "processes that load batches while the step runs"}};

// One batch: operations of one thread that follow each other without a time between them that is no loading.
struct Batch {
  std::vector<OpId> parts;
  Nanoseconds begin = 0, end = 0;
};

// By place, in order.
std::map<PlaceId, std::vector<Batch>> batches_of(const EditScene& scene, const Graph& graph, std::span<const OpId> operations) {
  std::vector<bool> chosen(graph.size(), false);
  for (const OpId op : operations) chosen[index(op)] = true;
  std::map<PlaceId, std::vector<Batch>> batches;
  std::map<PlaceId, bool> open;
  const std::vector<Nanoseconds> starts = start_times(graph);
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    if (!runs_on_thread(graph.operations.operation_class[op])) continue;
    const PlaceId place = graph.operations.place[op];
    const Nanoseconds begin = starts[row], end = begin + graph.operations.duration[op];
    if (!chosen[row]) {
      // A call inside of the loading belongs to it.
      const SliceId slice = graph.operations.origin[op];
      const bool inside = slice != no_id<SliceId> && index(slice) < scene.facts.phase.size() && scene.facts.phase[slice] == Phase::data;
      if (!inside || graph.operations.operation_class[op] == OperationClass::python) open[place] = false;
      continue;
    }
    if (!open[place]) batches[place].push_back({.parts = {}, .begin = begin, .end = begin});
    open[place] = true;
    batches[place].back().parts.push_back(op);
    batches[place].back().end = end;
  }
  return batches;
}

// How long these start after their thread came to them.
Nanoseconds waited_for_batches(const Graph& graph, std::span<const OpId> operations) {
  const std::vector<Nanoseconds> starts = operations.empty() ? std::vector<Nanoseconds>{} : start_times(graph);
  Nanoseconds sum = 0;
  for (const OpId op : operations)
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) {
      const OpId before = graph.dependencies.moment[i].operation();
      if (graph.dependencies.kind[i] == DependencyKind::program_order) sum += starts[index(op)] - starts[index(before)] - graph.operations.duration[before];
    }
  return sum;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto to = duration_parameter(edit, "to");
  const auto workers = count_parameter(edit, "workers");
  if (!to) return std::unexpected(to.error());
  if (!workers) return std::unexpected(workers.error());
  if (to->has_value() == workers->has_value()) return edit_error("say either to= or workers=", "for example: data_loading to=0");

  const std::string before = counted(graph, operations);
  const auto batches = batches_of(scene, graph, operations);
  std::uint64_t count = 0;
  Nanoseconds was = 0;
  double not_hidden = 0;
  std::vector<NewDependency> added;
  std::vector<OpId> waiting;
  for (const auto& [place, list] : batches) {
    Nanoseconds rest = 0;
    for (std::size_t i = 1; i < list.size(); ++i) rest += list[i].begin - list[i - 1].end;
    const double mean_rest = list.size() > 1 ? static_cast<double>(rest) / static_cast<double>(list.size() - 1) : 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Batch& batch = list[i];
      const Nanoseconds total = total_duration(graph, batch.parts);
      was += total;
      ++count;
      Nanoseconds left = 0;
      if (to->has_value()) {
        left = **to;
      } else {
        const double shared = static_cast<double>(total) / static_cast<double>(**workers);
        not_hidden += shared;
        if (i == 0) {
          left = scaled(1, std::min(static_cast<double>(total), std::max(0.0, shared - mean_rest)));
        } else {
          waiting.push_back(batch.parts.back());
          added.push_back({waiting.back(), Moment::end(list[i - 1].parts.back()), DependencyKind::hand_over, scaled(1, shared), LagKind::hand_over});
        }
      }
      // The first part of the batch carries what is left.
      for (const OpId op : batch.parts) graph.operations.duration[op] = std::exchange(left, 0);
    }
  }
  if (!added.empty()) rewire(graph, [](OpId, std::uint32_t) { return false; }, std::move(added));
  const Nanoseconds is = total_duration(graph, operations) + waited_for_batches(graph, waiting);
  EditEffect effect{.operations = operations.size(), .summary = {}, .caveats = {}};
  effect.summary =
      fmt::format("loading of {}, {}: {} left to wait for", count == 1 ? "1 batch" : fmt::format("{} batches", count), before, format_duration(is));
  if (workers->has_value()) {
    effect.caveats.push_back("Workers are counted as perfectly parallel: cores, disks and memory that they share are not known.");
    // At worst nothing is hidden behind the step.
    if (was > is) effect.pessimistic = std::clamp((static_cast<double>(was) - not_hidden) / static_cast<double>(was - is), 0.0, 1.0);
  }
  return effect;
}

}  // namespace

extern const EditKind data_loading_edit{
    .name = "data_loading",
    .help = "Waiting for data takes no time, or is shared by worker processes.",
    .example = "data_loading workers=4",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
