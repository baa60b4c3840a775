// The device was full: an operation was ready and did not start, while a kernel of another stream ran all the time, or ended just then. Kernels of
// communication libraries are not looked at: they leave room.
#include <algorithm>
#include <unordered_map>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr int most_looked_at = 32;  // keeps the work linear for any input

// A kernel of another stream that explains why the slice waited from `ready` to its start.
const StreamSlice* kept_waiting(const StreamSlice& slice, std::uint32_t row, Nanoseconds ready, const std::vector<EndedSlice>& ended) {
  auto at = std::ranges::lower_bound(ended, slice.start - longest_scheduling_gap, {}, &EndedSlice::end);
  const StreamSlice* found = nullptr;
  for (int looked_at = 0; at != ended.end() && looked_at < most_looked_at; ++at, ++looked_at) {
    if (at->stream == row || at->slice->start >= slice.start || at->end <= ready) continue;
    const bool handed_over = at->end <= slice.start + longest_early_start;
    const bool ran_all_the_time = at->end >= slice.start && at->slice->start <= ready + longest_scheduling_gap;
    if (!handed_over && !ran_all_the_time) continue;
    found = at->slice;
    if (at->end >= slice.start) break;  // of those that had ended, the last
  }
  return found;
}

}  // namespace

void wait_for_device(Draft& draft) {
  const Column<ReadyTime> ready = ready_times(draft);
  std::unordered_map<DeviceId, std::vector<EndedSlice>> by_device = slices_by_end(draft);
  for (auto& [device, ended] : by_device)
    std::erase_if(ended, [&](const EndedSlice& one) { return draft.builder.operations().operation_class[one.slice->op] != OperationClass::compute; });
  for (std::uint32_t row = 0; row < draft.streams.size(); ++row) {
    const Track& track = draft.timeline.tracks[index(draft.streams[row].track)];
    const std::vector<EndedSlice>& ended = by_device[track.device];
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
