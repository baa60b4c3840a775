// FSDP holds back its own gathers: the host waits for an event inside of FSDP. Threshold: 1 % of the step (ours). Gain: it does not wait; memory must allow it.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const DeviceEvidence e(scene);
  const SliceColumns& s = scene.timeline.slices;
  Finding f;
  std::vector<OpId> operations;
  std::vector<std::pair<Nanoseconds, SliceId>> waits;
  double time = 0;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (scene.timeline.tracks[track].kind != TrackKind::thread) continue;
    for (const SliceId id : scene.timeline.on_track(TrackId{track})) {
      if (!is_api_call(s.kind[id]) || s.duration[id] < 20'000 || !has_text(e.name(id), "EventSynchronize")) continue;
      bool in_fsdp = false;
      int level = 0;
      for (SliceId at = scene.facts.parent[id]; at != no_id<SliceId> && level < 200; at = scene.facts.parent[at], ++level)
        in_fsdp |= has_any_text(e.name(at), {"FullyShardedDataParallel", "FSDP", "fsdp"});
      if (!in_fsdp) continue;
      const OpId op = scene.lifted.operation_of[id];
      if (op != no_id<OpId>) operations.push_back(op);
      waits.emplace_back(s.duration[id], id);
      time += static_cast<double>(s.duration[id]);
    }
  }
  double all = 0;
  for (const RankSteps& steps : scene.facts.steps)
    for (const Step& step : steps.steps) all += static_cast<double>(step.step_time);
  if (all <= 0) all = e.span;
  if (waits.empty() || all <= 0 || time < 0.01 * all || operations.empty()) return {};
  std::ranges::sort(waits, std::ranges::greater{});
  for (std::size_t i = 0; i < waits.size() && i < 10; ++i) f.evidence.push_back(waits[i].second);
  std::ranges::sort(operations);
  f.title = "FSDP holds back its gathers";
  f.observation = fmt::format("The host waits {} times inside of FSDP before it launches more, {} of the steps.", waits.size(), percent(time / all));
  f.edits = {edit_of("no_sync", std::move(operations))};
  f.changes = {code("PyTorch", "FullyShardedDataParallel(..., limit_all_gathers=False), where memory allows"),
               code("PyTorch", "FSDP2 (fully_shard), which needs no such limit")};
  f.confidence = Confidence::medium;
  f.would_settle = "Free memory at the peak: without the limit more gathered parameters are there at once.";
  return {f};
}

}  // namespace

extern const Rule fsdp_rate_limit_rule{
    .name = "fsdp.rate_limit",
    .help = "FSDP throttles its gathers to save memory.",
    .guard = "Other waits for events, and waits below 20 µs.",
    .source = "PyTorch FSDP documentation; 1 % and 20 µs ours",
    .detect = detect,
};

}  // namespace stepscope
