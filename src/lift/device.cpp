// The device was full: an operation was ready and did not start, while a kernel of another stream ran all the time, or ended just then. Kernels of
// communication libraries are not looked at: they leave room.
#include <algorithm>
#include <unordered_map>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr Nanoseconds hand_over = 20'000;    // between the end of the other kernel and the start: the longest gap between queued operations (METRICS.md)
constexpr Nanoseconds early_start = 10'000;  // before the other kernel's end: its last blocks leave room
constexpr int most_looked_at = 32;           // keeps the work linear for any input

struct Ended {
  Nanoseconds end;
  const StreamSlice* slice;
  std::uint32_t stream;
};

// A kernel of another stream that explains why the slice waited from `ready` to its start.
const StreamSlice* kept_waiting(const StreamSlice& slice, std::uint32_t row, Nanoseconds ready, const std::vector<Ended>& ended) {
  auto at = std::ranges::lower_bound(ended, slice.start - hand_over, {}, &Ended::end);
  const StreamSlice* found = nullptr;
  for (int looked_at = 0; at != ended.end() && looked_at < most_looked_at; ++at, ++looked_at) {
    if (at->stream == row || at->slice->start >= slice.start || at->end <= ready) continue;
    const bool handed_over = at->end <= slice.start + early_start;
    const bool ran_all_the_time = at->end >= slice.start && at->slice->start <= ready + hand_over;
    if (!handed_over && !ran_all_the_time) continue;
    found = at->slice;
    if (at->end >= slice.start) break;  // of those that had ended, the last
  }
  return found;
}

}  // namespace

void wait_for_device(Draft& draft) {
  const Column<ReadyTime> ready = ready_times(draft);
  std::unordered_map<DeviceId, std::vector<Ended>> by_device;
  for (std::uint32_t row = 0; row < draft.streams.size(); ++row)
    for (const StreamSlice& slice : draft.streams[row].slices)
      if (draft.builder.operations().operation_class[slice.op] == OperationClass::compute)
        by_device[draft.timeline.tracks[index(draft.streams[row].track)].device].push_back({slice.end, &slice, row});
  for (auto& [device, ended] : by_device) std::ranges::stable_sort(ended, {}, &Ended::end);
  for (std::uint32_t row = 0; row < draft.streams.size(); ++row) {
    const Track& track = draft.timeline.tracks[index(draft.streams[row].track)];
    const std::vector<Ended>& ended = by_device[track.device];
    for (const StreamSlice& slice : draft.streams[row].slices) {
      const ReadyTime& mine = ready[slice.op];
      if (mine.time() == long_ago || !mine.waited_longer(slice.start, draft.typical[index(track.device)])) continue;
      if (const StreamSlice* other = kept_waiting(slice, row, mine.time(), ended))
        draft.waits.push_back({.operation = slice.op,
                               .on = Moment::end(other->op),
                               .time = std::min(other->end, slice.start),
                               .offset = std::min<Nanoseconds>(0, slice.start - other->end),
                               .kind = DependencyKind::device});
    }
  }
}

}  // namespace stepscope
