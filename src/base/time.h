// Time is int64 nanoseconds everywhere. Kineto's decimal microseconds are converted from their digits, never through a double.
#pragma once

#include <cstdint>
#include <string>

namespace stepscope {

using Nanoseconds = std::int64_t;

// A half-open interval [begin, end) in nanoseconds.
struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  constexpr Nanoseconds length() const { return end - begin; }
  constexpr bool contains(Nanoseconds t) const { return begin <= t && t < end; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

// "412 ms", "3.21 µs", "17 ns": three significant digits in the unit that fits.
std::string format_duration(Nanoseconds duration);

}  // namespace stepscope
