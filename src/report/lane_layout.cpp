#include "report/lane_layout.h"

#include <algorithm>

namespace stepscope {

namespace {

// Where the last slice of each lane ends, as far as lanes are still occupied. Starts must not decrease.
class Lanes {
 public:
  // Below the deepest slice that encloses this one; where that lane is occupied by a slice that crosses this one's start, below it.
  std::size_t nest(Nanoseconds start, Nanoseconds end) {
    release(start);
    std::size_t lane = ends_.size();
    if (lane != 0 && ends_.back() < end) {
      while (lane != 0 && (ends_[lane - 1] <= start || ends_[lane - 1] < end)) --lane;
      return occupy(lane, start, end);
    }
    ends_.push_back(end);
    return lane;
  }
  // The first free lane.
  std::size_t stack(Nanoseconds start, Nanoseconds end) {
    release(start);
    return occupy(0, start, end);
  }

 private:
  void release(Nanoseconds start) {
    while (!ends_.empty() && ends_.back() <= start) ends_.pop_back();
  }
  std::size_t occupy(std::size_t lane, Nanoseconds start, Nanoseconds end) {
    while (lane < ends_.size() && ends_[lane] > start) ++lane;
    if (lane == ends_.size()) ends_.push_back(end);
    ends_[lane] = end;
    return lane;
  }
  std::vector<Nanoseconds> ends_;
};

constexpr std::uint16_t unplaced = 0xFFFF;

}  // namespace

LaneLayout lay_out_lanes(const Timeline& timeline, std::size_t most_tracks, std::size_t most_lanes) {
  LaneLayout layout;
  layout.first.push_back(0);
  std::vector<TrackId> order;
  for (const TrackKind kind : {TrackKind::thread, TrackKind::other, TrackKind::stream}) {
    for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
      const auto track = TrackId{static_cast<std::uint32_t>(t)};
      if (timeline.tracks[t].kind == kind && !timeline.on_track(track).empty()) order.push_back(track);
    }
  }
  if (order.size() > most_tracks) {
    for (std::size_t t = most_tracks; t < order.size(); ++t) layout.left_out += timeline.on_track(order[t]).size();
    order.resize(most_tracks);
  }

  const SliceColumns& slices = timeline.slices;
  layout.slices.reserve(slices.size());
  layout.start.reserve(slices.size());
  layout.end.reserve(slices.size());
  Column<std::uint16_t> depth;
  Column<Interval> times;
  std::vector<std::uint32_t> next;
  for (const TrackId track : order) {
    const std::span<const SliceId> on_track = timeline.on_track(track);
    const bool stream = timeline.tracks[index(track)].kind == TrackKind::stream;
    depth.clear();
    depth.reserve(on_track.size());
    times.clear();
    times.reserve(on_track.size());
    Lanes activity, others;
    std::size_t activity_lanes = 0, other_lanes = 0;
    for (const SliceId slice : on_track) {
      const Nanoseconds start = slices.start[slice], end = slices.end(slice);
      times.push_back({start, end});
      const bool first_group = stream && is_device_activity(slices.kind[slice]);
      const std::size_t lane = first_group ? activity.stack(start, end) : others.nest(start, end);
      if (lane >= most_lanes) {
        depth.push_back(unplaced);
        ++layout.left_out;
        continue;
      }
      std::size_t& lanes = first_group ? activity_lanes : other_lanes;
      lanes = std::max(lanes, lane + 1);
      depth.push_back(static_cast<std::uint16_t>(first_group ? lane : lane | 0x8000u));
    }

    // Counting sort by lane keeps the order of starts.
    const std::size_t lanes = activity_lanes + other_lanes;
    const auto lane_of = [&](std::uint16_t placed) { return (placed & 0x8000u) != 0 ? activity_lanes + (placed & 0x7FFFu) : std::size_t{placed}; };
    next.assign(lanes + 1, 0);
    for (const std::uint16_t placed : depth) {
      if (placed != unplaced) ++next[lane_of(placed) + 1];
    }
    const auto begin = static_cast<std::uint32_t>(layout.slices.size());
    next[0] = begin;
    for (std::size_t lane = 0; lane < lanes; ++lane) next[lane + 1] += next[lane];
    layout.tracks.push_back({track, static_cast<std::uint32_t>(layout.first.size() - 1), static_cast<std::uint32_t>(lanes)});
    for (std::size_t lane = 0; lane < lanes; ++lane) layout.first.push_back(next[lane + 1]);
    layout.slices.append_uninitialised(next[lanes] - begin);
    layout.start.append_uninitialised(next[lanes] - begin);
    layout.end.append_uninitialised(next[lanes] - begin);
    for (std::size_t i = 0; i < on_track.size(); ++i) {
      if (depth[i] == unplaced) continue;
      const std::uint32_t place = next[lane_of(depth[i])]++;
      layout.slices[place] = on_track[i];
      layout.start[place] = times[i].begin;
      layout.end[place] = times[i].end;
    }
  }
  return layout;
}

}  // namespace stepscope
