#include "base/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace stepscope {
namespace {

std::optional<Nanoseconds> percentile_of(std::vector<Nanoseconds> values, int percent) {
  return percentile(values, percent);
}

TEST(Statistics, HandComputed) {
  EXPECT_EQ(percentile_of({}, 50), std::nullopt);
  EXPECT_EQ(percentile_of({7}, 90), 7);
  EXPECT_EQ(percentile_of({30, 10, 20}, 50), 20);
  EXPECT_EQ(percentile_of({40, 10, 20, 30}, 50), 20);  // two of four do not exceed 20
  EXPECT_EQ(percentile_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 90), 9);
  EXPECT_EQ(percentile_of({0, 100}, 90), 100);
  EXPECT_EQ(percentile_of({5, 1, 9}, 0), 1);
  EXPECT_EQ(percentile_of({5, 1, 9}, 100), 9);
}

TEST(Statistics, DeviationIgnoresTheOutlier) {
  const std::vector<Nanoseconds> values{10, 12, 11, 13, 1000};
  EXPECT_EQ(median_absolute_deviation(values), 1);  // median 12, distances 2 0 1 1 988
  EXPECT_EQ(median_absolute_deviation({}), std::nullopt);
}

TEST(Statistics, AgreesWithSortingFirst) {
  EXPECT_TRUE(rc::check("the percentile is the first sorted value that enough others do not exceed", [] {
    const auto raw = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000)));
    std::vector<Nanoseconds> values(raw.begin(), raw.end());
    std::vector<Nanoseconds> sorted = values;
    std::ranges::sort(sorted);
    const int percent = *rc::gen::inRange(1, 101);
    std::size_t row = 0;
    while ((row + 1) * 100 < static_cast<std::size_t>(percent) * sorted.size()) ++row;
    RC_ASSERT(percentile(values, percent) == sorted[row]);
  }));
}

}  // namespace
}  // namespace stepscope
