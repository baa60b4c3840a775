#include "analyze/unexplained_delay.h"

#include <algorithm>

namespace stepscope {

namespace {

bool in_stretch_without_records(const Scene& scene, Interval interval) {
  return std::ranges::any_of(scene.facts.unrecorded_stretches, [&](const UnrecordedStretch& stretch) {
    return stretch.rank == scene.rank && stretch.interval.begin < interval.end && stretch.interval.end > interval.begin;
  });
}

}  // namespace

std::string reason_of_delay(const Scene& scene, const PathPart& part) {
  const Timeline& timeline = scene.timeline;
  const SliceId slice = scene.lifted->graph.operations.origin[part.operation];
  if (part.dependency == no_dependency) return "before the first record";
  const Interval on_own_clock{scene.lifted->on_clock_of(scene.rank, part.interval.begin), scene.lifted->on_clock_of(scene.rank, part.interval.end)};
  if (in_stretch_without_records(scene, on_own_clock)) return "records dropped: kernels were launched here that left none";
  const bool on_device = slice != no_id<SliceId> && is_device_activity(timeline.slices.kind[slice]);
  if (!on_device)
    return part.kind == PathPartKind::no_cause ? "the thread's first record: what started it is not recorded" : "waited for something that left no record";
  const SliceId launch = scene.facts.launch[slice];
  if (timeline.slices.kind[slice] == SliceKind::copy && timeline.name_of(slice).find("Pageable") != std::string_view::npos)
    return "pageable memory: the call copies it to a staging buffer first";
  const std::vector<KernelLaunches>& launches = scene.facts.kernel_launches;
  if (launch == no_id<SliceId>) return "no launch record: launched before the capture, or its record was dropped";
  if (scene.facts.graph_launch[launch] != 0) return "a CUDA graph waiting for its inputs";
  if (index(scene.rank) < launches.size() && launches[index(scene.rank)].records_were_lost()) return "sampled or dropped records";
  return "queued behind work or an event of which there is no record";
}

}  // namespace stepscope
