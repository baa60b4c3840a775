// host.grad_clip_sync: between backward and the optimizer's update the host reads a value of the gradients (their norm, whether any is infinite) and waits.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"
#include "advise/optimizer_time.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.005;  // of the step: idle time of the device behind the wait

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const OptimizerTime optimizer(scene);
  std::vector<HostWait> waits;
  Nanoseconds idle = 0, blocked = 0;
  bool scales_loss = false;
  for (const HostWait& wait : host_waits(scene, steps)) {
    if (wait.operation == no_id<SliceId> || !optimizer.before_update(scene.timeline.track_of(wait.call).rank, wait.blocked.begin)) continue;
    const std::string_view name = scene.timeline.name_of(wait.operation);
    if (name != "aten::_local_scalar_dense" && name != "aten::item" && name != "aten::is_nonzero") continue;
    waits.push_back(wait);
    idle += wait.idle_after;
    blocked += wait.blocked.length();
  }
  if (waits.empty() || steps.share(idle) < least_share) return {};
  for (const SliceId id : steps.on_threads()) scales_loss |= has_text(scene.timeline.name_of(id), "_amp_foreach_non_finite_check");
  std::ranges::stable_sort(waits, std::ranges::greater{}, &HostWait::idle_after);
  Finding found;
  found.title = "The host reads the gradients' norm before the optimizer runs";
  found.observation = fmt::format(
      "Between backward and the update {} wait for a value from the device ({} blocked per step); the device is idle for {} behind them ({} of the step).",
      times_text(waits.size(), "call", "calls"), format_duration(steps.per_step(blocked)), format_duration(steps.per_step(idle)), percent(steps.share(idle)));
  found.edits = {edit_of("no_sync", waiting_operations(scene, steps, waits))};
  for (const HostWait& wait : waits)
    if (found.evidence.size() < 10) found.evidence.push_back(wait.call);
  found.changes = {{"PyTorch", Change::Form::code,
                    "torch.nn.utils.clip_grad_norm_(parameters, max_norm, foreach=True, error_if_nonfinite=False), and keep the norm on the device"},
                   {"Megatron-LM", Change::Form::flag, "--no-check-for-nan-in-loss-and-grad"}};
  if (scales_loss)
    found.changes.push_back(
        {"PyTorch", Change::Form::code, "Train in bfloat16, which needs no GradScaler; or a fused optimizer, which takes found_inf on the device"});
  else
    found.changes.push_back({"PyTorch", Change::Form::code, "torch.optim.AdamW(..., fused=True) or capturable=True: its step count stays on the device"});
  found.confidence = scales_loss ? Confidence::low : Confidence::medium;
  found.would_settle = scales_loss ? "Whether the loss must be scaled: fp16 has to know about infinite gradients before the update."
                                   : "Python stacks (with_stack=True): which line reads the value.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_grad_clip_sync_rule{
    .name = "host.grad_clip_sync",
    .help = "A value of the gradients is read by the host before the optimizer runs.",
    .guard = "Reads behind the update or in forward; fp16 with a scaled loss needs the check (low confidence).",
    .source = "PyTorch, torch.nn.utils.clip_grad_norm_; 0.5 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
