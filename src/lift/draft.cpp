#include "lift/draft.h"

#include <algorithm>

namespace stepscope {

const StreamSlice* Stream::last_launched_before(Nanoseconds time) const {
  const auto after = std::ranges::lower_bound(launched_by, time);
  return after == launched_by.begin() ? nullptr : &slices[static_cast<std::size_t>(after - launched_by.begin()) - 1];
}

OpId Draft::add(const Operation& operation, Interval time) {
  Operation placed = operation;
  placed.about = time.begin;
  measured.push_back(time);
  return builder.add(placed);
}

std::span<const SliceId> Draft::lifted_of(std::span<const SliceId> slices_by_start) const {
  const auto start = [&](SliceId id) { return timeline.slices.start[id]; };
  const auto first = std::ranges::lower_bound(slices_by_start, when.begin, {}, start),
             last = std::ranges::lower_bound(first, slices_by_start.end(), when.end, {}, start);
  return {first, last};
}

const ThreadPart* Draft::part_at(TrackId thread, Nanoseconds time) const {
  const std::vector<ThreadPart>& mine = parts[index(thread)];
  const auto after = std::ranges::upper_bound(mine, time, {}, &ThreadPart::begin);
  return after == mine.begin() ? nullptr : &*(after - 1);
}

ThreadPart* Draft::part_at(TrackId thread, Nanoseconds time) {
  return const_cast<ThreadPart*>(static_cast<const Draft&>(*this).part_at(thread, time));
}

Column<ReadyTime> ready_times(const Draft& draft) {
  Column<ReadyTime> ready;
  ready.resize(draft.builder.size(), ReadyTime{});
  for (const DeviceWait& wait : draft.waits) {
    Nanoseconds& latest = wait.kind == DependencyKind::launch ? ready[wait.operation].launched : ready[wait.operation].others;
    latest = std::max(latest, wait.time);
  }
  return ready;
}

std::unordered_map<DeviceId, std::vector<EndedSlice>> slices_by_end(const Draft& draft) {
  std::unordered_map<DeviceId, std::vector<EndedSlice>> by_device;
  for (std::uint32_t row = 0; row < draft.streams.size(); ++row)
    for (const StreamSlice& slice : draft.streams[row].slices)
      by_device[draft.timeline.tracks[index(draft.streams[row].track)].device].push_back({slice.end, &slice, row});
  for (auto& [device, ended] : by_device) std::ranges::stable_sort(ended, {}, &EndedSlice::end);
  return by_device;
}

std::optional<Draft::Anchor> Draft::begin_of(SliceId call) const {
  const SliceColumns& s = timeline.slices;
  if (const OpId own = lifted.operation_of[call]; own != no_id<OpId>) return Anchor{Moment::start(own), s.start[call] - measured[own].begin};
  const ThreadPart* const around = part_at(s.track[call], s.start[call]);
  if (around == nullptr) return std::nullopt;
  return Anchor{Moment::start(around->op), s.start[call] - around->begin};
}

}  // namespace stepscope
