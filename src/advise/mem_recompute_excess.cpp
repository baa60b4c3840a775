// mem.recompute_excess: forward work runs again in backward (activation checkpointing) although memory is left to keep its results.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"
#include "advise/memory_levels.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.05;  // of the step: device time of recomputed work: ours (proposed was 0.15, about full recomputation); the gain decides
constexpr double least_free = 0.15;   // of the fullest device, where its memory is known

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> again;
  for (const SliceId id : steps.on_devices())
    if (scene.facts.recomputed[id] != 0) again.push_back(id);
  const Nanoseconds time = total_time(scene, again);
  if (again.empty() || steps.share(time) < least_share) return {};
  double free_share = 1;
  bool known = false;
  for (const MemoryPeak& peak : memory_peaks(scene))
    if (peak.capacity > 0) {
      known = true;
      free_share = std::min(free_share, peak.free_share());
    }
  if (known && free_share < least_free) return {};
  std::vector<SliceId> all = again;
  for (const SliceId id : steps.on_threads())
    if (scene.facts.recomputed[id] != 0 && (s.kind[id] == SliceKind::operation || is_api_call(s.kind[id]))) all.push_back(id);
  Finding found;
  found.title = "More is computed again in backward than memory requires";
  found.observation = fmt::format("{} of forward work run again in backward: {} per step ({}).", times_text(again.size(), "kernel", "kernels"),
                                  format_duration(steps.per_step(time)), percent(steps.share(time)));
  found.observation += known ? fmt::format(" {} of the fullest device's memory are free.", percent(free_share)) : " How much memory is left was not recorded.";
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, all)))};
  found.evidence = most_telling(scene, std::move(again));
  found.changes = {{"Megatron-LM", Change::Form::flag, "--recompute-granularity selective"},
                   {"torchtitan", Change::Form::flag, "--activation_checkpoint.mode selective"},
                   {"PyTorch", Change::Form::code,
                    "torch.utils.checkpoint.create_selective_checkpoint_contexts with a policy that keeps the results of matrix products and attention; or "
                    "checkpoint fewer layers"}};
  found.confidence = known ? Confidence::medium : Confidence::low;
  found.would_settle = known ? "A run that keeps all results: whether they fit."
                             : "The allocator's records (profile_memory=True): whether results kept would fit. The gain is that of keeping all of them.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_recompute_excess_rule{
    .name = "mem.recompute_excess",
    .help = "Forward work is computed again in backward although memory is left.",
    .guard = "Devices whose memory is full; recomputation that costs little.",
    .source = "Megatron Bridge performance guide; 15 % of memory: proposed; 5 % of the step: ours",
    .detect = detect,
};

}  // namespace stepscope
