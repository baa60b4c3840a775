// The critical paths of steps as the page draws them: along which row of the timeline each runs, from when to when.
#pragma once

#include <optional>
#include <vector>

#include "lift/lift.h"
#include "report/timeline_view.h"
#include "simulate/replay.h"

namespace stepscope {

// A stretch of a path on one track; what runs there without a pause is one stretch, with the gaps too short to be seen.
struct PathStretch {
  std::uint32_t track = 0;  // row of TimelineView::tracks
  Interval interval;
  bool waits = false;  // a lag before what runs on that track next: launch latency, hand-over, a delay
};

struct ViewPath {
  RankId rank{};
  DeviceId device{};
  std::optional<std::int64_t> step;  // absent = the whole capture
  Interval window;
  std::vector<PathStretch> stretches;  // by time
};

// Of the windows on devices, steady steps first, until most_stretches are reached: a page need not hold every step's.
std::vector<ViewPath> view_paths(const Lifted& lifted, const ReplayTimes& times, const TimelineView& view, std::size_t most_stretches);

}  // namespace stepscope
