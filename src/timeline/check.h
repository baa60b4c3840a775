// The invariants of a Timeline, as a list of violations (empty = sound). Tests run it over every input we have.
#pragma once

#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace stepscope {

// At most 20 violations, each naming the row and what is wrong with it. O(rows).
std::vector<std::string> check(const Timeline& timeline);

}  // namespace stepscope
