#include "timeline/builder.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <utility>

#include "base/parallel.h"

namespace stepscope {

RankId TimelineBuilder::add_rank(Rank rank) {
  timeline_.ranks.push_back(std::move(rank));
  return RankId{static_cast<std::uint32_t>(timeline_.ranks.size() - 1)};
}

namespace {

std::uint64_t track_hash(const Track& track) {
  const std::uint64_t key[] = {index(track.rank),   static_cast<std::uint64_t>(track.kind),  index(track.process), index(track.thread),
                               index(track.device), static_cast<std::uint64_t>(track.stream)};
  return hash_bytes({reinterpret_cast<const char*>(key), sizeof key});
}

std::uint64_t device_hash(RankId rank, std::string_view label) {
  return hash_bytes(label) + index(rank);
}

}  // namespace

std::span<const std::uint32_t> TimelineBuilder::RowIndex::candidates(std::uint64_t hash) const {
  const auto found = rows_.find(hash);
  return found == rows_.end() ? std::span<const std::uint32_t>{} : std::span<const std::uint32_t>(found->second);
}

void TimelineBuilder::RowIndex::bring_up_to(std::size_t rows, const std::function<std::uint64_t(std::size_t)>& hash_of) {
  if (indexed_ > rows) *this = RowIndex{};  // the builder was emptied
  for (; indexed_ < rows; ++indexed_) rows_[hash_of(indexed_)].push_back(static_cast<std::uint32_t>(indexed_));
}

TrackId TimelineBuilder::track(RankId rank, TrackKind kind, std::string_view process, std::string_view thread, DeviceId device, std::int64_t stream) {
  Track fresh;
  fresh.rank = rank;
  fresh.kind = kind;
  fresh.process = names().intern(process);
  fresh.thread = names().intern(thread);
  fresh.owner_process = fresh.process;
  fresh.device = device;
  fresh.stream = stream;
  std::vector<Track>& tracks = timeline_.tracks;
  track_index_.bring_up_to(tracks.size(), [&](std::size_t row) { return track_hash(tracks[row]); });
  for (const std::uint32_t row : track_index_.candidates(track_hash(fresh))) {
    const Track& known = tracks[row];
    if (known.rank == rank && known.process == fresh.process && known.thread == fresh.thread && known.device == device && known.stream == stream &&
        known.kind == kind)
      return TrackId{row};
  }
  tracks.push_back(std::move(fresh));
  return TrackId{static_cast<std::uint32_t>(tracks.size() - 1)};
}

DeviceId TimelineBuilder::device(RankId rank, std::string_view label) {
  std::vector<Device>& devices = timeline_.devices;
  device_index_.bring_up_to(devices.size(), [&](std::size_t row) { return device_hash(devices[row].rank, devices[row].label); });
  for (const std::uint32_t row : device_index_.candidates(device_hash(rank, label)))
    if (devices[row].rank == rank && devices[row].label == label) return DeviceId{row};
  Device fresh;
  fresh.rank = rank;
  fresh.label = label;
  std::int64_t number = 0;
  if (const auto [end, problem] = std::from_chars(label.data(), label.data() + label.size(), number);
      problem == std::errc{} && end == label.data() + label.size())
    fresh.number = number;
  devices.push_back(std::move(fresh));
  return DeviceId{static_cast<std::uint32_t>(devices.size() - 1)};
}

SliceId TimelineBuilder::add_slice(SliceKind kind, TrackId track, Nanoseconds start, Nanoseconds duration, NameId name, std::uint64_t correlation,
                                   std::uint64_t external, NameId detail) {
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

// Merges neighbouring runs of ids that are sorted by start each until one is left. starts: of each run, and the end. Equal starts keep their order.
// Runs that follow one another in time (a step's events behind the last step's) cost one comparison.
void merge_runs(std::span<SliceId> ids, std::vector<std::size_t>& starts, const Column<Nanoseconds>& start, std::vector<SliceId>& scratch) {
  scratch.resize(ids.size());
  const auto later = [&](SliceId a, SliceId b) { return start[a] > start[b]; };
  while (starts.size() > 2) {
    std::vector<std::size_t> merged;
    for (std::size_t run = 0; run + 1 < starts.size(); run += 2) {
      const std::size_t begin = starts[run], middle = starts[run + 1], end = run + 2 < starts.size() ? starts[run + 2] : middle;
      merged.push_back(begin);
      if (middle == end || !later(ids[middle - 1], ids[middle])) continue;
      // What lies before everything of the second run stays where it is; of the first run only the rest moves.
      const auto first =
          static_cast<std::size_t>(std::upper_bound(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(middle),
                                                    ids[middle], [&](SliceId a, SliceId b) { return start[a] < start[b]; }) -
                                   ids.begin());
      std::copy(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(middle), scratch.begin());
      std::size_t left = 0, right = middle, to = first;
      const std::size_t left_end = middle - first;
      while (left < left_end && right < end) ids[to++] = later(scratch[left], ids[right]) ? ids[right++] : scratch[left++];
      while (left < left_end) ids[to++] = scratch[left++];
    }
    merged.push_back(starts.back());
    starts.swap(merged);
  }
}

constexpr std::size_t worth_a_thread = 1u << 16;  // slices; fewer are done before a thread has begun

// Makes times relative to the earliest start and puts each track's slices together. Counting sort by track keeps the file's order: each part of the rows
// writes behind what the parts before it have of the track.
void group_by_track(Timeline& timeline, std::size_t parts) {
  SliceColumns& s = timeline.slices;
  const std::size_t tracks = timeline.tracks.size();
  const auto rows_of = [&](std::size_t part) { return std::pair(part_begin(s.size(), part, parts), part_begin(s.size(), part + 1, parts)); };
  std::vector<Nanoseconds> earliest(parts, std::numeric_limits<Nanoseconds>::max());
  run_parts(parts, [&](std::size_t part) {
    const auto [begin, end] = rows_of(part);
    Nanoseconds least = earliest[part];
    for (std::size_t row = begin; row < end; ++row) least = std::min(least, s.start[row]);
    earliest[part] = least;
  });
  const Nanoseconds origin = s.size() == 0 ? 0 : std::ranges::min(earliest);
  timeline.origin_ns = origin;
  std::vector<std::vector<std::uint32_t>> places(parts);  // how many slices of each track a part has; then where its next one goes
  run_parts(parts, [&](std::size_t part) {
    const auto [begin, end] = rows_of(part);
    std::vector<std::uint32_t> counts(tracks, 0);
    for (std::size_t row = begin; row < end; ++row) {
      s.start[row] -= origin;
      ++counts[index(s.track[row])];
    }
    places[part] = std::move(counts);
  });
  timeline.first.clear();
  timeline.first.resize(tracks + 1, 0);
  std::uint32_t place = 0;
  for (std::size_t t = 0; t < tracks; ++t) {
    timeline.first[t] = place;
    for (std::vector<std::uint32_t>& of_part : places) place += std::exchange(of_part[t], place);
  }
  timeline.first[tracks] = place;
  timeline.order.clear();
  timeline.order.append_uninitialised(s.size());
  run_parts(parts, [&](std::size_t part) {
    const auto [begin, end] = rows_of(part);
    std::vector<std::uint32_t>& next = places[part];
    for (std::size_t row = begin; row < end; ++row) timeline.order[next[index(s.track[row])]++] = SliceId{static_cast<std::uint32_t>(row)};
  });
}

// What is in the order of the file is in one of time, or in a few such orders behind one another (operators, then calls): those runs are merged. Slices that
// start together are then put in order of length.
class TrackOrder {
 public:
  explicit TrackOrder(Timeline& timeline) : timeline_(timeline) {}
  void sort(std::size_t t);

 private:
  Timeline& timeline_;
  std::vector<std::size_t> runs_;
  std::vector<SliceId> scratch_;
};

void TrackOrder::sort(std::size_t t) {
  const SliceColumns& s = timeline_.slices;
  const auto mine = timeline_.order.span().subspan(timeline_.first[t], timeline_.first[t + 1] - timeline_.first[t]);
  if (mine.empty()) return;
  const auto before = [&](SliceId a, SliceId b) {
    if (s.start[a] != s.start[b]) return s.start[a] < s.start[b];
    if (s.duration[a] != s.duration[b]) return s.duration[a] > s.duration[b];
    return a < b;
  };
  runs_.assign(1, 0);
  for (std::size_t i = 1; i < mine.size(); ++i)
    if (s.start[mine[i]] < s.start[mine[i - 1]]) runs_.push_back(i);
  if (runs_.size() > mine.size() / 8 + 1) {  // in no order at all
    std::ranges::sort(mine, before);
    return;
  }
  runs_.push_back(mine.size());
  merge_runs(mine, runs_, s.start, scratch_);
  for (std::size_t i = 1; i < mine.size(); ++i) {
    if (s.start[mine[i]] != s.start[mine[i - 1]]) continue;
    std::size_t end = i + 1;
    while (end < mine.size() && s.start[mine[end]] == s.start[mine[i]]) ++end;
    const auto together = mine.subspan(i - 1, end - (i - 1));
    if (!std::ranges::is_sorted(together, before)) std::ranges::sort(together, before);
    i = end - 1;
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

Timeline TimelineBuilder::finish(int threads) {
  Timeline done = std::move(timeline_);
  timeline_ = Timeline{};
  SliceColumns& s = done.slices;
  const std::size_t parts = std::clamp<std::size_t>(s.size() / worth_a_thread, 1, static_cast<std::size_t>(std::max(1, threads)));
  group_by_track(done, parts);
  shift_times(done.flows, done.origin_ns);
  shift_times(done.memory, done.origin_ns);
  shift_times(done.counters, done.origin_ns);
  shift_times(done.instants, done.origin_ns);
  std::atomic<std::size_t> next_track = 0;
  run_parts(parts, [&](std::size_t) {
    TrackOrder order(done);
    for (std::size_t t; (t = next_track++) < done.tracks.size();) order.sort(t);
  });
  sort_by_slice(done.sequences);
  sort_by_slice(done.python);
  sort_by_slice(done.transfers);
  sort_by_slice(done.syncs);
  for (Device& device : done.devices) device.has_slices = false;
  for (std::uint32_t t = 0; t < done.tracks.size(); ++t)
    if (const DeviceId device = done.tracks[t].device; device != no_id<DeviceId> && !done.devices[index(device)].has_slices)
      done.devices[index(device)].has_slices = std::ranges::any_of(done.on_track(TrackId{t}), [&](SliceId id) { return is_device_activity(s.kind[id]); });
  return done;
}

}  // namespace stepscope
