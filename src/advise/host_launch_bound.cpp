// host.launch_bound: the device waits for launches: the host prepares work more slowly than the device does it.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.05;  // of the step, idle for want of launches: ours (proposed was 0.1; a step of 77 ms that was idle for 11 % gained 20 %)
constexpr Nanoseconds longest_dispatch =
    1'000'000;  // ours: what takes longer between two launches is not their cost (logging, collection, first uses of memory and kernels)

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const ThreadOperations threads(scene);
  const Graph& graph = scene.lifted.graph;
  const auto c = [&](OpId op) { return graph.operations.operation_class[op]; };
  // What the launching threads did while the device waited for them decides: preparing launches, not waiting, not loading.
  Nanoseconds idle = 0, dispatch = 0;
  std::vector<std::pair<Nanoseconds, SliceId>> longest;
  for (const IdlePart& part : idle_time(scene, steps).parts) {
    if (part.cause == IdleCause::launch && scene.timeline.slices.duration[scene.facts.launch[part.next]] <= longest_dispatch)
      dispatch += part.interval.length();
    if (part.cause == IdleCause::launch) idle += part.interval.length();
    if (part.cause != IdleCause::host) continue;
    idle += part.interval.length();
    const TrackId track = scene.timeline.slices.track[scene.facts.launch[part.next]];
    Nanoseconds own = 0;
    const auto& all = threads.of(track);
    auto at = std::ranges::lower_bound(all, part.interval.begin, {}, [&](OpId op) { return threads.time(op).end; });
    for (; at != all.end() && threads.time(*at).begin < part.interval.end; ++at) {
      const Interval time = threads.time(*at);
      const bool prepares = time.length() <= longest_dispatch && (c(*at) == OperationClass::framework || c(*at) == OperationClass::launch ||
                                                                  c(*at) == OperationClass::api || c(*at) == OperationClass::python);
      if (prepares) own += std::max<Nanoseconds>(0, std::min(time.end, part.interval.end) - std::max(time.begin, part.interval.begin));
    }
    dispatch += own;
    if (own * 2 > part.interval.length()) longest.emplace_back(own, part.next);
  }
  if (longest.empty() || steps.share(dispatch) < least_share || dispatch * 2 < idle) return {};
  std::vector<OpId> launches =
      operations_where(scene, [&](OpId op) { return c(op) == OperationClass::launch && graph.operations.duration[op] <= longest_dispatch; });
  std::vector<OpId> prepared = operations_where(scene, [&](OpId op) {
    const Place& place = graph.place_of(op);
    if (place.kind != PlaceKind::thread || !threads.launches(place.track)) return false;
    return graph.operations.duration[op] <= longest_dispatch &&
           (c(op) == OperationClass::framework || c(op) == OperationClass::api || c(op) == OperationClass::python);
  });
  std::ranges::stable_sort(longest, std::ranges::greater{}, &std::pair<Nanoseconds, SliceId>::first);
  std::size_t kernels = 0;
  for (const SliceId id : steps.on_devices()) kernels += scene.timeline.slices.kind[id] == SliceKind::kernel;
  Finding found;
  found.title = "The device waits for the host to launch work";
  found.observation =
      fmt::format("The device is idle for {} of each step ({}) because the host has not launched its next work yet: {} per step are launched one by one.",
                  format_duration(steps.per_step(dispatch)), percent(steps.share(dispatch)),
                  times_text(kernels / std::max<std::size_t>(1, steps.count()), "kernel", "kernels"));
  found.edits = {edit_of("launch_cost", std::move(launches), {{"to", "0"}}), edit_of("free", std::move(prepared))};
  for (const auto& [own, next] : longest)
    if (found.evidence.size() < 10) found.evidence.push_back(next);
  found.changes = {{"PyTorch", Change::Form::code, "model = torch.compile(model, mode=\"reduce-overhead\")"},
                   {"PyTorch", Change::Form::code, "Capture the step with torch.cuda.graph() or torch.cuda.make_graphed_callables()"},
                   {"torchtitan", Change::Form::flag, "--compile.enable"},
                   {"PyTorch", Change::Form::code, "A larger micro-batch gives each launch more work"}};
  found.confidence = Confidence::medium;
  found.would_settle = "A run with CUDA graphs: the gain is what a step without any cost of launching would save, the most that graphs or compilation can.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_launch_bound_rule{
    .name = "host.launch_bound",
    .help = "The device waits for the host's launches.",
    .guard = "Idle time behind synchronisation, data loading and pauses above 1 ms (Python, first allocations, loading of code).",
    .source = "Holistic Trace Analysis, idle time by cause; 5 % of the step: ours; pauses above 1 ms: ours",
    .detect = detect,
};

}  // namespace stepscope
