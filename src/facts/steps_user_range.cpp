// Steps from a user's own ranges (record_function, NVTX): ranges of one name, its digits aside ("step 12", "iteration 3 of 100"), that follow one another on
// one thread without overlap and fill most of the time from the first to the last of them. Of several such names the one that covers most time wins.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "facts/derive.h"
#include "facts/steps.h"

namespace stepscope {

namespace {

constexpr std::size_t fewest_steps = 3;
constexpr double least_filled = 0.6;  // share of the time from the first range to the last that the ranges fill

// Ranges that the framework draws by itself: they repeat within a step or mark a part of it.
bool drawn_by_framework(std::string_view name) {
  for (const std::string_view start : {"Optimizer.", "enumerate(DataLoader)", "DistributedDataParallel.", "nccl:", "gloo:", "hccl:",
                                       "FullyShardedDataParallel.", "FSDP::", "## Call CompiledFxGraph", "Torch-Compiled Region", "ProfilerStep#"})
    if (name.starts_with(start)) return true;
  return false;
}

std::string without_digits(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

std::optional<std::int64_t> first_number(std::string_view name) {
  const std::size_t at = name.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  if (std::from_chars(name.data() + at, name.data() + name.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

struct Ranges {
  std::string name;
  std::vector<SliceId> slices;  // by start
  Nanoseconds filled = 0;
  bool overlap = false;
};

bool could_be_steps(const SliceColumns& s, const Ranges& ranges) {
  if (ranges.overlap || ranges.slices.size() < fewest_steps) return false;
  const Nanoseconds length = s.end(ranges.slices.back()) - s.start[ranges.slices.front()];
  return static_cast<double>(ranges.filled) >= least_filled * static_cast<double>(length);
}

// The numbers in the names where they tell the ranges apart ("step 12"), else their place, from 0.
void number_steps(const Timeline& timeline, const Ranges& ranges, std::vector<Step>& steps) {
  bool rising = true;
  std::optional<std::int64_t> previous;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto number = first_number(timeline.name_of(ranges.slices[i]));
    rising = rising && number && (!previous || *number > *previous);
    previous = number;
    steps[i].number = number.value_or(0);
  }
  if (rising) return;
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int64_t>(i);
}

}  // namespace

RankSteps steps_from_user_ranges(const Timeline& timeline, RankId rank) {
  const SliceColumns& s = timeline.slices;
  RankSteps found;
  Ranges best;
  TrackId best_thread{};
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].kind != TrackKind::thread || timeline.tracks[t].rank != rank) continue;
    std::unordered_map<NameId, std::size_t> row_of_name;  // NameId -> row of `candidates`
    std::unordered_map<std::string, std::size_t> row_of_text;
    std::vector<Ranges> candidates;
    constexpr std::size_t not_a_candidate = static_cast<std::size_t>(-1);
    for (const SliceId id : timeline.on_track(TrackId{static_cast<std::uint32_t>(t)})) {
      if (s.kind[id] != SliceKind::annotation) continue;
      const auto [known, fresh] = row_of_name.try_emplace(s.name[id], not_a_candidate);
      if (fresh && !drawn_by_framework(timeline.name_of(id))) {
        std::string text = without_digits(timeline.name_of(id));
        const auto [row, fresh_text] = row_of_text.try_emplace(text, candidates.size());
        if (fresh_text) candidates.push_back({std::move(text), {}, 0, false});
        known->second = row->second;
      }
      if (known->second == not_a_candidate) continue;
      Ranges& ranges = candidates[known->second];
      if (!ranges.slices.empty() && s.end(ranges.slices.back()) > s.start[id]) ranges.overlap = true;
      ranges.slices.push_back(id);
      ranges.filled += s.duration[id];
    }
    for (Ranges& ranges : candidates) {
      if (!could_be_steps(s, ranges) || ranges.filled <= best.filled) continue;
      best = std::move(ranges);
      best_thread = TrackId{static_cast<std::uint32_t>(t)};
    }
  }
  if (best.slices.empty()) return found;
  for (const SliceId id : best.slices) found.steps.push_back({0, {s.start[id], s.end(id)}, 0, false});
  number_steps(timeline, best, found.steps);
  complete_steps(found.steps);
  found.source = StepSource::user_range;
  found.found_by = fmt::format("the user's ranges \"{}\" on {}", best.name, thread_label(timeline, best_thread));
  return found;
}

}  // namespace stepscope
