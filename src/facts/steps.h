// What the ways to find steps share.
#pragma once

#include <string>
#include <vector>

#include "facts/facts.h"

namespace stepscope {

// Sorts the steps by begin, gives each its step time (to the next later start; the last: its own length) and marks the outliers: the first, the last, and those
// far from the median of the others.
void complete_steps(std::vector<Step>& steps);
// "thread 542 (python3)"
std::string thread_label(const Timeline& timeline, TrackId track);

}  // namespace stepscope
