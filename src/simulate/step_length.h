// The length that what-ifs and advice are about: the step, as a replay tells it.
#pragma once

#include <vector>

#include "lift/lift.h"
#include "simulate/replay.h"

namespace stepscope {

// The windows that stand for the run: of devices (steps on them, or the whole capture of one without steps), without outliers unless there is nothing else;
// without any device, the host's steps. Rows of Lifted::windows.
std::vector<std::uint32_t> representative_windows(const Lifted& lifted);
// Mean length of these windows, ns; 0 = there are none. With several ranks: of the longest of each step, because ranks wait for one another.
double step_length(const Lifted& lifted, const ReplayTimes& times, const std::vector<std::uint32_t>& windows);

}  // namespace stepscope
