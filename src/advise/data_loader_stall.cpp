// data.loader_stall: the training thread waits for the next batch while the device has nothing to do.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.03;   // of the step: idle time of the device within the loading
constexpr double least_covered = 0.5;  // of the loading: ours (proposed was 0.9; a queue of kernels launched before hides the first part of a wait)

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const IdleTime idle = idle_time(scene, steps);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> waits;
  Nanoseconds waited = 0, starved = 0;
  for (const SliceId id : steps.on_threads()) {
    if (scene.facts.phase[id] != Phase::data || s.kind[id] != SliceKind::annotation) continue;
    const SliceId parent = scene.facts.parent[id];
    if (parent != no_id<SliceId> && scene.facts.phase[parent] == Phase::data) continue;
    if (has_text(scene.timeline.name_of(id), "_SingleProcessDataLoaderIter")) return {};  // data.single_process_loader speaks of it
    const Nanoseconds in_idle = idle.overlap(scene, scene.timeline.track_of(id).rank, {s.start[id], s.end(id)});
    waited += s.duration[id];
    starved += in_idle;
    if (in_idle > 0) waits.push_back(id);
  }
  if (waits.empty() || steps.share(starved) < least_share || static_cast<double>(starved) < least_covered * static_cast<double>(waited)) return {};
  Finding found;
  found.title = "The data loader starves the step";
  found.observation = fmt::format("The training thread waits {} per step for its next batch, and the device is idle for {} of that ({} of the step).",
                                  format_duration(steps.per_step(waited)), format_duration(steps.per_step(starved)), percent(steps.share(starved)));
  found.edits = {edit_of("data_loading",
                         operations_where(scene, [&](OpId op) { return scene.lifted.graph.operations.operation_class[op] == OperationClass::data_loading; }),
                         {{"to", "0"}})};
  found.evidence = most_telling(scene, std::move(waits));
  found.changes = {{"PyTorch", Change::Form::code, "DataLoader(..., num_workers=8, prefetch_factor=4, persistent_workers=True, pin_memory=True)"},
                   {"PyTorch", Change::Form::code, "Decode and augment on the device, or store samples already tokenised and packed"},
                   {"Megatron-LM", Change::Form::flag, "--num-workers 8"}};
  found.confidence = steps.steps_of_each() >= 3 ? Confidence::high : Confidence::medium;
  found.would_settle = "What the worker processes do meanwhile (a CPU profile of them): whether they lack cores, storage or only number.";
  return {std::move(found)};
}

}  // namespace

extern const Rule data_loader_stall_rule{
    .name = "data.loader_stall",
    .help = "The step waits for its next batch.",
    .guard = "Loading that the device's queue hides; the first and last steps, in which workers start; loading in the training process itself.",
    .source = "3 % of the step: proposed; half of the loading covered by idle time: ours",
    .detect = detect,
};

}  // namespace stepscope
