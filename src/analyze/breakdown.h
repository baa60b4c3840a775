// Where the time of a window of device time went (METRICS.md, Time breakdown): shared by the questions about the whole capture and about each step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/question.h"

namespace stepscope {

struct Breakdown {
  std::int64_t slices = 0;  // that start in the window
  Nanoseconds span = 0, busy = 0, idle = 0, compute = 0, communication = 0, memory = 0, exposed_communication = 0, exposed_memory = 0;
  std::optional<double> overlap;  // |communication ∩ compute| / |communication|; absent without communication
};

// The device time asked about: the scene's window, or from the first slice's start to the last one's end.
Interval device_window(const Scene& scene);
// The device's step windows in the time asked about: the same for every question that has a row per step.
std::vector<const StepWindow*> steps_in_window(const Scene& scene);
// Of each window, from the device's slices (in DeviceFacts order) clipped to it.
std::vector<Breakdown> breakdowns(const Timeline& timeline, const Facts& facts, std::span<const SliceId> slices, std::span<const Interval> windows_by_begin);
// Keys and titles of the figures, in the order in which they are read.
std::vector<Figure> breakdown_figures(const Breakdown& breakdown);

}  // namespace stepscope
