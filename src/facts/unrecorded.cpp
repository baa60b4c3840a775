// Launches without a device record: how many, and the stretches of device time in which kernels ran that the capture does not show.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "facts/derive.h"

namespace stepscope {

namespace {

using Process = std::pair<RankId, NameId>;

bool is_launch(const Facts& facts, const SliceColumns& s, SliceId id) {
  return is_api_call(s.kind[id]) && launches_work(facts.api_calls[s.name[id]].role);
}

// Marks the calls that own device slices, and the calls around them.
std::vector<bool> recorded_calls(const Timeline& timeline, const Facts& facts) {
  const SliceColumns& s = timeline.slices;
  std::vector<bool> recorded(s.size(), false);
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_device_activity(s.kind[row])) continue;
    for (SliceId call = facts.launch[row]; call != no_id<SliceId> && is_api_call(s.kind[call]) && !recorded[index(call)]; call = facts.parent[call])
      recorded[index(call)] = true;
  }
  return recorded;
}

// Ranks whose device rows carry no ids at all cannot tell which launches have records.
std::vector<bool> ranks_that_tell(const Timeline& timeline) {
  const SliceColumns& s = timeline.slices;
  std::vector<bool> tells(timeline.ranks.size(), false), any(timeline.ranks.size(), false);
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_device_activity(s.kind[row])) continue;
    const std::size_t rank = index(timeline.tracks[index(s.track[row])].rank);
    any[rank] = true;
    if (s.correlation[row] != no_number) tells[rank] = true;
  }
  for (std::size_t rank = 0; rank < any.size(); ++rank) tells[rank] = tells[rank] || !any[rank];
  return tells;
}

bool inside_another_launch(const Timeline& timeline, const Facts& facts, SliceId call) {
  if (std::ranges::binary_search(facts.inner_calls, call)) return true;
  for (SliceId outer = facts.parent[call]; outer != no_id<SliceId> && is_api_call(timeline.slices.kind[outer]); outer = facts.parent[outer])
    if (is_launch(facts, timeline.slices, outer)) return true;
  return false;
}

// The stretches of one process: its launches of kernels in order of time.
void find_stretches(const Timeline& timeline, const std::vector<bool>& recorded, std::vector<SliceId>& launches,
                    const std::unordered_map<SliceId, Nanoseconds>& first_start, Nanoseconds capture_end, std::vector<UnrecordedStretch>& found) {
  const SliceColumns& s = timeline.slices;
  std::ranges::sort(launches, [&](SliceId a, SliceId b) { return s.start[a] != s.start[b] ? s.start[a] < s.start[b] : a < b; });
  // From the back: the earliest start of a slice launched at or after each place.
  Nanoseconds next_start = capture_end, next_launch = capture_end;
  std::vector<UnrecordedStretch> backwards;
  for (std::size_t i = launches.size(); i-- > 0;) {
    const SliceId call = launches[i];
    if (recorded[index(call)]) {
      const auto start = first_start.find(call);
      if (start != first_start.end()) next_start = std::min(next_start, start->second);
      next_launch = s.start[call];
      continue;
    }
    const bool continues = i + 1 < launches.size() && !recorded[index(launches[i + 1])];
    if (!continues) backwards.push_back({timeline.track_of(call).rank, {0, std::max(next_start, s.start[call])}, {0, next_launch}, 0});
    UnrecordedStretch& stretch = backwards.back();
    stretch.interval.begin = stretch.launched.begin = s.start[call];
    ++stretch.launches;
  }
  found.insert(found.end(), backwards.rbegin(), backwards.rend());
}

// Merges stretches that overlap (of several processes, or of launches dropped here and there).
void merge_within_ranks(std::vector<UnrecordedStretch>& stretches) {
  std::ranges::stable_sort(stretches, [](const UnrecordedStretch& a, const UnrecordedStretch& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.interval.begin < b.interval.begin;
  });
  std::vector<UnrecordedStretch> merged;
  for (const UnrecordedStretch& stretch : stretches) {
    if (merged.empty() || merged.back().rank != stretch.rank || stretch.interval.begin > merged.back().interval.end) {
      merged.push_back(stretch);
      continue;
    }
    merged.back().interval.end = std::max(merged.back().interval.end, stretch.interval.end);
    merged.back().launched.end = std::max(merged.back().launched.end, stretch.launched.end);
    merged.back().launches += stretch.launches;
  }
  stretches = std::move(merged);
}

}  // namespace

bool KernelLaunches::records_were_lost() const {
  constexpr double tolerated_share = 0.01;
  return static_cast<double>(without_record) > tolerated_share * static_cast<double>(seen);
}

void find_unrecorded_launches(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  const std::vector<bool> recorded = recorded_calls(timeline, facts), tells = ranks_that_tell(timeline);
  facts.kernel_launches.resize(timeline.ranks.size());
  bool any = false;
  for (std::size_t row = 0; row < s.size(); ++row) {
    const SliceId id{static_cast<std::uint32_t>(row)};
    if (!is_launch(facts, s, id) || s.correlation[row] == no_number || !tells[index(timeline.track_of(id).rank)] || inside_another_launch(timeline, facts, id))
      continue;
    const bool of_kernels = launches_kernels(facts.api_calls[s.name[row]].role);
    KernelLaunches& of_rank = facts.kernel_launches[index(timeline.track_of(id).rank)];
    ++facts.launches_seen;
    of_rank.seen += of_kernels;
    if (recorded[row]) continue;
    ++facts.launches_without_record;
    of_rank.without_record += of_kernels;
    any |= of_kernels;
    facts.unrecorded_launches.push_back(id);
  }
  std::sort(facts.unrecorded_launches.begin(), facts.unrecorded_launches.end(),
            [&](SliceId a, SliceId b) { return s.start[a] != s.start[b] ? s.start[a] < s.start[b] : a < b; });
  if (!any) return;

  std::map<Process, std::vector<SliceId>> launches;
  std::unordered_map<SliceId, Nanoseconds> first_start;
  std::vector<Nanoseconds> capture_end(timeline.ranks.size(), 0);
  for (std::size_t row = 0; row < s.size(); ++row) {
    const SliceId id{static_cast<std::uint32_t>(row)};
    const Track& track = timeline.track_of(id);
    if (is_device_activity(s.kind[row]) || is_api_call(s.kind[row])) capture_end[index(track.rank)] = std::max(capture_end[index(track.rank)], s.end(id));
    if (is_device_activity(s.kind[row]) && facts.launch[row] != no_id<SliceId>) {
      const auto [known, fresh] = first_start.try_emplace(facts.launch[row], s.start[row]);
      if (!fresh) known->second = std::min(known->second, s.start[row]);
    }
    if (is_launch(facts, s, id) && launches_kernels(facts.api_calls[s.name[row]].role) && s.correlation[row] != no_number && tells[index(track.rank)] &&
        !inside_another_launch(timeline, facts, id))
      launches[{track.rank, track.owner_process}].push_back(id);
  }
  for (auto& [process, calls] : launches) find_stretches(timeline, recorded, calls, first_start, capture_end[index(process.first)], facts.unrecorded_stretches);
  merge_within_ranks(facts.unrecorded_stretches);
}

}  // namespace stepscope
