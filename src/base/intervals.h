// Lengths of unions, intersections and differences of intervals, in one sweep over intervals sorted by begin. Empty and reversed intervals cover nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "base/time.h"

namespace stepscope {

// Intervals that are sorted, disjoint and not touching: what a union is.
std::vector<Interval> merge_intervals(std::span<const Interval> sorted_by_begin);
Nanoseconds union_length(std::span<const Interval> sorted_by_begin);
// Of two merged lists.
Nanoseconds intersection_length(std::span<const Interval> a, std::span<const Interval> b);
// |a \ b| of two merged lists.
Nanoseconds difference_length(std::span<const Interval> a, std::span<const Interval> b);

// Partitions time by which of a few families of intervals cover it: time(mask) is how long exactly the families of mask were active, so that every union,
// intersection and difference of the families is a sum of these. Intervals of all families are added together, in order of begin.
template <std::size_t families>
class CoverageSweep {
 public:
  static constexpr std::size_t masks = std::size_t{1} << families;

  // Counting starts at `begin`; what was added before it still covers the time after it.
  explicit CoverageSweep(Nanoseconds begin) : now_(begin) { ends_.fill(begin); }

  void add(std::size_t family, Interval interval) {
    assert(family < families);
    if (interval.begin > now_) advance(interval.begin);
    ends_[family] = std::max(ends_[family], interval.end);
  }
  // Counts the time up to `until`.
  void advance(Nanoseconds until) {
    while (now_ < until) {
      std::size_t mask = 0;
      Nanoseconds next = until;
      for (std::size_t family = 0; family < families; ++family) {
        if (ends_[family] <= now_) continue;
        mask |= std::size_t{1} << family;
        next = std::min(next, ends_[family]);
      }
      time_[mask] += next - now_;
      now_ = next;
    }
  }
  Nanoseconds time(std::size_t mask) const { return time_[mask]; }
  // Time in which any family of `families_of_interest` and none of `excluded` was active.
  Nanoseconds covered(std::size_t families_of_interest, std::size_t excluded = 0) const {
    Nanoseconds total = 0;
    for (std::size_t mask = 1; mask < masks; ++mask)
      if ((mask & families_of_interest) != 0 && (mask & excluded) == 0) total += time_[mask];
    return total;
  }

 private:
  Nanoseconds now_;
  std::array<Nanoseconds, families> ends_{};  // the families' present end of cover
  std::array<Nanoseconds, masks> time_{};
};

}  // namespace stepscope
