// Steps from the period of the launch sequence, for captures that nobody marked. A kernel that is launched once per step comes back at equal distances in the
// sequence of launches; what lies between two of its launches repeats, launch for launch.
//
// Layers of one forward pass repeat as well. So a period counts as a step only when each holds what a layer does not: optimizer work, both forward and backward
// work, or a transfer between host and device or a synchronisation; and when no operator or module call of the model spans several of them.
#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
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
  bool meets_host;  // moves data between host and device, or follows a call that blocks
  SliceId call;
};

bool crosses_host(std::string_view copy) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"HtoD", "DtoH", "HostToDevice", "DeviceToHost"},
                             [&](std::string_view direction) { return copy.find(direction) != std::string_view::npos; });
}

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
    sequence.push_back({s.start[call], s.name[id], facts.phase[id], s.kind[id] == SliceKind::copy && crosses_host(timeline.name_of(id)), call});
  }
  std::ranges::stable_sort(sequence, {}, &Launch::begin);
  // Blocking calls of the rank mark the launch that follows them.
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_api_call(s.kind[row]) || !facts.api_calls[s.name[row]].blocks || timeline.tracks[index(s.track[row])].rank != rank) continue;
    const auto next = std::ranges::upper_bound(sequence, s.start[row], {}, &Launch::begin);
    if (next != sequence.end()) next->meets_host = true;
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
    const auto odd = static_cast<std::size_t>(std::ranges::count_if(distances, [&](Nanoseconds d) {
      return static_cast<double>(d) < period * (1 - distance_tolerance) || static_cast<double>(d) > period * (1 + distance_tolerance);
    }));
    // The first step often does less (nothing to reset yet), the odd one logs or evaluates.
    const std::size_t odd_allowed = distances.size() < 4 ? 0 : std::max<std::size_t>(1, distances.size() / 10);
    const bool equal = odd <= odd_allowed;
    if (equal) found.push_back({static_cast<std::size_t>(period), std::move(at)});
  }
  std::ranges::sort(found, [](const Anchor& a, const Anchor& b) { return a.period != b.period ? a.period < b.period : a.places.front() < b.places.front(); });
  return found;
}

bool is_module_call(const Timeline& timeline, SliceId id) {
  const auto fact =
      std::lower_bound(timeline.python.begin(), timeline.python.end(), id, [](const PythonFact& other, SliceId wanted) { return other.slice < wanted; });
  return fact != timeline.python.end() && fact->slice == id && fact->module != 0xFFFF'FFFFu;
}

// The outermost operator or module call around a launch: what the model itself calls. no_id where there is none.
SliceId model_call(const Timeline& timeline, const Facts& facts, SliceId call) {
  constexpr int deepest = 1'000;  // calls: keeps the work linear for any input
  SliceId outermost = no_id<SliceId>;
  int depth = 0;
  for (SliceId id = facts.parent[call]; id != no_id<SliceId> && depth < deepest; id = facts.parent[id], ++depth) {
    const SliceKind kind = timeline.slices.kind[id];
    if (kind == SliceKind::operation || (kind == SliceKind::python_function && is_module_call(timeline, id))) outermost = id;
  }
  return outermost;
}

// Whether one call of the model spans two launches of the anchor: then the anchor marks layers.
bool marks_layers(const Timeline& timeline, const Facts& facts, const std::vector<Launch>& sequence, const Anchor& anchor) {
  SliceId previous = no_id<SliceId>;
  for (const std::size_t place : anchor.places) {
    const SliceId around = model_call(timeline, facts, sequence[place].call);
    if (around != no_id<SliceId> && around == previous) return true;
    previous = around;
  }
  return false;
}

// Whether what follows each launch of the anchor repeats, and each repetition is more than a layer.
bool repeats_steps(const std::vector<Launch>& sequence, const Anchor& anchor) {
  const std::vector<std::size_t>& at = anchor.places;
  std::size_t alike = 0, compared = 0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const std::size_t length = at[i + 1] - at[i];
    bool meets_host = false, optimizer = false, forward = false, backward = false;
    for (std::size_t j = 0; j < length; ++j) {
      const Launch& launch = sequence[at[i] + j];
      meets_host |= launch.meets_host;
      optimizer |= launch.phase == Phase::optimizer;
      forward |= launch.phase == Phase::forward;
      backward |= launch.phase == Phase::backward;
      if (i + 2 < at.size()) {
        ++compared;
        alike += at[i + 1] + j < at[i + 2] && launch.name == sequence[at[i + 1] + j].name;
      }
    }
    if (!meets_host && !optimizer && !(forward && backward)) return false;
  }
  // The sequence must be steps for the most part, not a loop somewhere in it.
  const std::size_t outside = at.front() + (sequence.size() - at.back());
  return static_cast<double>(alike) >= least_alike * static_cast<double>(compared) && outside <= 2 * anchor.period + 1;
}

// How many launches before the anchor's a step begins: after the optimizer's last launch, else where the host typically paused longest.
std::size_t lead_of(const std::vector<Launch>& sequence, const Anchor& anchor) {
  std::size_t longest_lead = 0;
  Nanoseconds longest = -1;
  for (std::size_t lead = 0; lead < anchor.period; ++lead) {
    std::vector<Nanoseconds> pauses;
    std::size_t after_optimizer = 0;
    for (const std::size_t place : anchor.places) {
      if (place < lead + 1) continue;
      const Launch &launch = sequence[place - lead], &before = sequence[place - lead - 1];
      pauses.push_back(launch.begin - before.begin);
      after_optimizer += before.phase == Phase::optimizer && launch.phase != Phase::optimizer;
    }
    if (pauses.empty()) break;
    if (after_optimizer * 2 > pauses.size()) return lead;
    if (const Nanoseconds typical = *median(pauses); typical > longest) {
      longest = typical;
      longest_lead = lead;
    }
  }
  return longest_lead;
}

}  // namespace

RankSteps steps_from_launch_period(const Timeline& timeline, const Facts& facts, RankId rank) {
  RankSteps found;
  const std::vector<Launch> sequence = launch_sequence(timeline, facts, rank);
  if (sequence.size() < fewest_steps * shortest_period) return found;
  const std::vector<Anchor> candidates = anchors(sequence);
  const Anchor* best = nullptr;
  std::size_t tried = 0, last_period = 0;
  for (const Anchor& candidate : candidates) {  // the shortest period that holds whole steps
    tried += candidate.period != last_period;
    last_period = candidate.period;
    if (tried > most_periods_tried) break;
    if (!repeats_steps(sequence, candidate) || marks_layers(timeline, facts, sequence, candidate)) continue;
    best = &candidate;
    break;
  }
  if (best == nullptr) return found;
  const SliceColumns& s = timeline.slices;
  Nanoseconds last_end = sequence.back().begin + 1;
  for (const DeviceFacts& device : facts.devices)
    if (device.rank == rank && !device.slices.empty()) last_end = std::max(last_end, s.start[device.slices[device.slices.size() - 1]]);
  std::vector<Nanoseconds> begins;
  const std::size_t lead = lead_of(sequence, *best);
  for (const std::size_t place : best->places) begins.push_back(sequence[place > lead ? place - lead : 0].begin);
  begins.push_back(last_end);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    if (begins[i + 1] > begins[i]) found.steps.push_back({static_cast<std::int64_t>(i), {begins[i], begins[i + 1]}, 0, false});
  complete_steps(found.steps);
  found.source = StepSource::launch_period;
  found.found_by = fmt::format("the period of the launch sequence ({} launches)", best->period);
  return found;
}

}  // namespace stepscope
