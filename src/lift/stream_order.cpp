// Stream order: an operation waits for those before it on its stream. Where operations of one stream overlap it waits for those that had ended when it
// started; and where it started shortly before the end of the one before it (a programmatic launch, the device's own clock), for that one, with a negative lag.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr std::size_t most_recent = 8;               // operations of a stream that may still be running
constexpr Nanoseconds longest_early_start = 10'000;  // before the end of the operation before, and at most half of its duration

bool ended(const StreamSlice& before, const StreamSlice& slice) {
  if (before.end <= slice.start) return true;
  const Nanoseconds early = before.end - slice.start;
  return before.start < slice.start && early <= longest_early_start && early * 2 <= before.end - before.start;
}

}  // namespace

void wait_for_streams(Draft& draft) {
  std::vector<const StreamSlice*> recent;
  for (const Stream& stream : draft.streams) {
    recent.clear();
    for (const StreamSlice& slice : stream.slices) {
      // The one that ended last of those that had ended; and those that ran beside it.
      const StreamSlice* last = nullptr;
      for (const StreamSlice* before : recent)
        if (ended(*before, slice) && (last == nullptr || before->end >= last->end)) last = before;
      if (last != nullptr) {
        for (const StreamSlice* before : recent) {
          const bool beside = before != last && ended(*before, slice) && before->end > last->start;
          if (before == last || beside)
            draft.waits.push_back({.operation = slice.op,
                                   .on = Moment::end(before->op),
                                   .time = std::min(before->end, slice.start),
                                   .offset = std::min<Nanoseconds>(0, slice.start - before->end),
                                   .kind = DependencyKind::stream_order});
        }
      }
      if (recent.size() == most_recent) recent.erase(recent.begin());
      recent.push_back(&slice);
    }
  }
}

}  // namespace stepscope
