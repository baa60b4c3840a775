// data.h2d_not_overlapped: copies from pinned memory run alone, on the stream that computes: the next batch could be copied while this one is worked on.
#include <fmt/core.h>

#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.01;             // of the step, in copies that nothing runs beside
constexpr double most_share = 0.5;               // ours: what takes longer than the rest of the step cannot hide behind it
constexpr std::int64_t least_bytes = 64 * 1024;  // ours: smaller ones are scalars and indices that are made in the step

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> copies;
  Nanoseconds alone = 0;
  for (std::size_t device = 0; device < scene.facts.devices.size(); ++device) {
    const std::vector<SliceId> slices = steps.on_device(device);
    std::map<TrackId, Nanoseconds> compute;  // per stream
    std::vector<Interval> kernels;
    for (const SliceId id : slices)
      if (s.kind[id] == SliceKind::kernel) {
        kernels.push_back({s.start[id], s.end(id)});
        if (scene.facts.activity[id] == ActivityClass::compute) compute[s.track[id]] += s.duration[id];
      }
    kernels = merge_intervals(kernels);
    for (const SliceId id : slices) {
      const std::string_view name = scene.timeline.name_of(id);
      if (s.kind[id] != SliceKind::copy || !has_text(name, "HtoD") || !has_text(name, "Pinned") || !compute.contains(s.track[id])) continue;
      if (const auto bytes = bytes_moved(scene, id); bytes && *bytes < least_bytes) continue;
      if (overlap(kernels, {s.start[id], s.end(id)}) > 0) continue;
      copies.push_back(id);
      alone += s.duration[id];
    }
  }
  if (copies.empty() || steps.share(alone) < least_share || steps.share(alone) > most_share) return {};
  Finding found;
  found.title = "Copies of input run alone, before the work";
  found.observation = fmt::format("{} to the device from pinned memory stand in the stream that computes, with no kernel beside them: {} per step ({}).",
                                  times_text(copies.size(), "copy", "copies"), format_duration(steps.per_step(alone)), percent(steps.share(alone)));
  // Beside a whole step of compute they take no time of it, as long as they are shorter.
  found.edits = {edit_of("free", operations_of(scene, everywhere(scene, steps, copies)))};
  found.evidence = most_telling(scene, std::move(copies));
  found.changes = {{"PyTorch", Change::Form::code,
                    "Copy the next batch on a side stream: with torch.cuda.stream(copies): batch.to(device, non_blocking=True); before its use "
                    "torch.cuda.current_stream().wait_stream(copies), and batch.record_stream(torch.cuda.current_stream())"}};
  found.confidence = Confidence::medium;
  found.would_settle =
      "Which tensors are copied: only what is known before the step begins can be copied ahead. The gain takes them to be hidden wholly behind compute.";
  return {std::move(found)};
}

}  // namespace

extern const Rule data_h2d_not_overlapped_rule{
    .name = "data.h2d_not_overlapped",
    .help = "Copies of input from pinned memory run in the computing stream with nothing beside them.",
    .guard = "Copies below 64 KiB, copies on streams of their own, copies beside kernels.",
    .source = "PyTorch performance tuning guide; 1 % of the step: proposed; 64 KiB: ours",
    .detect = detect,
};

}  // namespace stepscope
