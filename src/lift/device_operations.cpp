// Device slices as operations on their streams.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

OperationClass class_of(const Draft& draft, SliceId id) {
  switch (draft.timeline.slices.kind[id]) {
    case SliceKind::copy:
      return OperationClass::copy;
    case SliceKind::fill:
      return OperationClass::fill;
    default:
      return draft.facts.activity[id] == ActivityClass::communication ? OperationClass::communication : OperationClass::compute;
  }
}

}  // namespace

void add_device_operations(Draft& draft) {
  const SliceColumns& s = draft.timeline.slices;
  draft.stream_of_track.assign(draft.timeline.tracks.size(), no_stream);
  for (const DeviceFacts& device : draft.facts.devices) {
    for (const SliceId id : draft.lifted_of(device.slices)) {
      std::uint32_t& row = draft.stream_of_track[index(s.track[id])];
      if (row == no_stream) {
        row = static_cast<std::uint32_t>(draft.streams.size());
        draft.streams.push_back({.track = s.track[id], .slices = {}, .launched_by = {}});
      }
      const SliceId launch = draft.facts.launch[id];
      draft.streams[row].slices.push_back({.slice = id,
                                           .op = {},
                                           .start = s.start[id],
                                           .end = s.end(id),
                                           .launch = launch,
                                           .launched = launch == no_id<SliceId> ? s.start[id] : s.start[launch]});
    }
  }
  for (Stream& stream : draft.streams) {
    const Track& track = draft.timeline.tracks[index(stream.track)];
    const PlaceId place =
        draft.builder.place({.kind = PlaceKind::stream, .rank = track.rank, .device = track.device, .track = stream.track, .stream = track.stream});
    // Of slices that start together the one launched first stands first here: the order in which the stream got them.
    std::ranges::stable_sort(stream.slices, [](const StreamSlice& a, const StreamSlice& b) {
      return a.start != b.start ? a.start < b.start : a.end != b.end ? a.end < b.end : a.launched < b.launched;
    });
    Nanoseconds launched = long_ago;
    for (StreamSlice& slice : stream.slices) {
      slice.op = draft.add({.place = place,
                            .operation_class = class_of(draft, slice.slice),
                            .duration = slice.end - slice.start,
                            .name = s.name[slice.slice],
                            .origin = slice.slice},
                           {slice.start, slice.end});
      draft.lifted.operation_of[slice.slice] = slice.op;
      stream.launched_by.push_back(launched = std::max(launched, slice.launched));
    }
  }
  for (const TransferFact& transfer : draft.timeline.transfers)
    if (const OpId op = draft.lifted.operation_of[transfer.slice]; op != no_id<OpId>) draft.builder.operations().bytes[op] = transfer.bytes;
}

}  // namespace stepscope
