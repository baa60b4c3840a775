#include "read/kineto_rows.h"

#include <algorithm>
#include <charconv>

#include "read/kineto_number.h"

namespace stepscope {

namespace {

std::uint64_t hash_of(const KinetoTrack& track) {
  std::uint64_t hash = (static_cast<std::uint64_t>(track.process) << 32 | static_cast<std::uint64_t>(track.thread)) * 0x9E37'79B9'7F4A'7C15u;
  hash ^= (static_cast<std::uint64_t>(track.stream) ^ static_cast<std::uint64_t>(track.device) << 32) * 0xD6E8'FEB8'6659'FD93u;
  return (hash ^ hash >> 29) * 0x9E37'79B9'7F4A'7C15u;
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

void KinetoTrackTable::rehash(std::size_t count) {
  slots_.assign(count, 0);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    std::size_t slot = hash_of(tracks_[i]) >> 20 & (count - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (count - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::uint32_t KinetoTrackTable::intern(const KinetoTrack& track) {
  if (tracks_.size() * 2 >= slots_.size()) rehash(slots_.empty() ? 64 : slots_.size() * 2);
  std::size_t slot = hash_of(track) >> 20 & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
    if (tracks_[slots_[slot] - 1] == track) return slots_[slot] - 1;
  tracks_.push_back(track);
  slots_[slot] = static_cast<std::uint32_t>(tracks_.size());
  return slots_[slot] - 1;
}

void KinetoSlices::reserve(std::size_t rows) {
  if (rows <= capacity) return;
  capacity = std::max<std::size_t>({rows, capacity * 2, 4096});
  const auto extend = [this](auto& column) { column.append_uninitialised(capacity - column.size()); };
  extend(start), extend(duration), extend(name), extend(detail), extend(track), extend(kind), extend(correlation), extend(external);
}

void KinetoBlock::clear() {
  slices.count = 0;
  sequences.clear(), python.clear(), transfers.clear(), syncs.clear(), flows.clear(), memory.clear(), counters.clear(), instants.clear();
  marks.clear(), zero_rows.clear(), unfinished_rows.clear(), metadata.clear();
  events = launch_arrows = unread_events = 0;
  repairs.clear();
}

namespace {

std::uint32_t thread_track(const KinetoEvent& event, KinetoVocabulary& vocabulary) {
  return vocabulary.tracks.intern({vocabulary.names.intern(event.pid), vocabulary.names.intern(event.tid)});
}

std::uint32_t slice_track(const KinetoEvent& event, KinetoVocabulary& vocabulary) {
  if (!lies_on_device(event.category)) return thread_track(event, vocabulary);
  KinetoTrack track{vocabulary.names.intern(event.pid), vocabulary.names.intern(event.tid)};
  track.device = event.device.empty() ? track.process : vocabulary.names.intern(event.device);
  track.stream = event.has_stream ? event.stream : number_in(event.tid);
  return vocabulary.tracks.intern(track);
}

void add_slice(const KinetoEvent& event, Nanoseconds duration, std::uint64_t offset, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  if (duration > latest_time - event.time) {
    duration = latest_time - event.time;
    block.repairs.add(Repair::number_out_of_range, offset);
  }
  KinetoSlices& slices = block.slices;
  const std::uint32_t row = slices.add();
  const SliceId slice{row};
  slices.start[row] = event.time;
  slices.duration[row] = duration;
  slices.name[row] = vocabulary.names.intern(event.name);
  slices.detail[row] = vocabulary.details.intern(event.detail);
  slices.track[row] = slice_track(event, vocabulary);
  slices.kind[row] = static_cast<SliceKind>(std::min(event.category, KinetoCategory::other));
  slices.correlation[row] = event.correlation;
  slices.external[row] = event.external;
  if (event.time == 0) block.zero_rows.push_back({row, offset});
  if (event.has_sequence) block.sequences.push_back({slice, event.sequence, event.forward_thread});
  if (event.has_python_id && event.category == KinetoCategory::python_function)
    block.python.push_back({slice, event.python_id, event.python_parent, event.python_module});
  if (event.has_bytes) block.transfers.push_back({slice, event.bytes});
  if (event.category == KinetoCategory::device_sync) block.syncs.push_back({slice, event.wait_on_stream, event.wait_on_record_correlation});
}

void add_complete(const KinetoEvent& event, std::uint64_t offset, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  if (!event.has_duration) block.repairs.add(Repair::missing_duration, offset);
  Nanoseconds duration = event.has_duration ? event.duration : 0;
  if (duration < 0) {
    block.repairs.add(Repair::negative_duration, offset);
    duration = 0;
    if (!lies_on_device(event.category)) {
      duration = KinetoBlock::unfinished;
      block.unfinished_rows.push_back(static_cast<std::uint32_t>(block.slices.count));
    }
  }
  add_slice(event, duration, offset, vocabulary, block);
}

void add_mark(const KinetoEvent& event, std::uint64_t offset, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  const bool begins = event.phase == 'B';
  const auto row = static_cast<std::uint32_t>(block.slices.count);
  block.marks.push_back({begins, row, vocabulary.names.intern(event.pid), vocabulary.names.intern(event.tid), event.time,
                         begins ? NameId{} : vocabulary.details.intern(event.detail), offset});
  if (begins) add_slice(event, KinetoBlock::unfinished, offset, vocabulary, block);
}

void add_flow(const KinetoEvent& event, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  if (event.category == KinetoCategory::launch_flow) {
    ++block.launch_arrows;
    return;
  }
  const FlowKind kind = event.category == KinetoCategory::forward_backward ? FlowKind::forward_backward : FlowKind::other;
  block.flows.push_back({event.id, event.time, TrackId{thread_track(event, vocabulary)}, kind, event.phase == 's'});
}

void add_counter(const KinetoEvent& event, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  const TrackId track{thread_track(event, vocabulary)};
  std::string name;
  for (const auto& [series, value] : event.series) {
    name = event.name;
    if (event.series.size() > 1) name.append(".").append(series);
    block.counters.push_back({event.time, track, vocabulary.names.intern(name), value});
  }
}

void add_instant(const KinetoEvent& event, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  const TrackId track{thread_track(event, vocabulary)};
  if (event.is_memory) {
    block.memory.push_back(
        {event.time, track, event.device_type, event.device_number, event.address, event.bytes, event.total_allocated, event.total_reserved});
  } else {
    block.instants.push_back({event.time, track, vocabulary.names.intern(event.name), vocabulary.details.intern(event.detail)});
  }
}

void add_metadata(const KinetoEvent& event, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  const bool is_label = event.name == "thread_name";
  if (!is_label && !(event.name == "thread_sort_index" && event.has_sort_index)) return;
  block.metadata.push_back({vocabulary.names.intern(event.pid), vocabulary.names.intern(event.tid), is_label ? vocabulary.names.intern(event.label) : NameId{},
                            is_label, event.sort_index});
}

}  // namespace

void add_event(const KinetoEvent& event, std::uint64_t offset, KinetoVocabulary& vocabulary, KinetoBlock& block) {
  if (event.category == KinetoCategory::derived) return;
  ++block.events;
  if (event.phase == 'M') return add_metadata(event, vocabulary, block);
  constexpr std::string_view timed_phases = "XBEsfCiIR";
  if (event.phase == 0 || timed_phases.find(event.phase) == std::string_view::npos) {
    ++block.unread_events;
    return;
  }
  if (!event.has_time) {
    block.repairs.add(Repair::missing_time, offset);
    return;
  }
  switch (event.phase) {
    case 'X':
      return add_complete(event, offset, vocabulary, block);
    case 'B':
    case 'E':
      return add_mark(event, offset, vocabulary, block);
    case 's':
    case 'f':
      return add_flow(event, vocabulary, block);
    case 'C':
      return add_counter(event, vocabulary, block);
    default:
      return add_instant(event, vocabulary, block);
  }
}

}  // namespace stepscope
