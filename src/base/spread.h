// The spread of a set of durations. Quantiles are by nearest rank (the smallest value that at least that share of the values do not exceed), so that each
// is a duration that occurred and none is interpolated.
#pragma once

#include <cstdint>
#include <span>

#include "base/time.h"

namespace stepscope {

struct Spread {
  std::int64_t count = 0;
  Nanoseconds total = 0, minimum = 0, median = 0, p90 = 0, maximum = 0;  // all 0 where count is 0
};

// Linear in the number of values, which it reorders.
Spread spread(std::span<Nanoseconds> values);

}  // namespace stepscope
