// host.device_sync: the program itself waits for the device in its step (torch.cuda.synchronize, a stream's or event's synchronize outside of any operator).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.005;  // of the step: idle time of the device behind the wait

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<HostWait> waits;
  Nanoseconds idle = 0, blocked = 0;
  for (const HostWait& wait : host_waits(scene, steps)) {
    const std::string_view name = scene.timeline.name_of(wait.call);
    if (scene.facts.api_calls[s.name[wait.call]].role != ApiRole::synchronise || wait.operation != no_id<SliceId>) continue;
    if (scene.facts.phase[wait.call] == Phase::data) continue;
    // The profiler's own at the end of a capture: no launch of this thread follows.
    if (wait.idle_after == 0 && has_text(name, "DeviceSynchronize")) continue;
    waits.push_back(wait);
    idle += wait.idle_after;
    blocked += wait.blocked.length();
  }
  if (waits.empty() || steps.share(idle) < least_share) return {};
  std::ranges::stable_sort(waits, std::ranges::greater{}, &HostWait::idle_after);
  const std::string_view caller = users_function(scene, waits.front().call);
  Finding found;
  found.title = "The program waits for the device in its step";
  found.observation = fmt::format(
      "{} in the steps (the longest idle behind {}{}{}) keep the host from running ahead: {} blocked per step, after which the device is idle for {} ({}).",
      times_text(waits.size(), "synchronising call", "synchronising calls"), scene.timeline.name_of(waits.front().call), caller.empty() ? "" : " in ", caller,
      format_duration(steps.per_step(blocked)), format_duration(steps.per_step(idle)), percent(steps.share(idle)));
  found.edits = {edit_of("no_sync", waiting_operations(scene, steps, waits))};
  for (const HostWait& wait : waits)
    if (found.evidence.size() < 10) found.evidence.push_back(wait.call);
  found.changes = {{"PyTorch", Change::Form::code,
                    "Take torch.cuda.synchronize() out of the step; time with torch.cuda.Event(enable_timing=True) and read the events later"},
                   {"Megatron-LM", Change::Form::flag, "--timing-log-level 0"},
                   {"DeepSpeed", Change::Form::code, "\"wall_clock_breakdown\": false"}};
  found.confidence = Confidence::high;
  if (!any_python_frames(scene)) found.would_settle = "Python stacks (with_stack=True): which line waits.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_device_sync_rule{
    .name = "host.device_sync",
    .help = "The program synchronises with the device in its step.",
    .guard = "The profiler's own synchronisation at the end; waits inside operators; waits behind which the device still has work.",
    .source = "PyTorch performance tuning guide; 0.5 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
