// A device operation waits for the call that launched it: from the call's start, because a device may begin before the call returns. Inside a CUDA graph only
// what begins the graph does (graph_order.cpp).
#include "lift/draft.h"

namespace stepscope {

void wait_for_launches(Draft& draft) {
  for (const Stream& stream : draft.streams)
    for (const StreamSlice& slice : stream.slices) {
      if (slice.launch == no_id<SliceId>) continue;
      if (const auto begin = draft.begin_of(slice.launch))
        draft.waits.push_back({.operation = slice.op, .on = begin->moment, .time = slice.launched, .offset = begin->offset, .kind = DependencyKind::launch});
    }
}

}  // namespace stepscope
