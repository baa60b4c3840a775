#include "base/spread.h"

#include <algorithm>
#include <numeric>

namespace stepscope {

Spread spread(std::span<Nanoseconds> values) {
  if (values.empty()) return {};
  Spread result;
  result.count = static_cast<std::int64_t>(values.size());
  result.total = std::accumulate(values.begin(), values.end(), Nanoseconds{0});
  // Nearest rank: the value of 1-based rank ceil(share · count), in whole numbers.
  const auto place_of = [&](std::size_t percent) { return values.begin() + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1); };
  const auto median = place_of(50), p90 = place_of(90);
  std::nth_element(values.begin(), p90, values.end());
  result.p90 = *p90;
  result.maximum = *std::max_element(p90, values.end());
  std::nth_element(values.begin(), median, p90);
  result.median = *median;
  result.minimum = *std::min_element(values.begin(), median + 1);
  return result;
}

}  // namespace stepscope
