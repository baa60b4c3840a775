#include "report/view_windows.h"

#include <algorithm>
#include <cstdint>

namespace stepscope {

namespace {

constexpr std::size_t most_candidates = 48;  // steps looked at per rank: counting slices costs a search per track
constexpr std::size_t slow_steps_shown = 3;

// Indices into steps, in the order in which they deserve to be shown whole.
std::vector<std::size_t> by_interest(const std::vector<Step>& steps) {
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (order.empty()) return order;
  std::vector<std::size_t> by_time = order;
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return steps[a].step_time < steps[b].step_time; });
  // The median of the steps that are not outliers: the typical one.
  std::vector<std::size_t> regular;
  std::copy_if(by_time.begin(), by_time.end(), std::back_inserter(regular), [&](std::size_t i) { return !steps[i].outlier; });
  const std::size_t typical = regular.empty() ? by_time[by_time.size() / 2] : regular[regular.size() / 2];

  std::vector<std::size_t> chosen = {typical};
  const auto add = [&](std::size_t i) {
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  };
  for (std::size_t slow = 0; slow < std::min(slow_steps_shown, by_time.size()); ++slow) add(by_time[by_time.size() - 1 - slow]);
  // Neighbours of the typical step next: a stretch that can be read from one step into the next.
  for (std::size_t away = 1; away < steps.size() && chosen.size() < most_candidates; ++away) {
    if (typical + away < steps.size()) add(typical + away);
    if (away <= typical) add(typical - away);
  }
  return chosen;
}

std::uint64_t slices_starting_in(const Timeline& timeline, RankId rank, Interval window) {
  std::uint64_t count = 0;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].rank != rank) continue;
    const std::span<const SliceId> slices = timeline.on_track(TrackId{static_cast<std::uint32_t>(t)});
    const auto before = [&](SliceId slice, Nanoseconds time) { return timeline.slices.start[slice] < time; };
    const auto first = std::lower_bound(slices.begin(), slices.end(), window.begin, before);
    count += static_cast<std::uint64_t>(std::lower_bound(first, slices.end(), window.end, before) - first);
  }
  return count;
}

std::vector<Interval> merged(std::vector<Interval> windows) {
  std::sort(windows.begin(), windows.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& window : windows) {
    if (!result.empty() && window.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, window.end);
    } else {
      result.push_back(window);
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<Interval>> choose_whole_windows(const Timeline& timeline, const Facts& facts, std::size_t most_slices) {
  std::vector<std::vector<Interval>> result(timeline.ranks.size());
  if (timeline.ranks.empty()) return result;
  const std::size_t per_rank = most_slices / timeline.ranks.size();
  for (std::size_t r = 0; r < timeline.ranks.size() && r < facts.steps.size(); ++r) {
    const auto rank = RankId{static_cast<std::uint32_t>(r)};
    const std::vector<Step>& steps = facts.steps[r].steps;
    std::vector<Interval> windows;
    std::uint64_t used = 0;
    for (const std::size_t s : by_interest(steps)) {
      Interval window = steps[s].annotation;
      for (const DeviceFacts& device : facts.devices) {
        if (device.rank != rank) continue;
        for (const StepWindow& on_device : device.windows) {
          if (on_device.step == s) window.end = std::max(window.end, on_device.window.end);
        }
      }
      const std::uint64_t slices = slices_starting_in(timeline, rank, window);
      if (used + slices > per_rank) break;
      used += slices;
      windows.push_back(window);
    }
    result[r] = merged(std::move(windows));
  }
  return result;
}

}  // namespace stepscope
