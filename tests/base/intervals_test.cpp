#include "base/intervals.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace stepscope {
namespace {

using List = std::vector<Interval>;

List sorted(List list) {
  std::ranges::sort(list, [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return list;
}

// The oracle: every covered nanosecond by itself.
std::set<Nanoseconds> points(const List& list) {
  std::set<Nanoseconds> covered;
  for (const Interval& interval : list)
    for (Nanoseconds t = interval.begin; t < interval.end; ++t) covered.insert(t);
  return covered;
}

Nanoseconds common(const std::set<Nanoseconds>& a, const std::set<Nanoseconds>& b) {
  return std::ranges::count_if(a, [&](Nanoseconds t) { return b.contains(t); });
}

List random_intervals() {
  const auto raw = *rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(rc::gen::inRange(-20, 40), rc::gen::inRange(0, 12)));
  List list;
  for (const auto& [begin, length] : raw) list.push_back({begin, begin + length});
  return sorted(std::move(list));
}

TEST(Intervals, TouchingIntervalsMergeAndEmptyOnesVanish) {
  EXPECT_EQ(merge_intervals(List{{0, 10}, {10, 20}, {25, 25}, {30, 40}, {32, 35}}), (List{{0, 20}, {30, 40}}));
  EXPECT_EQ(union_length(List{{0, 10}, {10, 20}, {25, 25}, {30, 40}, {32, 35}}), 30);
  EXPECT_EQ(union_length({}), 0);
}

TEST(Intervals, HandComputedIntersectionAndDifference) {
  const List a{{0, 10}, {20, 30}}, b{{5, 22}, {29, 50}};
  EXPECT_EQ(intersection_length(a, b), 5 + 2 + 1);
  EXPECT_EQ(difference_length(a, b), 20 - 8);
  EXPECT_EQ(difference_length(b, a), 38 - 8);
}

TEST(Intervals, SweepPartitionsByWhoIsActive) {
  // compute [0,10) [20,30), communication [5,25): alone 0-5, both 5-10, communication alone 10-20, both 20-25, compute alone 25-30, nothing 30-40.
  CoverageSweep<2> sweep(0);
  sweep.add(0, {0, 10});
  sweep.add(1, {5, 25});
  sweep.add(0, {20, 30});
  sweep.advance(40);
  EXPECT_EQ(sweep.time(0b00), 10);
  EXPECT_EQ(sweep.time(0b01), 10);
  EXPECT_EQ(sweep.time(0b10), 10);
  EXPECT_EQ(sweep.time(0b11), 10);
  EXPECT_EQ(sweep.covered(0b11), 30);
  EXPECT_EQ(sweep.covered(0b10, 0b01), 10);
}

TEST(Intervals, SweepClipsToItsBeginAndEnd) {
  CoverageSweep<1> sweep(100);
  sweep.add(0, {0, 110});
  sweep.add(0, {50, 60});
  sweep.add(0, {120, 1000});
  sweep.advance(130);
  EXPECT_EQ(sweep.time(1), 20);
  EXPECT_EQ(sweep.time(0), 10);
}

TEST(Intervals, UnionsAgreeWithEveryNanosecondCounted) {
  EXPECT_TRUE(rc::check("union, intersection, difference", [] {
    const List a = random_intervals(), b = random_intervals();
    const auto pa = points(a), pb = points(b);
    const List ma = merge_intervals(a), mb = merge_intervals(b);
    RC_ASSERT(union_length(a) == static_cast<Nanoseconds>(pa.size()));
    RC_ASSERT(union_length(ma) == union_length(a));
    RC_ASSERT(points(ma) == pa);
    for (std::size_t i = 1; i < ma.size(); ++i) RC_ASSERT(ma[i - 1].end < ma[i].begin);
    RC_ASSERT(intersection_length(ma, mb) == common(pa, pb));
    RC_ASSERT(difference_length(ma, mb) == static_cast<Nanoseconds>(pa.size()) - common(pa, pb));
  }));
}

TEST(Intervals, SweepAgreesWithEveryNanosecondCounted) {
  EXPECT_TRUE(rc::check("coverage of three families within a window", [] {
    const std::array<List, 3> families{random_intervals(), random_intervals(), random_intervals()};
    const Nanoseconds begin = *rc::gen::inRange(-30, 30), end = begin + *rc::gen::inRange(0, 60);
    std::vector<std::pair<Interval, std::size_t>> all;
    for (std::size_t family = 0; family < 3; ++family)
      for (const Interval& interval : families[family]) all.emplace_back(interval, family);
    std::ranges::stable_sort(all, [](const auto& x, const auto& y) { return x.first.begin < y.first.begin; });
    CoverageSweep<3> sweep(begin);
    for (const auto& [interval, family] : all)
      if (interval.begin < end) sweep.add(family, interval);
    sweep.advance(end);
    std::array<Nanoseconds, 8> expected{};
    const std::array<std::set<Nanoseconds>, 3> covered{points(families[0]), points(families[1]), points(families[2])};
    for (Nanoseconds t = begin; t < end; ++t) {
      std::size_t mask = 0;
      for (std::size_t family = 0; family < 3; ++family) mask |= std::size_t{covered[family].contains(t)} << family;
      ++expected[mask];
    }
    for (std::size_t mask = 0; mask < 8; ++mask) RC_ASSERT(sweep.time(mask) == expected[mask]);
  }));
}

}  // namespace
}  // namespace stepscope
