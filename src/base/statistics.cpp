#include "base/statistics.h"

#include <algorithm>
#include <vector>

namespace stepscope {

std::optional<Nanoseconds> percentile(std::span<Nanoseconds> values, int percent) {
  if (values.empty()) return std::nullopt;
  const auto share = static_cast<std::size_t>(std::clamp(percent, 0, 100));
  const std::size_t rank = std::max(std::size_t{1}, (values.size() * share + 99) / 100);  // 1-based, ceil(share · count) in whole numbers
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::optional<Nanoseconds> median(std::span<Nanoseconds> values) {
  return percentile(values, 50);
}

std::optional<Nanoseconds> median_absolute_deviation(std::span<const Nanoseconds> values) {
  std::vector<Nanoseconds> distances(values.begin(), values.end());
  const std::optional<Nanoseconds> middle = median(distances);
  if (!middle) return std::nullopt;
  for (Nanoseconds& distance : distances) distance = distance < *middle ? *middle - distance : distance - *middle;
  return median(distances);
}

}  // namespace stepscope
