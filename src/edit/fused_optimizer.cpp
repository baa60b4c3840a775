// fused_optimizer: the kernels of an optimizer step become one kernel that reads and writes each parameter's state once.
//
//   time = parameters · bytes per parameter / (efficiency · memory bandwidth), at most what the kernels take now
// Parameters: given, or, for Adam and its kin, the elements that addcdiv divided: it runs over every parameter once. Bytes per parameter: given, or Adam's in
// the type of these elements: parameter, gradient and two moments read, all but the gradient written: 7 values (PyTorch,
// aten/src/ATen/native/cuda/fused_adam_utils.cuh). efficiency: 0.8 of the memory's bandwidth where it is not given, the band from 0.6 to 0.95 (ours).
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cost/arguments.h"
#include "edit/change.h"
#include "edit/words.h"
#include "edit/work_of.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::compute};
constexpr EditParameter parameters[] = {{"parameters", "parameters that one device updates: 1.2e9"},
                                        {"bytes_per_parameter", "read and written per parameter (Adam in fp32: 28)"},
                                        {"efficiency", "share of the memory bandwidth that the fused kernel reaches (0.8)"}};
constexpr double usual = 0.8, lowest = 0.6, highest = 0.95;
constexpr double adam_values = 7;
constexpr std::size_t most_nested = 10'000;

// The outermost slice around the launch that still belongs to the optimizer.
SliceId optimizer_range(const EditScene& scene, SliceId slice) {
  SliceId found = no_id<SliceId>;
  std::size_t level = 0;
  for (SliceId at = scene.facts.launch[slice]; at != no_id<SliceId> && level < most_nested; at = scene.facts.parent[at], ++level)
    if (scene.timeline.name_of(at).starts_with("Optimizer.step")) found = at;
  return found;
}

// Bytes of all tensors of the first argument: addcdiv_(self, …) and _foreach_addcdiv_(self[], …).
void add_elements(const Argument& argument, double& elements, double& bytes) {
  for (const Argument& one : argument.list) add_elements(one, elements, bytes);
  if (!argument.is_tensor || !argument.list.empty()) return;
  const auto count = element_count(argument.shape);
  const auto size = element_bytes(argument.type);
  if (!count || !size) return;
  elements += static_cast<double>(*count);
  bytes += static_cast<double>(*count) * *size;
}

// What addcdiv ran over: bytes of the parameters; 0 = not known.
double adam_parameter_bytes(const EditScene& scene, const Graph& graph, WorkOf& works, std::span<const OpId> run) {
  double elements = 0, bytes = 0;
  std::vector<SliceId> seen;
  for (const OpId op : run) {
    SliceId at = scene.facts.operation[graph.operations.origin[op]];
    std::size_t level = 0;
    for (; at != no_id<SliceId> && level < most_nested; at = scene.facts.operation[at], ++level)
      if (scene.timeline.name_of(at).find("addcdiv") != std::string_view::npos) break;
    if (at == no_id<SliceId> || level == most_nested || (!seen.empty() && seen.back() == at)) continue;
    seen.push_back(at);
    const std::optional<OperatorCall> call = works.arguments(at);
    if (call && !call->arguments.empty()) add_elements(call->arguments.front(), elements, bytes);
  }
  return bytes;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  if (scene.gpu == nullptr || !scene.gpu->memory_bytes_per_second)
    return edit_error("the GPU that ran the trace, or its memory bandwidth, is not known", "name it with --gpu");
  const auto count = factor_parameter(edit, "parameters"), each = factor_parameter(edit, "bytes_per_parameter"),
             efficiency = factor_parameter(edit, "efficiency");
  if (!count) return std::unexpected(count.error());
  if (!each) return std::unexpected(each.error());
  if (!efficiency) return std::unexpected(efficiency.error());
  if (*count && **count <= 0) return edit_error("parameters=0: there would be nothing to update", "for example: parameters=1.2e9");
  if (*each && **each <= 0) return edit_error("bytes_per_parameter=0: nothing would be moved", "for example, of Adam in fp32: bytes_per_parameter=28");
  if (*efficiency && (**efficiency <= 0 || **efficiency > 1)) return edit_error("efficiency= is not between 0 and 1", "for example: efficiency=0.8");

  std::map<std::pair<PlaceId, SliceId>, std::vector<OpId>> steps;
  for (const OpId op : operations) {
    const SliceId slice = graph.operations.origin[op];
    if (slice == no_id<SliceId> || scene.facts.phase[slice] != Phase::optimizer) continue;
    if (const SliceId range = optimizer_range(scene, slice); range != no_id<SliceId>) steps[{graph.operations.place[op], range}].push_back(op);
  }
  std::erase_if(steps, [](const auto& step) { return step.second.size() < 2; });
  if (steps.empty()) return edit_error("no optimizer step of several kernels was found", "the trace needs the ranges Optimizer.step#...");

  const Launches launches(scene, graph);
  WorkOf works(scene, graph);
  EditEffect effect{.operations = 0, .summary = {}, .caveats = {}};
  Nanoseconds before = 0, after = 0;
  double best = 0, worst = 0;
  std::size_t calls = 0;
  for (const auto& [key, run] : steps) {
    double bytes = 0;
    if (*count)
      bytes = **count * each->value_or(4 * adam_values);
    else if (const double own = adam_parameter_bytes(scene, graph, works, run); own > 0)
      bytes = *each ? own / 4 * **each : own * adam_values;
    else
      return edit_error("how many parameters the optimizer updates cannot be told from the trace", "say it: parameters=1.2e9 bytes_per_parameter=28");
    const Nanoseconds sum = total_duration(graph, run);
    const auto time = [&](double share) { return std::min(static_cast<double>(sum), bytes / (share * *scene.gpu->memory_bytes_per_second) * 1e9); };
    const Nanoseconds now = scaled(1, time(efficiency->value_or(usual)));
    before += sum;
    best += static_cast<double>(sum) - time(efficiency->value_or(highest));
    worst += static_cast<double>(sum) - time(efficiency->value_or(lowest));
    after += now;
    effect.operations += run.size();
    calls += fuse_into_first(graph, launches, run, now);
  }
  if (before > after) {
    effect.optimistic = best / static_cast<double>(before - after);
    effect.pessimistic = worst / static_cast<double>(before - after);
  }
  effect.summary = fmt::format("{} of {} kernels fused: {} instead of {}, {} fewer", plural(steps.size(), "optimizer step"), effect.operations,
                               format_duration(after), format_duration(before), plural(calls, "launch call"));
  effect.caveats.push_back("The host's time in the optimizer's operators and Python stays: free class=framework|python phase=optimizer takes it too.");
  return effect;
}

}  // namespace

extern const EditKind fused_optimizer_edit{
    .name = "fused_optimizer",
    .help = "An optimizer step of many kernels becomes one, by the bytes it must move.",
    .example = "fused_optimizer parameters=350e6",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
