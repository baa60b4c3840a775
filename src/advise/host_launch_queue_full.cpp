// host.launch_queue_full: launch calls take long although the device has nothing queued: something else in the process holds them up. A long call while the
// device is busy only waits for room in the launch queue, which is healthy, and is not reported.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr Nanoseconds long_call = 100'000;
constexpr double least_share = 0.01;  // of the step: ours
constexpr double mostly_idle = 0.9;   // of the call: ours

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const IdleTime idle = idle_time(scene, steps);
  std::vector<Nanoseconds> usual;
  std::vector<SliceId> held_up;
  Nanoseconds excess = 0;
  std::set<NameId> seen;  // kernels launched before: the first launch of a kernel loads its code
  std::set<SliceId> first_of_kind;
  for (const DeviceFacts& device : scene.facts.devices)
    for (const SliceId id : device.slices)
      if (scene.facts.launch[id] != no_id<SliceId> && seen.insert(s.name[id]).second) first_of_kind.insert(scene.facts.launch[id]);
  for (const SliceId id : steps.on_threads()) {
    if (!is_api_call(s.kind[id]) || !launches_kernels(scene.facts.api_calls[s.name[id]].role) || scene.facts.graph_launch[id] != 0) continue;
    usual.push_back(s.duration[id]);
    if (s.duration[id] < long_call || first_of_kind.contains(id)) continue;
    const Nanoseconds in_idle = idle.overlap(scene, scene.timeline.track_of(id).rank, {s.start[id], s.end(id)});
    if (static_cast<double>(in_idle) >= mostly_idle * static_cast<double>(s.duration[id])) held_up.push_back(id);
  }
  if (held_up.empty()) return {};
  std::ranges::nth_element(usual, usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2));
  const Nanoseconds median = usual[usual.size() / 2];
  for (const SliceId id : held_up) excess += std::max<Nanoseconds>(0, s.duration[id] - median);
  if (steps.share(excess) < least_share) return {};
  Finding found;
  found.title = "Launch calls are held up while the device is idle";
  found.observation =
      fmt::format("{} last longer than 100 µs although the device has nothing to do; usually one takes {}. Together they lose {} per step ({}).",
                  times_text(held_up.size(), "launch call", "launch calls"), format_duration(median), format_duration(steps.per_step(excess)),
                  percent(steps.share(excess)));
  found.edits = {edit_of("set", operations_of(scene, everywhere(scene, steps, held_up)), {{"to", fmt::format("{}ns", median)}})};
  found.evidence = most_telling(scene, std::move(held_up));
  found.changes = {
      {"PyTorch", Change::Form::code, "Let fewer threads of the process call the driver at once (pinning memory, allocating, other streams' threads)"},
      {"environment", Change::Form::environment, "CUDA_MODULE_LOADING=EAGER"}};
  found.confidence = Confidence::low;
  found.would_settle = "What the thread did in these calls: its scheduling (perf sched) and other threads' driver calls; the same step without a profiler.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_launch_queue_full_rule{
    .name = "host.launch_queue_full",
    .help = "Launch calls are held up while the device is idle.",
    .guard = "Calls that wait for room in a full launch queue (the device is busy): healthy; the first launch of each kernel, which loads its code.",
    .source = "100 µs: proposed; nine tenths of the call idle, 1 % of the step: ours",
    .detect = detect,
};

}  // namespace stepscope
