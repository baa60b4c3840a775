#include <algorithm>

#include "lift/lift.h"

namespace stepscope {

Interval typical_time(const Timeline& timeline, const Facts& facts, std::size_t most_slices) {
  if (timeline.slices.size() <= most_slices) return whole_time;
  // Of the rank with most steps; the others run the same steps at the same time.
  const RankSteps* steps = nullptr;
  RankId rank{};
  for (std::uint32_t i = 0; i < facts.steps.size(); ++i)
    if (steps == nullptr || facts.steps[i].steps.size() > steps->steps.size()) steps = &facts.steps[i], rank = RankId{i};
  if (steps == nullptr || steps->steps.size() < 3) return whole_time;
  const std::vector<Step>& all = steps->steps;
  // When each step is over, on its thread and on the rank's devices.
  std::vector<Nanoseconds> over;
  for (const Step& step : all) over.push_back(step.annotation.begin + step.step_time);
  for (const DeviceFacts& device : facts.devices)
    if (device.rank == rank)
      for (const StepWindow& window : device.windows) over[window.step] = std::max(over[window.step], window.window.end);
  const std::size_t slices_per_step = std::max<std::size_t>(1, timeline.slices.size() / all.size());
  // Two of the steps are there for what comes before and after.
  const std::size_t wanted = std::max<std::size_t>(1, std::min(all.size() - 2, most_slices / slices_per_step > 2 ? most_slices / slices_per_step - 2 : 1));
  std::size_t best = 1, least_outliers = all.size();
  const std::size_t middle = (all.size() - wanted) / 2;
  for (std::size_t first = 1; first + wanted < all.size(); ++first) {
    const auto outliers =
        static_cast<std::size_t>(std::count_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + wanted),
                                               [](const Step& step) { return step.outlier; }));
    const auto distance = [&](std::size_t at) { return at > middle ? at - middle : middle - at; };
    if (outliers < least_outliers || (outliers == least_outliers && distance(first) < distance(best))) least_outliers = outliers, best = first;
  }
  const std::size_t last = best + wanted - 1;
  // The step behind them as well, as far as it ran while they did: device work of a step is launched ahead.
  return {all[best - 1].annotation.begin, std::max(over[last], last + 1 < all.size() ? all[last + 1].annotation.begin : over[last]) + all[last].step_time / 4};
}

}  // namespace stepscope
