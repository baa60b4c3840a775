// Joining builders that were filled apart (one per file, by threads) into one, and moving one of them in time.
#include <algorithm>

#include "timeline/builder.h"

namespace stepscope {

namespace {

// Row i of the result: where row i of from went in into.
std::vector<NameId> merge_names(NameTable& into, const NameTable& from) {
  std::vector<NameId> moved(from.size());
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = into.intern(from[NameId{static_cast<std::uint32_t>(i)}]);
  return moved;
}

template <class Id>
Id shifted(Id id, std::size_t by) {
  return id == no_id<Id> ? id : Id{static_cast<std::uint32_t>(index(id) + by)};
}

// Copies from to the end of into and frees it.
template <class Row>
void move_rows(Column<Row>& into, Column<Row>& from, auto change) {
  if (from.empty()) return;
  Row* target = into.append_uninitialised(from.size());
  for (const Row& row : from) *target++ = change(row);
  from = Column<Row>{};
}

template <class Row>
void move_rows(Column<Row>& into, Column<Row>& from) {
  move_rows(into, from, [](const Row& row) { return row; });
}

template <class Row>
void widen(std::optional<Interval>& range, const Column<Row>& rows, auto time_of) {
  for (const Row& row : rows) {
    const Nanoseconds time = time_of(row);
    if (!range) range = Interval{time, time};
    range->begin = std::min(range->begin, time);
    range->end = std::max(range->end, time);
  }
}

}  // namespace

void TimelineBuilder::append(TimelineBuilder&& other, std::string_view place_prefix) {
  // Every member of Timeline, so that a new one cannot be forgotten here: this stops compiling. origin, order and first are finish()'s.
  auto& [names, details, slices, tracks, devices, ranks, origin_ns, order, first, sequences, python, transfers, syncs, flows, memory, counters, instants,
         health] = other.timeline_;
  Timeline& into = timeline_;
  if (into.ranks.empty() && into.tracks.empty() && into.names.size() == 1 && into.details.size() == 1 && into.health.repairs.empty() &&
      into.health.notes.empty()) {
    const CaptureHealth theirs = std::move(health);
    into = std::move(other.timeline_);
    into.health = CaptureHealth{};
    into.health.repairs.append(theirs.repairs, place_prefix);
    into.health.notes.append(theirs.notes, place_prefix);
    other.timeline_ = Timeline{};
    return;
  }
  const std::size_t slices_before = into.slices.size(), tracks_before = into.tracks.size(), devices_before = into.devices.size(),
                    ranks_before = into.ranks.size();
  const std::vector<NameId> name = merge_names(into.names, names), detail = merge_names(into.details, details);

  for (Rank& rank : ranks) into.ranks.push_back(std::move(rank));
  for (Device& device : devices) {
    device.rank = shifted(device.rank, ranks_before);
    into.devices.push_back(std::move(device));
  }
  for (Track& track : tracks) {
    track.rank = shifted(track.rank, ranks_before);
    track.process = name[index(track.process)];
    track.thread = name[index(track.thread)];
    track.owner_process = name[index(track.owner_process)];
    track.device = shifted(track.device, devices_before);
    into.tracks.push_back(std::move(track));
  }

  auto& [start, duration, slice_name, track, kind, correlation, external, slice_detail] = slices;
  move_rows(into.slices.start, start);
  move_rows(into.slices.duration, duration);
  move_rows(into.slices.name, slice_name, [&](NameId id) { return name[index(id)]; });
  move_rows(into.slices.track, track, [&](TrackId id) { return shifted(id, tracks_before); });
  move_rows(into.slices.kind, kind);
  move_rows(into.slices.correlation, correlation);
  move_rows(into.slices.external, external);
  move_rows(into.slices.detail, slice_detail, [&](NameId id) { return detail[index(id)]; });

  const auto with_slice = [&](auto fact) {
    fact.slice = shifted(fact.slice, slices_before);
    return fact;
  };
  const auto with_track = [&](auto row) {
    row.track = shifted(row.track, tracks_before);
    return row;
  };
  move_rows(into.sequences, sequences, with_slice);
  move_rows(into.python, python, with_slice);
  move_rows(into.transfers, transfers, with_slice);
  move_rows(into.syncs, syncs, with_slice);
  move_rows(into.flows, flows, with_track);
  move_rows(into.memory, memory, with_track);
  move_rows(into.counters, counters, [&](CounterSample sample) {
    sample.name = name[index(sample.name)];
    return with_track(sample);
  });
  move_rows(into.instants, instants, [&](Instant instant) {
    instant.name = name[index(instant.name)];
    instant.detail = detail[index(instant.detail)];
    return with_track(instant);
  });
  into.health.repairs.append(health.repairs, place_prefix);
  into.health.notes.append(health.notes, place_prefix);
  (void)origin_ns, (void)order, (void)first;
  other.timeline_ = Timeline{};
}

std::optional<Interval> TimelineBuilder::time_range() const {
  const auto own_time = [](const auto& row) { return row.time; };
  std::optional<Interval> range;
  widen(range, timeline_.slices.start, [](Nanoseconds start) { return start; });
  widen(range, timeline_.flows, own_time);
  widen(range, timeline_.memory, own_time);
  widen(range, timeline_.counters, own_time);
  widen(range, timeline_.instants, own_time);
  return range;
}

void TimelineBuilder::move_in_time(Nanoseconds by) {
  const auto shift = [by](auto& rows) {
    for (auto& row : rows) row.time += by;
  };
  for (Nanoseconds& start : timeline_.slices.start) start += by;
  shift(timeline_.flows);
  shift(timeline_.memory);
  shift(timeline_.counters);
  shift(timeline_.instants);
}

}  // namespace stepscope
