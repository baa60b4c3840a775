// host.sync_item: an operator reads a value off the device (.item(), .cpu(), nonzero, boolean indices), and the host stands still until it is there; then the
// device stands still until the host has launched again.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"
#include "advise/optimizer_time.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.005;  // of the step: idle time that follows

bool reads_value(std::string_view name) {
  for (const std::string_view one : {"aten::_local_scalar_dense", "aten::item", "aten::nonzero", "aten::is_nonzero", "aten::_unique2", "aten::unique_dim",
                                     "aten::masked_select", "aten::equal", "aten::repeat_interleave", "aten::_to_copy", "aten::copy_", "aten::index"})
    if (name == one) return true;
  return false;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const OptimizerTime optimizer(scene);
  std::vector<HostWait> waits;
  std::map<std::string, std::size_t> callers;
  Nanoseconds idle = 0, blocked = 0;
  for (const HostWait& wait : host_waits(scene, steps)) {
    if (wait.operation == no_id<SliceId> || scene.facts.phase[wait.call] == Phase::data) continue;
    if (!reads_value(scene.timeline.name_of(wait.operation))) continue;
    // Copies to the device are data.h2d_pageable's, what stands between backward and the optimizer is host.grad_clip_sync's.
    bool to_device = false;
    for (const SliceId copy : optimizer.copies_of(wait.operation)) to_device |= has_text(scene.timeline.name_of(copy), "HtoD");
    if (to_device) continue;
    if (optimizer.before_update(scene.timeline.track_of(wait.call).rank, wait.blocked.begin)) continue;
    waits.push_back(wait);
    idle += wait.idle_after;
    blocked += wait.blocked.length();
    std::string_view caller = users_function(scene, wait.call);
    ++callers[std::string(caller.empty() ? scene.timeline.name_of(wait.operation) : caller)];
  }
  if (waits.empty() || steps.share(idle) < least_share) return {};
  std::ranges::stable_sort(waits, std::ranges::greater{}, &HostWait::idle_after);
  const auto most = std::ranges::max_element(callers, {}, [](const auto& caller) { return caller.second; });
  Finding found;
  found.title = "The host waits for values from the device";
  found.observation = fmt::format(
      "{} per step stop the launching thread until a value has come from the device ({} blocked); the device then is idle for {} ({} of the step). "
      "Most are in {} ({} of {}).",
      times_text(std::max<std::size_t>(1, waits.size() / std::max<std::size_t>(1, steps.count())), "read", "reads"), format_duration(steps.per_step(blocked)),
      format_duration(steps.per_step(idle)), percent(steps.share(idle)), most->first, most->second, waits.size());
  found.edits = {edit_of("no_sync", waiting_operations(scene, steps, waits))};
  for (const HostWait& wait : waits)
    if (found.evidence.size() < 10) found.evidence.push_back(wait.call);
  found.changes = {{"PyTorch", Change::Form::code, "Keep losses and metrics on the device (loss.detach()), and read them every N steps"},
                   {"PyTorch", Change::Form::code, "torch.where(mask, a, b) instead of a[mask]; give repeat_interleave its output_size"},
                   {"PyTorch", Change::Form::code, "torch.cuda.set_sync_debug_mode(\"warn\") tells each place"},
                   {"Megatron-LM", Change::Form::flag, "--log-interval 100"}};
  found.confidence = Confidence::medium;
  found.would_settle =
      any_python_frames(scene) ? "Whether the program needs the value before it goes on." : "Python stacks (with_stack=True): which lines read the values.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_sync_item_rule{
    .name = "host.sync_item",
    .help = "Reading values off the device stops the host within the step.",
    .guard = "Reads that cost the device nothing; copies to the device; the norm of the gradients; data loading.",
    .source = "PyTorch performance tuning guide; 0.5 % of the step idle behind them: ours",
    .detect = detect,
};

}  // namespace stepscope
