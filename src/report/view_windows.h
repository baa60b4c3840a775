// Which steps the page's timeline draws slice by slice when it cannot draw all: first the typical one, then the slowest, then as many others as fit.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

// Per rank, the stretches that together start at most most_slices slices, by begin, merged where they touch. A step's stretch reaches from its annotation's
// start to the end of it or of its windows on the rank's devices, whichever is last. Without steps, or where none fits: nothing.
std::vector<std::vector<Interval>> choose_whole_windows(const Timeline& timeline, const Facts& facts, std::size_t most_slices);

}  // namespace stepscope
