#include "base/intervals.h"

namespace stepscope {

std::vector<Interval> merge_intervals(std::span<const Interval> sorted_by_begin) {
  std::vector<Interval> merged;
  for (const Interval& interval : sorted_by_begin) {
    if (interval.end <= interval.begin) continue;
    if (!merged.empty() && interval.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, interval.end);
    else
      merged.push_back(interval);
  }
  return merged;
}

Nanoseconds union_length(std::span<const Interval> sorted_by_begin) {
  Nanoseconds total = 0;
  bool any = false;
  Nanoseconds covered_to = 0;
  for (const Interval& interval : sorted_by_begin) {
    const Nanoseconds begin = any ? std::max(interval.begin, covered_to) : interval.begin;
    if (interval.end <= begin) continue;
    total += interval.end - begin;
    covered_to = interval.end;
    any = true;
  }
  return total;
}

Nanoseconds intersection_length(std::span<const Interval> a, std::span<const Interval> b) {
  Nanoseconds total = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanoseconds begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (begin < end) total += end - begin;
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return total;
}

Nanoseconds difference_length(std::span<const Interval> a, std::span<const Interval> b) {
  Nanoseconds total = 0;
  for (const Interval& interval : a) total += interval.length();
  return total - intersection_length(a, b);
}

}  // namespace stepscope
