#include "base/spread.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace stepscope {
namespace {

TEST(Spread, OfNothingIsZero) {
  EXPECT_EQ(spread({}).count, 0);
}

TEST(Spread, NearestRankOfTen) {
  std::vector<Nanoseconds> values{10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  const Spread s = spread(values);
  EXPECT_EQ(s.count, 10);
  EXPECT_EQ(s.total, 55);
  EXPECT_EQ(s.minimum, 1);
  EXPECT_EQ(s.median, 5);  // five of ten do not exceed 5
  EXPECT_EQ(s.p90, 9);
  EXPECT_EQ(s.maximum, 10);
}

TEST(Spread, OneValueIsEveryQuantile) {
  std::vector<Nanoseconds> values{42};
  const Spread s = spread(values);
  EXPECT_EQ(s.minimum, 42);
  EXPECT_EQ(s.median, 42);
  EXPECT_EQ(s.p90, 42);
  EXPECT_EQ(s.maximum, 42);
}

RC_GTEST_PROP(Spread, EqualsTheSortedList, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<Nanoseconds>>(rc::gen::inRange<Nanoseconds>(0, 50)));
  auto sorted = values;
  std::ranges::sort(sorted);
  const Spread s = spread(values);
  const auto smallest_covering = [&](std::size_t percent) {
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if ((i + 1) * 100 >= percent * sorted.size()) return sorted[i];
    return sorted.back();
  };
  RC_ASSERT(s.minimum == sorted.front());
  RC_ASSERT(s.maximum == sorted.back());
  RC_ASSERT(s.median == smallest_covering(50));
  RC_ASSERT(s.p90 == smallest_covering(90));
}

}  // namespace
}  // namespace stepscope
