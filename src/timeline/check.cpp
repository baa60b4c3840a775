#include "timeline/check.h"

#include <fmt/core.h>

namespace stepscope {

namespace {

constexpr std::size_t most_violations = 20;

struct Violations {
  std::vector<std::string> list;
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (list.size() < most_violations) list.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }
};

void check_columns(const Timeline& t, Violations& found) {
  const SliceColumns& s = t.slices;
  const std::size_t rows = s.size();
  if (s.duration.size() != rows || s.name.size() != rows || s.track.size() != rows || s.kind.size() != rows || s.correlation.size() != rows ||
      s.external.size() != rows || s.detail.size() != rows) {
    found.add("slice columns differ in length");
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (s.start[row] < 0) found.add("slice {} starts before the origin: {}", row, s.start[row]);
    if (s.duration[row] < 0) found.add("slice {} has a negative duration: {}", row, s.duration[row]);
    if (s.duration[row] > std::numeric_limits<Nanoseconds>::max() - s.start[row]) found.add("slice {} ends beyond int64", row);
    if (index(s.name[row]) >= t.names.size()) found.add("slice {} has no such name", row);
    if (index(s.detail[row]) >= t.details.size()) found.add("slice {} has no such detail", row);
    if (static_cast<std::size_t>(s.kind[row]) >= slice_kind_count) found.add("slice {} has no such kind", row);
    if (index(s.track[row]) >= t.tracks.size()) {
      found.add("slice {} has no such track", row);
      continue;
    }
    if (is_device_activity(s.kind[row]) && t.tracks[index(s.track[row])].device == no_id<DeviceId>)
      found.add("device slice {} lies on a track without a device", row);
  }
}

void check_tracks(const Timeline& t, Violations& found) {
  for (std::size_t i = 0; i < t.tracks.size(); ++i) {
    const Track& track = t.tracks[i];
    if (index(track.rank) >= t.ranks.size()) found.add("track {} has no such rank", i);
    if (track.device != no_id<DeviceId> && index(track.device) >= t.devices.size()) found.add("track {} has no such device", i);
    if (track.kind == TrackKind::stream && track.device == no_id<DeviceId>) found.add("stream track {} has no device", i);
    if (index(track.process) >= t.names.size() || index(track.thread) >= t.names.size() || index(track.owner_process) >= t.names.size())
      found.add("track {} has no such name", i);
  }
  for (std::size_t i = 0; i < t.devices.size(); ++i)
    if (index(t.devices[i].rank) >= t.ranks.size()) found.add("device {} has no such rank", i);
}

void check_order(const Timeline& t, Violations& found) {
  const SliceColumns& s = t.slices;
  if (t.order.size() != s.size() || t.first.size() != t.tracks.size() + 1 || t.first[t.tracks.size()] != s.size()) {
    found.add("order does not cover the slices");
    return;
  }
  std::vector<bool> seen(s.size(), false);
  for (std::size_t i = 0; i < t.tracks.size(); ++i) {
    SliceId previous = no_id<SliceId>;
    for (const SliceId id : t.on_track(TrackId{static_cast<std::uint32_t>(i)})) {
      if (index(id) >= s.size() || seen[index(id)]) {
        found.add("order of track {} is no permutation", i);
        return;
      }
      seen[index(id)] = true;
      if (index(s.track[id]) != i) found.add("slice {} is ordered on a track that is not its own", index(id));
      if (previous != no_id<SliceId> && (s.start[id] < s.start[previous] || (s.start[id] == s.start[previous] && s.duration[id] > s.duration[previous])))
        found.add("slices {} and {} are out of order on track {}", index(previous), index(id), i);
      previous = id;
    }
  }
}

template <class Fact>
void check_facts(const Timeline& t, const Column<Fact>& facts, const char* name, Violations& found) {
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (index(facts[i].slice) >= t.slices.size()) found.add("{} fact {} has no such slice", name, i);
    if (i > 0 && facts[i].slice < facts[i - 1].slice) found.add("{} fact {} is out of order", name, i);
  }
}

template <class Row>
void check_rows(const Timeline& t, const Column<Row>& rows, const char* name, Violations& found) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (index(rows[i].track) >= t.tracks.size()) found.add("{} {} has no such track", name, i);
}

}  // namespace

std::vector<std::string> check(const Timeline& timeline) {
  Violations found;
  check_tracks(timeline, found);
  check_columns(timeline, found);
  if (!found.list.empty()) return found.list;
  check_order(timeline, found);
  check_facts(timeline, timeline.sequences, "sequence", found);
  check_facts(timeline, timeline.python, "python", found);
  check_facts(timeline, timeline.transfers, "transfer", found);
  check_facts(timeline, timeline.syncs, "sync", found);
  check_rows(timeline, timeline.flows, "flow end", found);
  check_rows(timeline, timeline.memory, "memory event", found);
  check_rows(timeline, timeline.counters, "counter sample", found);
  check_rows(timeline, timeline.instants, "instant", found);
  return found.list;
}

}  // namespace stepscope
