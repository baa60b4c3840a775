// mem.master_weights_traffic: a fused optimizer moves so many bytes that it is a large part of the step.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.08;  // of the step
// Read and written per parameter by Adam: fp32 parameter, gradient and two moments read, all but the gradient written: 28 bytes. With the gradient in bf16 and
// both moments in bf16: 4 + 2 + 2 · 2 read, 4 + 2 · 2 written: 18 bytes.
constexpr double fp32_bytes = 28, reduced_bytes = 18;

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  std::vector<SliceId> updates;
  Nanoseconds all = 0;
  for (const SliceId id : steps.on_devices()) {
    if (scene.facts.phase[id] != Phase::optimizer || scene.facts.activity[id] != ActivityClass::compute) continue;
    all += scene.timeline.slices.duration[id];
    const SliceId operation = scene.facts.operation[id];
    const bool adam = (operation != no_id<SliceId> && has_text(scene.timeline.name_of(operation), "_fused_adam")) ||
                      has_text(scene.timeline.name_of(id), "FusedAdam") || has_text(scene.timeline.name_of(id), "AdamFunctor") ||
                      has_text(scene.timeline.name_of(id), "DistAdam");
    if (adam) updates.push_back(id);
  }
  const Nanoseconds time = total_time(scene, updates);
  // Other work of the optimizer than the fused update (clipping, copies of parameters) is not what this speaks of.
  if (updates.empty() || steps.share(time) < least_share || time * 2 < all) return {};
  std::int64_t world = 0;
  for (const Rank& rank : scene.timeline.ranks) world = std::max(world, rank.world_size);
  Finding found;
  found.title = "The optimizer moves many bytes";
  found.observation =
      fmt::format("The fused Adam update takes {} per step ({}): it reads and writes parameters, gradients and moments, at 28 bytes per parameter in fp32.",
                  format_duration(steps.per_step(time)), percent(steps.share(time)));
  found.edits = {edit_of("scale", operations_of(scene, everywhere(scene, steps, updates)), {{"by", fmt::format("{:.6f}", reduced_bytes / fp32_bytes)}})};
  found.evidence = most_telling(scene, std::move(updates));
  found.changes = {{"Megatron-LM", Change::Form::flag, "--use-precision-aware-optimizer --main-grads-dtype bf16 --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16"},
                   {"PyTorch", Change::Form::code, "More micro-batches per update (gradient accumulation) spread it over more work"}};
  if (world > 1) {
    found.changes.push_back({"Megatron-LM", Change::Form::flag, "--use-distributed-optimizer"});
    found.changes.push_back({"DeepSpeed", Change::Form::code, "\"zero_optimization\": {\"stage\": 1}"});
  }
  found.confidence = Confidence::low;
  found.would_settle =
      "In what types gradients and moments are kept: the gain is that of 18 instead of 28 bytes per parameter, and needs them to be in fp32 now.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_master_weights_traffic_rule{
    .name = "mem.master_weights_traffic",
    .help = "A fused optimizer is a large part of the step by the bytes that it moves.",
    .guard = "Optimizers that are not fused; updates hidden in long steps.",
    .source = "bytes per parameter: Adam's definition; 8 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
