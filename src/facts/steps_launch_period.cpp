// Steps from the period of the launch sequence, for captures that nobody marked. A kernel that is launched once per step comes back at equal distances in the
// sequence of launches; what lies between two of its launches repeats, launch for launch.
//
// Layers of one forward pass repeat as well. So a period counts as a step only when each holds what a layer does not: optimizer work, both forward and backward
// work, or a copy or synchronisation that the host makes once per step.
#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "base/statistics.h"
#include "facts/derive.h"
#include "facts/steps.h"

namespace stepscope {

namespace {

constexpr std::size_t fewest_steps = 3;
constexpr std::size_t shortest_period = 4;  // launches
constexpr std::size_t most_periods_tried = 32;
constexpr double least_alike = 0.9;          // share of a period's launches that the next one repeats
constexpr double distance_tolerance = 0.05;  // of the period, for the distance of an anchor's launches

struct Launch {
  Nanoseconds begin;
  NameId name;  // of the first kernel it launched
  Phase phase;
  bool copies_or_waits;  // a copy, or the first launch after one or after a blocking call
};

// The launches of kernels and copies into the rank's busiest device, in order of time.
std::vector<Launch> launch_sequence(const Timeline& timeline, const Facts& facts, RankId rank) {
  const SliceColumns& s = timeline.slices;
  const DeviceFacts* busiest = nullptr;
  for (const DeviceFacts& device : facts.devices)
    if (device.rank == rank && (busiest == nullptr || device.slices.size() > busiest->slices.size())) busiest = &device;
  if (busiest == nullptr) return {};
  std::vector<Launch> sequence;
  std::unordered_map<SliceId, std::size_t> row_of_call;
  for (const SliceId id : busiest->slices) {
    const SliceId call = facts.launch[id];
    if (call == no_id<SliceId> || !row_of_call.try_emplace(call, sequence.size()).second) continue;
    sequence.push_back({s.start[call], s.name[id], facts.phase[id], s.kind[id] == SliceKind::copy});
  }
  std::ranges::stable_sort(sequence, {}, &Launch::begin);
  // Blocking calls of the rank mark the launch that follows them.
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_api_call(s.kind[row]) || !facts.api_calls[s.name[row]].blocks || timeline.tracks[index(s.track[row])].rank != rank) continue;
    const auto next = std::ranges::upper_bound(sequence, s.start[row], {}, &Launch::begin);
    if (next != sequence.end()) next->copies_or_waits = true;
  }
  return sequence;
}

struct Anchor {
  std::size_t period = 0;           // launches, typical
  std::vector<std::size_t> places;  // in the sequence
};

// Names that come back at equal distances, and how far apart.
std::vector<Anchor> anchors(const std::vector<Launch>& sequence) {
  std::unordered_map<NameId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < sequence.size(); ++i) places[sequence[i].name].push_back(i);
  std::vector<Anchor> found;
  for (auto& [name, at] : places) {
    if (at.size() < fewest_steps) continue;
    std::vector<Nanoseconds> distances;
    for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(static_cast<Nanoseconds>(at[i] - at[i - 1]));
    const auto period = static_cast<double>(*median(distances));
    if (period < static_cast<double>(shortest_period)) continue;
    const bool equal = std::ranges::all_of(distances, [&](Nanoseconds d) {
      return static_cast<double>(d) >= period * (1 - distance_tolerance) && static_cast<double>(d) <= period * (1 + distance_tolerance);
    });
    if (equal) found.push_back({static_cast<std::size_t>(period), std::move(at)});
  }
  std::ranges::sort(found, [](const Anchor& a, const Anchor& b) { return a.period != b.period ? a.period < b.period : a.places.front() < b.places.front(); });
  return found;
}

// Whether what follows each launch of the anchor repeats, and each repetition is more than a layer.
bool repeats_steps(const std::vector<Launch>& sequence, const Anchor& anchor) {
  const std::vector<std::size_t>& at = anchor.places;
  std::size_t alike = 0, compared = 0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const std::size_t length = at[i + 1] - at[i];
    bool copies_or_waits = false, optimizer = false, forward = false, backward = false;
    for (std::size_t j = 0; j < length; ++j) {
      const Launch& launch = sequence[at[i] + j];
      copies_or_waits |= launch.copies_or_waits;
      optimizer |= launch.phase == Phase::optimizer;
      forward |= launch.phase == Phase::forward;
      backward |= launch.phase == Phase::backward;
      if (i + 2 < at.size()) {
        ++compared;
        alike += at[i + 1] + j < at[i + 2] && launch.name == sequence[at[i + 1] + j].name;
      }
    }
    if (!copies_or_waits && !optimizer && !(forward && backward)) return false;
  }
  // The sequence must be steps for the most part, not a loop somewhere in it.
  const std::size_t outside = at.front() + (sequence.size() - at.back());
  return static_cast<double>(alike) >= least_alike * static_cast<double>(compared) && outside <= 2 * anchor.period + 1;
}

// Of anchors with one period, the one before which the host paused longest: there a step begins.
Nanoseconds typical_pause(const std::vector<Launch>& sequence, const Anchor& anchor) {
  std::vector<Nanoseconds> pauses;
  for (const std::size_t at : anchor.places)
    if (at > 0) pauses.push_back(sequence[at].begin - sequence[at - 1].begin);
  return median(pauses).value_or(0);
}
bool follows_optimizer(const std::vector<Launch>& sequence, const Anchor& anchor) {
  return std::ranges::all_of(anchor.places,
                             [&](std::size_t at) { return sequence[at].phase != Phase::optimizer && (at == 0 || sequence[at - 1].phase == Phase::optimizer); });
}

}  // namespace

RankSteps steps_from_launch_period(const Timeline& timeline, const Facts& facts, RankId rank) {
  RankSteps found;
  const std::vector<Launch> sequence = launch_sequence(timeline, facts, rank);
  if (sequence.size() < fewest_steps * shortest_period) return found;
  const std::vector<Anchor> candidates = anchors(sequence);
  const Anchor* best = nullptr;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < candidates.size() && tried < most_periods_tried; ++i) {
    const bool same_period = i > 0 && candidates[i].period == candidates[i - 1].period;
    if (best != nullptr && !same_period) break;
    if (best == nullptr) {
      tried += !same_period;
      if (repeats_steps(sequence, candidates[i])) best = &candidates[i];
      continue;
    }
    const bool mine = follows_optimizer(sequence, candidates[i]), theirs = follows_optimizer(sequence, *best);
    if (mine != theirs ? mine : typical_pause(sequence, candidates[i]) > typical_pause(sequence, *best)) best = &candidates[i];
  }
  if (best == nullptr) return found;
  const SliceColumns& s = timeline.slices;
  Nanoseconds last_end = sequence.back().begin + 1;
  for (const DeviceFacts& device : facts.devices)
    if (device.rank == rank && !device.slices.empty()) last_end = std::max(last_end, s.start[device.slices[device.slices.size() - 1]]);
  for (std::size_t i = 0; i < best->places.size(); ++i) {
    const Nanoseconds begin = sequence[best->places[i]].begin;
    const Nanoseconds end = i + 1 < best->places.size() ? sequence[best->places[i + 1]].begin : last_end;
    if (end > begin) found.steps.push_back({static_cast<std::int64_t>(i), {begin, end}, 0, false});
  }
  complete_steps(found.steps);
  found.source = StepSource::launch_period;
  found.found_by = fmt::format("what the launches repeat every {} calls; nothing marked the steps", best->period);
  return found;
}

}  // namespace stepscope
