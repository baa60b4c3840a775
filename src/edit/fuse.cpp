// fuse: runs of consecutive elementwise kernels on one stream become one kernel each, launched once.
//
// A run ends where another device operation stands between, where the step's phase changes, where a kernel waits for more than the one before it and its
// launch, and where a thread waits for a kernel of the run before it launches the next one. What belongs to a CUDA graph fuses within its launch only. Time:
// where the recorded shapes tell what each kernel reads and writes, a tensor that one kernel writes and the next one reads moves no more:
//   bytes = Σ bytes(i) − 2 · Σ output(i), all but the last; at least what the last one writes and what the first one reads
//   time  = Σ time(i) · bytes / Σ bytes(i)     (the bandwidth that the kernels had)
// At worst every result is written all the same, because backward needs it: half of that is saved. Where shapes are not known: the time of the longest kernel
// of the run, and at worst no time but the launches.
#include <fmt/core.h>

#include <algorithm>

#include "cost/arguments.h"
#include "edit/change.h"
#include "edit/selector.h"
#include "edit/words.h"
#include "edit/work_of.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::compute};
constexpr EditParameter parameters[] = {{"most", "kernels in one run at most (all)"}};

Phase phase_of(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  return slice == no_id<SliceId> ? Phase::other : scene.facts.phase[slice];
}

bool waits_for_others(const Graph& graph, OpId op) {
  for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) {
    const DependencyKind kind = graph.dependencies.kind[i];
    if (kind == DependencyKind::graph_order && graph.operations.place[graph.dependencies.moment[i].operation()] != graph.operations.place[op]) return true;
    if (kind != DependencyKind::stream_order && kind != DependencyKind::launch && kind != DependencyKind::graph_order && kind != DependencyKind::device &&
        kind != DependencyKind::origin)
      return true;
  }
  return false;
}

struct Moved {
  double all = 0, output = 0;  // bytes
};

std::optional<Moved> moved_by(WorkOf& works, OpId op) {
  const WorkOf::Found found = works.of(op);
  if (found.work == nullptr || found.work->bytes <= 0) return std::nullopt;
  const std::optional<OperatorCall> call = works.arguments(found.call);
  if (!call) return std::nullopt;
  ByteSum inputs;
  for (const Argument& argument : call->arguments)
    if (argument.is_tensor && argument.list.empty()) inputs.add(&argument);
  const std::optional<double> read = inputs.total();
  if (!read) return std::nullopt;
  return Moved{found.work->bytes, std::clamp(found.work->bytes - *read, 0.0, found.work->bytes)};
}

// Time of the run as one kernel; absent where the bytes of one of its kernels are not known.
std::optional<double> time_by_bytes(const Graph& graph, WorkOf& works, std::span<const OpId> run) {
  double all = 0, kept = 0, first_input = 0, last_output = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const std::optional<Moved> moved = moved_by(works, run[i]);
    if (!moved) return std::nullopt;
    all += moved->all;
    if (i == 0) first_input = moved->all - moved->output;
    if (i + 1 < run.size())
      kept -= 2 * moved->output;
    else
      last_output = moved->output;
  }
  kept = std::max(all + kept, first_input + last_output);
  return static_cast<double>(total_duration(graph, run)) * std::min(1.0, kept / all);
}

// Per operation: the first one of a thread that waits for its end; no_id = none.
std::vector<OpId> awaited_by(const Graph& graph) {
  std::vector<OpId> first(graph.size(), no_id<OpId>);
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    if (!runs_on_thread(graph.operations.operation_class[OpId{row}])) continue;
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      OpId& known = first[index(graph.dependencies.moment[i].operation())];
      if (graph.dependencies.kind[i] == DependencyKind::synchronise && known == no_id<OpId>) known = OpId{row};
    }
  }
  return first;
}

bool of_cuda_graph(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  if (slice == no_id<SliceId>) return false;
  const SliceId launch = scene.facts.launch[slice];
  return launch != no_id<SliceId> && scene.facts.graph_launch[launch] != 0;
}

