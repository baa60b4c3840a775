// The steps of each rank, by what marks them best: the profiler's own annotations, else a user's ranges that repeat, else what the launches repeat.
#include "facts/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "base/statistics.h"
#include "facts/derive.h"

namespace stepscope {

std::string_view step_source_name(StepSource source) {
  static constexpr std::string_view names[] = {"none", "ProfilerStep annotations", "user ranges", "launch period"};
  return names[static_cast<std::size_t>(source)];
}

namespace {

constexpr std::string_view profiler_step_prefix = "ProfilerStep#";

// A step is far from the median when it lies outside of `deviations` median absolute deviations (5 MADs are 3.4 standard deviations of normal values) and is
// off by more than `least_share` of the median: steady runs have tiny deviations, and a percent more is nothing to speak of.
constexpr std::int64_t deviations = 5;
constexpr double least_share = 0.1;

std::optional<std::int64_t> step_number(std::string_view name) {
  if (!name.starts_with(profiler_step_prefix)) return std::nullopt;
  name.remove_prefix(profiler_step_prefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || (end != name.data() + name.size() && *end != '#')) return std::nullopt;
  return number;
}

}  // namespace

void complete_steps(std::vector<Step>& steps) {
  std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.annotation.begin; });
  for (std::size_t i = steps.size(); i-- > 0;) {
    Step& step = steps[i];
    step.step_time = step.annotation.length();
    // The next one that starts later: several threads may mark the same moment.
    const auto next = std::ranges::upper_bound(steps, step.annotation.begin, {}, [](const Step& other) { return other.annotation.begin; });
    if (next != steps.end()) step.step_time = next->annotation.begin - step.annotation.begin;
    step.outlier = i == 0 || i + 1 == steps.size();
  }
  std::vector<Nanoseconds> times;
  for (const Step& step : steps)
    if (!step.outlier) times.push_back(step.step_time);
  const auto spread = median_absolute_deviation(times), middle = median(times);
  if (!middle) return;
  for (Step& step : steps) {
    const Nanoseconds distance = step.step_time < *middle ? *middle - step.step_time : step.step_time - *middle;
    if (distance / deviations > *spread && static_cast<double>(distance) > least_share * static_cast<double>(*middle)) step.outlier = true;
  }
}

std::string thread_label(const Timeline& timeline, TrackId id) {
  const Track& track = timeline.tracks[index(id)];
  return track.label.empty() ? fmt::format("thread {}", timeline.names[track.thread]) : track.label;
}

std::vector<RankSteps> steps_from_profiler(const Timeline& timeline) {
  const SliceColumns& s = timeline.slices;
  std::vector<RankSteps> found(timeline.ranks.size());
  constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();
  Column<std::int64_t> number_of_name;
  number_of_name.resize(timeline.names.size(), no_step);
  bool any = false;
  for (std::size_t row = 0; row < timeline.names.size(); ++row) {
    const auto number = step_number(timeline.names[NameId{static_cast<std::uint32_t>(row)}]);
    if (number) number_of_name[row] = *number;
    any |= number.has_value();
  }
  if (!any) return found;
  std::vector<std::unordered_map<std::int64_t, SliceId>> by_number(timeline.ranks.size());  // of several annotations of one step, the one written last
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (number_of_name[s.name[row]] == no_step) continue;
    // On a device row the same name says where the step's device work lay, not when the step ran.
    if (is_device_activity(s.kind[row]) || is_api_call(s.kind[row]) || s.kind[row] == SliceKind::device_annotation) continue;
    const SliceId id{static_cast<std::uint32_t>(row)};
    const std::size_t rank = index(timeline.track_of(id).rank);
    const auto [known, fresh] = by_number[rank].try_emplace(number_of_name[s.name[row]], id);
    if (fresh) continue;
    // Several threads may mark one step; the same number at another time is another run of the loop, or a damaged file.
    if (s.start[id] >= s.end(known->second) || s.start[known->second] >= s.end(id)) ++found[rank].repeated;
    known->second = id;
  }
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    TrackId thread{};
    for (const auto& [number, id] : by_number[rank]) {
      found[rank].steps.push_back({number, {s.start[id], s.end(id)}, 0, false});
      thread = s.track[id];
    }
    if (found[rank].steps.empty()) continue;
    std::ranges::sort(found[rank].steps, {}, &Step::number);
    complete_steps(found[rank].steps);
    found[rank].source = StepSource::profiler_step;
    found[rank].found_by = fmt::format("ProfilerStep annotations on {}", thread_label(timeline, thread));
  }
  return found;
}

void find_steps(const Timeline& timeline, Facts& facts) {
  facts.steps = steps_from_profiler(timeline);
  for (std::size_t row = 0; row < timeline.ranks.size(); ++row) {
    const RankId rank{static_cast<std::uint32_t>(row)};
    if (facts.steps[row].steps.empty()) facts.steps[row] = steps_from_user_ranges(timeline, rank);
    if (facts.steps[row].steps.empty()) facts.steps[row] = steps_from_launch_period(timeline, facts, rank);
  }
}

}  // namespace stepscope
