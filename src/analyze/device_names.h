// The device slices of a scene by name.
#pragma once

#include <vector>

#include "analyze/question.h"
#include "base/spread.h"

namespace stepscope {

struct NameSpread {
  NameId name{};
  ActivityClass activity = ActivityClass::compute;  // of the name's first slice
  Spread spread;                                    // of the slices' durations
};

// Longest total first, then by name. Linear in the slices.
std::vector<NameSpread> spread_by_name(const Scene& scene);

}  // namespace stepscope