std::vector<std::vector<OpId>> runs_of(const EditScene& scene, const Graph& graph, const Launches& launches, const std::vector<bool>& chosen,
                                       std::size_t most) {
  const std::vector<OpId> awaited = awaited_by(graph);
  std::vector<std::vector<OpId>> runs;
  for (const std::vector<OpId>& stream : by_stream(graph)) {
    std::vector<OpId> run;
    OpId run_awaited = no_id<OpId>;  // the first of a thread that waits for one of the run
    const auto close = [&] {
      if (run.size() > 1) runs.push_back(run);
      run.clear();
      run_awaited = no_id<OpId>;
    };
    const auto belongs = [&](OpId op) {
      const OpId last = run.back(), call = launches.call_of(op);
      if (run.size() >= most || waits_for_others(graph, op) || phase_of(scene, graph, op) != phase_of(scene, graph, last)) return false;
      if (call != launches.call_of(last) && (of_cuda_graph(scene, graph, op) || of_cuda_graph(scene, graph, last))) return false;
      return call == no_id<OpId> || index(run_awaited) > index(call);
    };
    for (const OpId op : stream) {
      if (!chosen[index(op)]) {
        close();
        continue;
      }
      if (!run.empty() && !belongs(op)) close();
      run.push_back(op);
      run_awaited = std::min(run_awaited, awaited[index(op)]);
    }
    close();
  }
  return runs;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto most = count_parameter(edit, "most");
  if (!most) return std::unexpected(most.error());
  // Said exactly which: those. Else the elementwise ones among them.
  const bool exactly = edit.operations || parameter(edit, "name") || parameter(edit, "operator") || parameter(edit, "category");
  std::vector<bool> chosen(graph.size(), false);
  for (const OpId op : operations) chosen[index(op)] = exactly || operation_category(scene, graph, op) == OperatorCategory::elementwise;
  const Launches launches(scene, graph);
  const auto runs = runs_of(scene, graph, launches, chosen, static_cast<std::size_t>(std::max<std::int64_t>(2, most->value_or(1'000'000))));
  if (runs.empty()) return edit_error("no two of the chosen kernels follow each other on a stream", "there is nothing to fuse: choose others");

  WorkOf works(scene, graph);
  EditEffect effect{.operations = 0, .summary = {}, .caveats = {}};
  Nanoseconds before = 0, after = 0;
  double at_worst = 0;  // saved on the device
  std::size_t calls = 0, by_guess = 0;
  for (const std::vector<OpId>& run : runs) {
    const Nanoseconds sum = total_duration(graph, run);
    Nanoseconds longest = 0;
    for (const OpId op : run) longest = std::max(longest, graph.operations.duration[op]);
    const std::optional<double> known = time_by_bytes(graph, works, run);
    const Nanoseconds time = known ? scaled(1, *known) : longest;
    by_guess += !known;
    at_worst += known ? 0.5 * static_cast<double>(sum - time) : 0;
    before += sum;
    after += time;
    effect.operations += run.size();
    calls += fuse_into_first(graph, launches, run, time);
  }
  effect.summary = fmt::format("fused {} into {} ({} to {}), {} fewer", plural(effect.operations, "kernel"), runs.size(), format_duration(before),
                               format_duration(after), plural(calls, "launch call"));
  if (before > after) effect.pessimistic = at_worst / static_cast<double>(before - after);
  effect.caveats.push_back("Kernels that follow each other are taken to pass one tensor on; whether they do, the trace does not say.");
  if (by_guess > 0)
    effect.caveats.push_back(fmt::format(
        "Of {} the bytes are not known (record_shapes=True would tell): the fused kernel takes as long as the longest of them.", plural(by_guess, "run")));
  return effect;
}

}  // namespace

extern const EditKind fuse_edit{
    .name = "fuse",
    .help = "Runs of consecutive elementwise kernels on one stream become one kernel each.",
    .example = "fuse phase=forward",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
