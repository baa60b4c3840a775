#include "simulate/step_length.h"

#include <algorithm>
#include <map>

namespace stepscope {

std::vector<std::uint32_t> representative_windows(const Lifted& lifted) {
  const auto chosen = [&](bool on_devices, bool steady) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < lifted.windows.size(); ++row) {
      const GraphWindow& window = lifted.windows[row];
      if ((window.device != no_id<DeviceId>) == on_devices && !(steady && window.outlier)) rows.push_back(row);
    }
    return rows;
  };
  for (const bool on_devices : {true, false})
    for (const bool steady : {true, false})
      if (std::vector<std::uint32_t> rows = chosen(on_devices, steady); !rows.empty()) return rows;
  return {};
}

double step_length(const Lifted& lifted, const ReplayTimes& times, const std::vector<std::uint32_t>& windows) {
  std::map<std::int64_t, Nanoseconds> longest;  // by step number
  for (const std::uint32_t row : windows) {
    const GraphWindow& window = lifted.windows[row];
    const std::int64_t step = window.step == no_step ? -1 : window.number;
    Nanoseconds& length = longest.try_emplace(step, 0).first->second;
    length = std::max(length, times[window.end] - times[window.begin]);
  }
  double sum = 0;
  for (const auto& [step, length] : longest) sum += static_cast<double>(length);
  return longest.empty() ? 0 : sum / static_cast<double>(longest.size());
}

}  // namespace stepscope
