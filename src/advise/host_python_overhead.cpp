// host.python_overhead: while the device waits for launches, the launching thread is in Python more than in the framework.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.05;              // of the step, idle while the thread is in Python: ours
constexpr double mostly = 0.5;                    // of the host's share of the idle time
constexpr Nanoseconds longest_pause = 1'000'000;  // ours: longer ones are not the cost of calling operators

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const ThreadOperations threads(scene);
  const Graph& graph = scene.lifted.graph;
  Nanoseconds host = 0, python = 0;
  std::vector<std::pair<Nanoseconds, SliceId>> before;  // by Python time
  for (const IdlePart& part : idle_time(scene, steps).parts) {
    if (part.cause != IdleCause::host) continue;
    host += part.interval.length();
    const auto& all = threads.of(scene.timeline.slices.track[scene.facts.launch[part.next]]);
    auto at = std::ranges::lower_bound(all, part.interval.begin, {}, [&](OpId op) { return threads.time(op).end; });
    Nanoseconds own = 0;
    for (; at != all.end() && threads.time(*at).begin < part.interval.end; ++at) {
      const Interval time = threads.time(*at);
      if (graph.operations.operation_class[*at] == OperationClass::python && time.length() <= longest_pause)
        own += std::max<Nanoseconds>(0, std::min(time.end, part.interval.end) - std::max(time.begin, part.interval.begin));
    }
    python += own;
    if (own > 0) before.emplace_back(own, part.next);
  }
  // Where no operators were recorded, nothing tells Python from them.
  const bool operators = std::ranges::any_of(graph.operations.operation_class, [](OperationClass c) { return c == OperationClass::framework; });
  if (!operators || steps.share(python) < least_share || static_cast<double>(python) < mostly * static_cast<double>(host)) return {};
  std::ranges::stable_sort(before, std::ranges::greater{}, &std::pair<Nanoseconds, SliceId>::first);
  std::map<std::string_view, Nanoseconds> functions;
  for (const auto& [own, next] : before)
    if (const std::string_view name = users_function(scene, scene.facts.launch[next]); !name.empty()) functions[name] += own;
  Finding found;
  found.title = "Python takes longer than the framework's operators";
  found.observation = fmt::format(
      "The device is idle for {} per step ({}) while the launching thread is between operators, in Python: {} of the time in which it waits for the host.",
      format_duration(steps.per_step(python)), percent(steps.share(python)), percent(static_cast<double>(python) / static_cast<double>(host)));
  if (!functions.empty()) {
    const auto most = std::ranges::max_element(functions, {}, [](const auto& one) { return one.second; });
    found.observation += fmt::format(" Most of it in {}.", most->first);
  }
  found.edits = {edit_of("free", operations_where(scene, [&](OpId op) {
                           const Place& place = graph.place_of(op);
                           return graph.operations.operation_class[op] == OperationClass::python && place.kind == PlaceKind::thread &&
                                  threads.launches(place.track) && graph.operations.duration[op] <= longest_pause;
                         }))};
  for (const auto& [own, next] : before)
    if (found.evidence.size() < 10) found.evidence.push_back(next);
  found.changes = {{"PyTorch", Change::Form::code, "model = torch.compile(model), or CUDA graphs: the step then runs without its Python"},
                   {"PyTorch", Change::Form::code,
                    "Fewer modules' hooks and autocast regions per layer; one call over lists (torch._foreach_*) instead of loops over tensors"}};
  found.confidence = any_python_frames(scene) ? Confidence::medium : Confidence::low;
  found.would_settle = any_python_frames(scene) ? "The step without with_stack: recording stacks itself slows Python down."
                                                : "Python stacks (with_stack=True), or a sampling profile (py-spy).";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_python_overhead_rule{
    .name = "host.python_overhead",
    .help = "Python between operators keeps the device waiting.",
    .guard = "Pauses above 1 ms; idle time that the framework's own operators cause; traces without operators.",
    .source = "half of the host's idle time: proposed; 5 % of the step, 1 ms: ours",
    .detect = detect,
};

}  // namespace stepscope
