// The items of a TimelineView as bytes for the page (web/src/data/columns.ts reads them): eight columns, each a 32-bit little-endian length and then that
// many bytes of LEB128 numbers, over all lanes in order. Small differences make small numbers, and like stands beside like, so that gzip finds it.
//
//   gaps        per item: its start less the end of the item before it in the lane (first item: less the view's begin)
//   durations   per item
//   labels      per item
//   runs        single items, then blocks, then single items, … in turns, over all lanes
//   blocks      per block: count, busy, longest, shade
//   details     per single item: 0 = the detail that the last item of this label had (none at first), 1 = none, 2 + n = detail n
//   launches    per single item of stream tracks: 0 = none, else 1 + zigzag of its launch's item less the launch item last given
//   operations  per single item of stream tracks: 0 = the operator that encloses the launch (if any), else 1 + zigzag as for launches
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/timeline_view.h"

namespace stepscope {

struct TimelineColumns {
  std::string bytes;
  std::vector<NameId> details;         // detail n of the page; in order of first use
  std::uint64_t details_left_out = 0;  // single items whose detail did not fit
};

// At most most_details different details are kept. O(items).
TimelineColumns encode_columns(const TimelineView& view, std::size_t most_details);

}  // namespace stepscope
