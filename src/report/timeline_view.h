// What the page's timeline draws: the slices of a Timeline laid into lanes that never overlap, reduced to a number of items that a page can hold. Steps that
// tell most (the typical one and the slow ones) keep every slice; elsewhere slices shorter than a threshold are merged with their neighbours into blocks
// that say how many they are, how long they were busy and which was the longest. Counts and busy times of a lane are the same at every threshold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

// What an item is coloured by: the class of device activity, else the kind of record, else the cause of an idle gap.
enum class Shade : std::uint8_t {
  compute,
  communication,
  memory,
  device_sync,
  device_annotation,
  operation,
  runtime_call,
  driver_call,
  python_function,
  annotation,
  overhead,
  profiler,
  other,
  idle_host,
  idle_launch,
  idle_scheduling,
  idle_dependency,
  idle_graph,
  idle_unknown,
  idle_unlinked,
};
inline constexpr std::size_t shade_count = 20;
std::string_view shade_name(Shade shade);  // "compute", "runtime_call", "idle_host"

struct ViewLabel {
  NameId name{};
  Shade shade = Shade::other;
};

inline constexpr std::uint32_t no_item = 0xFFFF'FFFFu;

// Several slices of one lane drawn as one item.
struct ViewBlock {
  std::uint32_t count = 0;     // slices in it, at least 2
  Nanoseconds busy = 0;        // sum of their durations (slices of a lane do not overlap)
  Nanoseconds longest = 0;     // duration of the longest, whose label the item carries
  Shade shade = Shade::other;  // the one with most busy time
};

// One row per item; items of a lane stand together, by start.
struct ViewItems {
  Column<Nanoseconds> start;
  Column<Nanoseconds> duration;     // of a block: to the end of its last slice
  Column<std::uint32_t> label;      // index into TimelineView::labels
  Column<std::uint32_t> block;      // index into TimelineView::blocks; no_item = a single slice
  Column<NameId> detail;            // into Timeline::details; NameId{0} for blocks and where there is none
  Column<std::uint32_t> launch;     // of device slices: the item that is their launch call; no_item = none, or drawn in a block
  Column<std::uint32_t> operation;  // of device slices whose operator is not the one that encloses the launch: that operator's item; else no_item
  std::size_t size() const { return start.size(); }
};

enum class ViewTrackKind : std::uint8_t { stream, idle, thread, other };

struct ViewTrack {
  ViewTrackKind kind = ViewTrackKind::other;
  TrackId track = no_id<TrackId>;  // absent for idle tracks
  RankId rank{};
  DeviceId device = no_id<DeviceId>;  // of streams and idle tracks
  std::uint32_t first_lane = 0, lanes = 0;
};

struct ViewLane {
  std::uint32_t first_item = 0, items = 0;
  std::uint64_t slices = 0;  // slices that its items stand for
  Nanoseconds busy = 0;      // sum of their durations
};

struct TimelineView {
  Interval span;  // from the first slice's start to the last one's end
  std::vector<ViewTrack> tracks;
  std::vector<ViewLane> lanes;
  ViewItems items;
  std::vector<ViewBlock> blocks;
  std::vector<ViewLabel> labels;             // numbered by first use
  std::vector<std::vector<Interval>> whole;  // per rank: stretches in which every slice is drawn, by begin, not overlapping; meaningless where all are
  Nanoseconds merged_below = 0;              // outside of them blocks are at most this long; 0 = nothing was merged
  std::uint64_t slices_single = 0;           // drawn one by one
  std::uint64_t slices_merged = 0;           // drawn in blocks
  std::uint64_t slices_left_out = 0;         // on tracks or depths beyond the limits below: not drawn at all
};

inline constexpr std::size_t most_view_tracks = 4000;
inline constexpr std::size_t most_lanes_per_track = 200;

// At most about most_items items (more only where the lanes alone are more). O(slices).
TimelineView view_timeline(const Timeline& timeline, const Facts& facts, std::size_t most_items);

}  // namespace stepscope
