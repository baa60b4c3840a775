// Order statistics of durations. Percentiles are by nearest rank, as in base/spread.h: the smallest value that at least that share of the values do not
// exceed. So each is a duration that occurred and none is interpolated; the median of an even number of values is the lower of the middle two.
#pragma once

#include <optional>
#include <span>

#include "base/time.h"

namespace stepscope {

// Both select within `values`, reordering them, and are absent for no values. percent 0…100; 0 is the minimum.
std::optional<Nanoseconds> percentile(std::span<Nanoseconds> values, int percent);
std::optional<Nanoseconds> median(std::span<Nanoseconds> values);
// Median of |value − median|: a spread that outliers do not move. Times 1.4826 it estimates the standard deviation of normal values.
std::optional<Nanoseconds> median_absolute_deviation(std::span<const Nanoseconds> values);

}  // namespace stepscope
