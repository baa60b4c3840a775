// Which lane of its track each slice is drawn in. On a thread lanes are call depths; on a stream the activity comes first (a second lane only where slices
// overlap), annotations and synchronisation records below it. Slices of one lane never overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.h"
#include "timeline/timeline.h"

namespace stepscope {

struct LaneLayout {
  struct TrackLanes {
    TrackId track{};
    std::uint32_t first_lane = 0, lanes = 0;
  };
  std::vector<TrackLanes> tracks;    // tracks with slices, threads before streams, else in order of the timeline
  Column<SliceId> slices;            // by lane, then by start
  Column<Nanoseconds> start, end;    // of those slices, beside them: most of what is asked of a lane needs no more
  std::vector<std::uint32_t> first;  // lanes + 1 entries into slices
  std::uint64_t left_out = 0;        // slices beyond the limits of tracks or lanes
};

// O(slices). At most most_tracks tracks, at most most_lanes lanes in each.
LaneLayout lay_out_lanes(const Timeline& timeline, std::size_t most_tracks, std::size_t most_lanes);

}  // namespace stepscope
