// Stream order: an operation waits for those before it on its stream. Where operations of one stream overlap it waits for those that had ended when it
// started; and where it started shortly before the end of the one before it (a programmatic launch, the device's own clock), for that one, with a negative lag.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr std::size_t most_recent = 8;  // operations of a stream that may still be running

bool ended(const StreamSlice& before, const StreamSlice& slice) {
  if (before.end <= slice.start) return true;
  const Nanoseconds early = before.end - slice.start;
  // At most half of its duration: what overlaps more has no order.
  return before.start < slice.start && early <= longest_early_start && early * 2 <= before.end - before.start;
}

}  // namespace

void wait_for_streams(Draft& draft) {
  for (const Stream& stream : draft.streams) {
    RecentSlices recent(most_recent);
    for (const StreamSlice& slice : stream.slices)
      recent.visit_and_add(
          slice, [&](const StreamSlice& before) { return ended(before, slice); },
          [&](const StreamSlice& before) {
            draft.waits.push_back({.operation = slice.op,
                                   .on = Moment::end(before.op),
                                   .time = std::min(before.end, slice.start),
                                   .offset = std::min<Nanoseconds>(0, slice.start - before.end),
                                   .kind = DependencyKind::stream_order});
          });
  }
}

}  // namespace stepscope
