#include "timeline/builder.h"

#include <algorithm>
#include <charconv>

namespace stepscope {

RankId TimelineBuilder::add_rank(Rank rank) {
  timeline_.ranks.push_back(std::move(rank));
  return RankId{static_cast<std::uint32_t>(timeline_.ranks.size() - 1)};
}

TrackId TimelineBuilder::track(RankId rank, TrackKind kind, std::string_view process, std::string_view thread, DeviceId device, std::int64_t stream) {
  const NameId process_name = names().intern(process), thread_name = names().intern(thread);
  for (std::size_t i = 0; i < timeline_.tracks.size(); ++i) {
    const Track& known = timeline_.tracks[i];
    if (known.rank == rank && known.process == process_name && known.thread == thread_name && known.device == device && known.stream == stream && known.kind == kind)
      return TrackId{static_cast<std::uint32_t>(i)};
  }
  Track fresh;
  fresh.rank = rank;
  fresh.kind = kind;
  fresh.process = process_name;
  fresh.thread = thread_name;
  fresh.owner_process = process_name;
  fresh.device = device;
  fresh.stream = stream;
  timeline_.tracks.push_back(std::move(fresh));
  return TrackId{static_cast<std::uint32_t>(timeline_.tracks.size() - 1)};
}

DeviceId TimelineBuilder::device(RankId rank, std::string_view label) {
  for (std::size_t i = 0; i < timeline_.devices.size(); ++i)
    if (timeline_.devices[i].rank == rank && timeline_.devices[i].label == label) return DeviceId{static_cast<std::uint32_t>(i)};
  Device fresh;
  fresh.rank = rank;
  fresh.label = label;
  std::int64_t number = 0;
  if (const auto [end, problem] = std::from_chars(label.data(), label.data() + label.size(), number); problem == std::errc{} && end == label.data() + label.size())
    fresh.number = number;
  timeline_.devices.push_back(std::move(fresh));
  return DeviceId{static_cast<std::uint32_t>(timeline_.devices.size() - 1)};
}

SliceId TimelineBuilder::add_slice(SliceKind kind, TrackId track, Nanoseconds start, Nanoseconds duration, NameId name, std::uint64_t correlation, std::uint64_t external,
                                   NameId detail) {
  SliceColumns& s = timeline_.slices;
  s.start.push_back(start);
  s.duration.push_back(duration);
  s.name.push_back(name);
  s.track.push_back(track);
  s.kind.push_back(kind);
  s.correlation.push_back(correlation);
  s.external.push_back(external);
  s.detail.push_back(detail);
  return SliceId{static_cast<std::uint32_t>(s.size() - 1)};
}

namespace {

// Counting sort of the slices by track keeps the file's order; a track that the file did not write in order of start is sorted by itself.
void order_by_track(Timeline& timeline) {
  const SliceColumns& s = timeline.slices;
  timeline.first.clear();
  timeline.first.resize(timeline.tracks.size() + 1, 0);
  for (const TrackId track : s.track.span()) ++timeline.first[index(track) + 1];
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) timeline.first[t + 1] += timeline.first[t];
  timeline.order.clear();
  timeline.order.append_uninitialised(s.size());
  std::vector<std::uint32_t> next(timeline.first.begin(), timeline.first.end());
  for (std::size_t row = 0; row < s.size(); ++row) timeline.order[next[index(s.track[row])]++] = SliceId{static_cast<std::uint32_t>(row)};
  const auto before = [&](SliceId a, SliceId b) {
    if (s.start[a] != s.start[b]) return s.start[a] < s.start[b];
    if (s.duration[a] != s.duration[b]) return s.duration[a] > s.duration[b];
    return a < b;
  };
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const auto mine = timeline.order.span().subspan(timeline.first[t], timeline.first[t + 1] - timeline.first[t]);
    if (!std::ranges::is_sorted(mine, before)) std::ranges::sort(mine, before);
  }
}

template <class Fact>
void sort_by_slice(Column<Fact>& facts) {
  const auto by_slice = [](const Fact& a, const Fact& b) { return a.slice < b.slice; };
  if (!std::is_sorted(facts.begin(), facts.end(), by_slice)) std::stable_sort(facts.begin(), facts.end(), by_slice);
}

template <class Row>
void shift_times(Column<Row>& rows, Nanoseconds origin) {
  for (Row& row : rows) row.time -= origin;
}

}  // namespace

Timeline TimelineBuilder::finish() {
  Timeline done = std::move(timeline_);
  timeline_ = Timeline{};
  SliceColumns& s = done.slices;
  if (s.size() != 0) {
    Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
    for (const Nanoseconds start : s.start.span()) origin = std::min(origin, start);
    for (Nanoseconds& start : s.start) start -= origin;
    shift_times(done.flows, origin);
    shift_times(done.memory, origin);
    shift_times(done.counters, origin);
    shift_times(done.instants, origin);
    done.origin_ns = origin;
  }
  order_by_track(done);
  sort_by_slice(done.sequences);
  sort_by_slice(done.python);
  sort_by_slice(done.transfers);
  sort_by_slice(done.syncs);
  for (Device& device : done.devices) device.has_slices = false;
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_device_activity(s.kind[row])) continue;
    const Track& track = done.tracks[index(s.track[row])];
    if (track.device != no_id<DeviceId>) done.devices[index(track.device)].has_slices = true;
  }
  return done;
}

}  // namespace stepscope
