#include "read/kineto_merge.h"

#include <algorithm>
#include <limits>
#include <new>

namespace stepscope {

namespace {

constexpr std::uint32_t not_met = 0xFFFF'FFFFu;

template <class T>
void append_column(Column<T>& to, const Column<T>& from, std::size_t count) {
  T* target = to.append_uninitialised(count);
  if (count != 0) std::copy_n(from.data(), count, target);
}

template <class Fact>
void append_facts(Column<Fact>& to, const Column<Fact>& from, std::size_t first_row) {
  Fact* target = to.append_uninitialised(from.size());
  for (Fact fact : from) {
    fact.slice = SliceId{static_cast<std::uint32_t>(index(fact.slice) + first_row)};
    *target++ = fact;
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

KinetoMerger::KinetoMerger(TimelineBuilder& builder, RankId rank)
    : builder_(builder),
      rank_(rank),
      first_row_(builder.slice_count()),
      first_flow_(builder.unfinished().flows.size()),
      first_memory_(builder.unfinished().memory.size()),
      first_counter_(builder.unfinished().counters.size()),
      first_instant_(builder.unfinished().instants.size()) {}

NameId KinetoMerger::name(NameId local, KinetoVocabulary& vocabulary) {
  NameId& merged = vocabulary.merged_names[index(local)];
  if (merged == no_id<NameId>) merged = builder_.names().intern(vocabulary.names[local]);
  return merged;
}

NameId KinetoMerger::detail(NameId local, KinetoVocabulary& vocabulary) {
  NameId& merged = vocabulary.merged_details[index(local)];
  if (merged == no_id<NameId>) merged = builder_.details().intern(vocabulary.details[local]);
  return merged;
}

std::uint32_t KinetoMerger::track(std::uint32_t local, KinetoVocabulary& vocabulary) {
  std::uint32_t& merged = vocabulary.merged_tracks[local];
  if (merged != not_met) return merged;
  KinetoTrack track = vocabulary.tracks[local];
  track.process = name(track.process, vocabulary);
  track.thread = name(track.thread, vocabulary);
  if (track.device != no_id<NameId>) track.device = name(track.device, vocabulary);
  merged = tracks_.intern(track);
  uses_.resize(tracks_.size());
  return merged;
}

NameId KinetoMerger::thread(NameId process, NameId thread, const KinetoVocabulary& vocabulary) {
  return threads_.intern(std::string(vocabulary.names[process]).append(1, '\0').append(vocabulary.names[thread]));
}

NameId KinetoMerger::thread(TrackId local, KinetoVocabulary& vocabulary) {
  NameId& merged = vocabulary.merged_threads[index(local)];
  if (merged == no_id<NameId>) {
    const KinetoTrack& track = vocabulary.tracks[static_cast<std::uint32_t>(local)];
    merged = thread(track.process, track.thread, vocabulary);
  }
  return merged;
}

NameId KinetoMerger::thread_of(const KinetoTrack& merged) {
  return threads_.intern(std::string(builder_.names()[merged.process]).append(1, '\0').append(builder_.names()[merged.thread]));
}

void KinetoMerger::number(KinetoBlock& block, KinetoVocabulary& vocabulary) {
  vocabulary.merged_names.resize(vocabulary.names.size(), no_id<NameId>);
  vocabulary.merged_details.resize(vocabulary.details.size(), no_id<NameId>);
  vocabulary.merged_tracks.resize(vocabulary.tracks.size(), not_met);
  vocabulary.merged_threads.resize(vocabulary.tracks.size(), no_id<NameId>);

  events_ += block.events;
  launch_arrows_ += block.launch_arrows;
  unread_events_ += block.unread_events;
  repairs_.add(block.repairs);
  for (const KinetoBlock::ThreadMetadata& row : block.metadata) {
    Label& label = labels_[thread(row.process, row.thread, vocabulary)];
    if (row.is_label) {
      label.text = trimmed(vocabulary.names[row.label]);
    } else {
      label.sort_index = row.sort_index;
    }
  }
  number_others(block, vocabulary);
  number_slices(block.slices, vocabulary);
}

void KinetoMerger::number_others(KinetoBlock& block, KinetoVocabulary& vocabulary) {
  const auto set_thread = [&](auto& row) { row.track = TrackId{static_cast<std::uint32_t>(thread(row.track, vocabulary))}; };
  for (FlowEnd& flow : block.flows) set_thread(flow);
  for (MemoryEvent& event : block.memory) set_thread(event);
  for (CounterSample& sample : block.counters) {
    sample.name = other_names_.intern(vocabulary.names[sample.name]);
    set_thread(sample);
  }
  for (Instant& instant : block.instants) {
    instant.name = other_names_.intern(vocabulary.names[instant.name]);
    instant.detail = other_details_.intern(vocabulary.details[instant.detail]);
    set_thread(instant);
  }
  for (KinetoBlock::Mark& mark : block.marks) {
    mark.thread = thread(mark.process, mark.thread, vocabulary);
    if (mark.detail != NameId{}) mark.detail = other_details_.intern(vocabulary.details[mark.detail]);
  }
}

void KinetoMerger::number_slices(KinetoSlices& slices, KinetoVocabulary& vocabulary) {
  for (std::size_t row = 0; row < slices.count; ++row) {
    slices.name[row] = name(slices.name[row], vocabulary);
    slices.detail[row] = detail(slices.detail[row], vocabulary);
    const std::uint32_t merged = track(slices.track[row], vocabulary);
    slices.track[row] = merged;
    const SliceKind kind = slices.kind[row];
    TrackUse& use = uses_[merged];
    use.has_device_slices |= is_device_activity(kind);
    use.has_calls |= is_api_call(kind);
    use.has_thread_rows |= kind >= SliceKind::operation && kind <= SliceKind::annotation;
  }
}

void KinetoMerger::append(const KinetoBlock& block) {
  Timeline& to = builder_.unfinished();
  to.flows.append(block.flows);
  to.memory.append(block.memory);
  to.counters.append(block.counters);
  to.instants.append(block.instants);
  const std::size_t first_row = builder_.slice_count();
  if (first_row + block.slices.count >= std::numeric_limits<std::uint32_t>::max()) {
    repairs_of_rows_.add(Repair::too_many_slices, 0, block.slices.count);
    return;
  }
  append_slices(block.slices);
  append_facts(to.sequences, block.sequences, first_row);
  append_facts(to.python, block.python, first_row);
  append_facts(to.transfers, block.transfers, first_row);
  append_facts(to.syncs, block.syncs, first_row);
  const auto row_here = [&](std::uint32_t row) { return static_cast<std::uint32_t>(row + first_row); };
  for (const KinetoBlock::ZeroRow& zero : block.zero_rows) zero_rows_.push_back({row_here(zero.row), zero.offset});
  for (const std::uint32_t row : block.unfinished_rows) unfinished_rows_.push_back(row_here(row));
  append_marks(block, first_row);
}

void KinetoMerger::expect(std::uint64_t times) {
  SliceColumns& slices = builder_.slices();
  const std::size_t rows = slices.size() + (slices.size() - first_row_) * times;
  try {
    slices.start.reserve(rows), slices.duration.reserve(rows), slices.kind.reserve(rows), slices.correlation.reserve(rows), slices.external.reserve(rows);
    slices.name.reserve(rows), slices.detail.reserve(rows), slices.track.reserve(rows);
  } catch (const std::bad_alloc&) {
    // An address space limit: then columns grow as far as they need.
  }
}

void KinetoMerger::append_slices(const KinetoSlices& from) {
  SliceColumns& to = builder_.slices();
  const std::size_t count = from.count;
  append_column(to.start, from.start, count);
  append_column(to.duration, from.duration, count);
  append_column(to.kind, from.kind, count);
  append_column(to.correlation, from.correlation, count);
  append_column(to.external, from.external, count);
  append_column(to.name, from.name, count);
  append_column(to.detail, from.detail, count);
  TrackId* const tracks = to.track.append_uninitialised(count);
  std::transform(from.track.begin(), from.track.begin() + count, tracks, [](std::uint32_t track) { return TrackId{track}; });
}

void KinetoMerger::append_marks(const KinetoBlock& block, std::size_t first_row) {
  SliceColumns& slices = builder_.slices();
  for (const KinetoBlock::Mark& mark : block.marks) {
    std::vector<OpenBegin>& stack = open_[mark.thread];
    if (mark.begins) {
      stack.push_back({static_cast<std::uint32_t>(mark.row + first_row), mark.offset});
      continue;
    }
    if (stack.empty()) {
      repairs_of_rows_.add(Repair::end_without_begin, mark.offset);
      continue;
    }
    const std::uint32_t row = stack.back().row;
    stack.pop_back();
    if (mark.time < slices.start[row]) repairs_of_rows_.add(Repair::negative_duration, mark.offset);
    slices.duration[row] = std::max<Nanoseconds>(0, mark.time - slices.start[row]);
    if (slices.detail[row] == NameId{} && mark.detail != NameId{}) late_details_.push_back({row, mark.detail});
  }
}

// A record that was never filled in has time 0. In a trace that starts at 0 such a slice is nothing special: it counts as one only where all others lie further
// away from 0 than they lie apart, and more than a second.
void KinetoMerger::drop_zero_rows() {
  if (zero_rows_.empty()) return;
  const SliceColumns& slices = builder_.slices();
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max(), latest = std::numeric_limits<Nanoseconds>::min();
  for (std::size_t row = first_row_; row < slices.size(); ++row) {
    if (slices.start[row] == 0) continue;
    earliest = std::min(earliest, slices.start[row]);
    latest = std::max(latest, slices.start[row]);
  }
  if (earliest > latest || earliest < 1'000'000'000 || earliest < latest - earliest) return;
  std::vector<std::uint32_t> rows;
  for (const ZeroRow& zero : zero_rows_) {
    rows.push_back(zero.row);
    repairs_.add(Repair::zero_timestamp, zero.offset);
  }
  std::ranges::sort(rows);
  remove_rows(rows);
}

// rows: ascending. Everything that refers to slices by number follows.
void KinetoMerger::remove_rows(const std::vector<std::uint32_t>& rows) {
  const auto is_removed = [&](std::uint32_t row) { return std::ranges::binary_search(rows, row); };
  const auto moved = [&](std::uint32_t row) { return static_cast<std::uint32_t>(row - (std::ranges::lower_bound(rows, row) - rows.begin())); };
  SliceColumns& slices = builder_.slices();
  const auto compact = [&](auto& column) {
    std::size_t kept = rows.front();
    std::size_t next_removed = 0;
    for (std::size_t row = kept; row < column.size(); ++row) {
      if (next_removed < rows.size() && rows[next_removed] == row) {
        ++next_removed;
        continue;
      }
      column[kept++] = column[row];
    }
    column.resize(kept);
  };
  compact(slices.start), compact(slices.duration), compact(slices.name), compact(slices.track), compact(slices.kind);
  compact(slices.correlation), compact(slices.external), compact(slices.detail);
  const auto compact_facts = [&](auto& facts) {
    std::size_t kept = 0;
    for (auto fact : facts) {
      const auto row = static_cast<std::uint32_t>(fact.slice);
      if (is_removed(row)) continue;
      fact.slice = SliceId{moved(row)};
      facts[kept++] = fact;
    }
    facts.resize(kept);
  };
  Timeline& timeline = builder_.unfinished();
  compact_facts(timeline.sequences), compact_facts(timeline.python), compact_facts(timeline.transfers), compact_facts(timeline.syncs);
  const auto compact_list = [&](std::vector<std::uint32_t>& list) {
    std::erase_if(list, is_removed);
    for (std::uint32_t& row : list) row = moved(row);
  };
  compact_list(unfinished_rows_);
  std::erase_if(late_details_, [&](const LateDetail& late) { return is_removed(late.row); });
  for (LateDetail& late : late_details_) late.row = moved(late.row);
}

void KinetoMerger::end_unfinished() {
  if (unfinished_rows_.empty()) return;
  SliceColumns& slices = builder_.slices();
  std::vector<Nanoseconds> last_end(tracks_.size(), std::numeric_limits<Nanoseconds>::min());
  for (std::size_t row = first_row_; row < slices.size(); ++row) {
    Nanoseconds& end = last_end[index(slices.track[row])];
    end = std::max(end, slices.start[row] + std::max<Nanoseconds>(0, slices.duration[row]));
  }
  for (const std::uint32_t row : unfinished_rows_) slices.duration[row] = last_end[index(slices.track[row])] - slices.start[row];
}

// Of the slices' tracks.
std::vector<TrackId> KinetoMerger::make_tracks() {
  const NameTable& names = builder_.names();
  // An annotation drawn on a device row says the device only by its pid; where that pid's slices name another device, it is theirs.
  std::unordered_map<NameId, NameId> device_of_process;
  std::unordered_map<NameId, std::uint32_t> stream_of_thread;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    if (!uses_[i].has_device_slices) continue;
    device_of_process.emplace(tracks_[i].process, tracks_[i].device);
    stream_of_thread.emplace(thread_of(tracks_[i]), i);
  }
  std::vector<TrackId> ids(tracks_.size(), no_id<TrackId>);
  std::vector<std::uint32_t> same_as(tracks_.size());
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    const KinetoTrack& track = tracks_[i];
    same_as[i] = i;
    if (track.device == no_id<NameId> || uses_[i].has_device_slices) continue;
    const auto stream = stream_of_thread.find(thread_of(track));
    if (stream != stream_of_thread.end() && track.device == track.process && track.stream == tracks_[stream->second].stream) same_as[i] = stream->second;
  }
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    if (same_as[i] != i) continue;
    const KinetoTrack& track = tracks_[i];
    DeviceId device = no_id<DeviceId>;
    if (track.device != no_id<NameId>) {
      NameId label = track.device;
      if (const auto known = device_of_process.find(track.process); !uses_[i].has_device_slices && label == track.process && known != device_of_process.end())
        label = known->second;
      device = builder_.device(rank_, std::string(names[label]));
    }
    const TrackKind kind = device != no_id<DeviceId> ? TrackKind::stream : uses_[i].has_thread_rows ? TrackKind::thread : TrackKind::other;
    ids[i] = builder_.track(rank_, kind, std::string(names[track.process]), std::string(names[track.thread]), device, track.stream);
  }
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) ids[i] = ids[same_as[i]];
  return ids;
}

void KinetoMerger::set_tracks_of_slices(const std::vector<TrackId>& ids) {
  SliceColumns& slices = builder_.slices();
  bool same = true;
  for (std::size_t i = 0; i < ids.size(); ++i) same = same && index(ids[i]) == i;
  if (!same)
    for (TrackId& track : slices.track.span().subspan(first_row_)) track = ids[index(track)];
  for (const LateDetail& late : late_details_) slices.detail[late.row] = builder_.details().intern(other_details_[late.detail]);
}

// Rows that are no slices lie on the track of their thread, on a device's row on that of its stream; else they have a track of their own.
void KinetoMerger::set_tracks_of_others(const std::vector<TrackId>& ids) {
  std::vector<TrackId> track_of(threads_.size(), no_id<TrackId>);
  for (const bool on_device : {false, true})
    for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
      if ((tracks_[i].device != no_id<NameId>) != on_device) continue;
      const NameId thread = thread_of(tracks_[i]);
      if (index(thread) >= track_of.size()) track_of.resize(threads_.size(), no_id<TrackId>);
      if (track_of[index(thread)] == no_id<TrackId>) track_of[index(thread)] = ids[i];
    }
  const auto number = [&](TrackId& track, TrackKind kind) {
    TrackId& known = track_of[index(track)];
    if (known == no_id<TrackId>) {
      const std::string thread(threads_[NameId{static_cast<std::uint32_t>(track)}]);
      const std::size_t end_of_process = thread.find('\0');
      known = builder_.track(rank_, kind, thread.substr(0, end_of_process), thread.substr(end_of_process + 1));
    }
    track = known;
    if (kind == TrackKind::thread && builder_.track(known).kind == TrackKind::other) builder_.track(known).kind = kind;
  };
  Timeline& timeline = builder_.unfinished();
  for (FlowEnd& row : timeline.flows.span().subspan(first_flow_))
    number(row.track, row.kind == FlowKind::forward_backward ? TrackKind::thread : TrackKind::other);
  for (MemoryEvent& row : timeline.memory.span().subspan(first_memory_)) number(row.track, TrackKind::thread);
  for (CounterSample& row : timeline.counters.span().subspan(first_counter_)) {
    number(row.track, TrackKind::other);
    row.name = timeline.names.intern(other_names_[row.name]);
  }
  for (Instant& row : timeline.instants.span().subspan(first_instant_)) {
    number(row.track, TrackKind::other);
    row.name = timeline.names.intern(other_names_[row.name]);
    row.detail = timeline.details.intern(other_details_[row.detail]);
  }
  for (Track& track : timeline.tracks) {
    if (track.rank != rank_) continue;
    const auto label = labels_.find(thread_of({track.process, track.thread}));
    if (label == labels_.end()) continue;
    track.label = label->second.text;
    track.sort_index = label->second.sort_index;
  }
}

void KinetoMerger::finish(const Repairs& repairs) {
  repairs_.add(repairs_of_rows_);
  repairs_.add(repairs);
  for (const auto& [thread, stack] : open_)
    for (const OpenBegin& begin : stack) {
      unfinished_rows_.push_back(begin.row);
      repairs_.add(Repair::unfinished_begin, begin.offset);
    }
  std::ranges::sort(unfinished_rows_);
  drop_zero_rows();
  end_unfinished();
  const std::vector<TrackId> ids = make_tracks();
  find_owners(ids);
  set_tracks_of_slices(ids);
  set_tracks_of_others(ids);
  repairs_.report(builder_.health().repairs);
  HealthList& notes = builder_.health().notes;
  notes.add("launch_arrows", launch_arrows_, "", "Ends of arrows from launching calls to device work; correlation ids say the same, so they are not kept.");
  notes.add("unread_events", unread_events_, "", "Events of phases that Stepscope has no use for (asynchronous spans, samples, objects, …).");
}

// Correlation ids are unique within a process, so a stream belongs to the process that launched into it. Where the file holds the calls of several processes,
// each device slice votes for the process of the call with its id that stands nearest before it in the file (a process's records stand together), else behind.
void KinetoMerger::find_owners(const std::vector<TrackId>& ids) {
  const SliceColumns& slices = builder_.slices();
  std::vector<NameId> processes;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i)
    if (uses_[i].has_calls && std::ranges::find(processes, tracks_[i].process) == processes.end()) processes.push_back(tracks_[i].process);
  const auto own = [&](std::uint32_t track, NameId process) { builder_.track(ids[track]).owner_process = process; };
  if (processes.size() <= 1) {
    for (std::uint32_t i = 0; i < tracks_.size(); ++i)
      if (tracks_[i].device != no_id<NameId> && !processes.empty()) own(i, processes[0]);
    return;
  }
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> calls;  // rows, ascending
  for (std::size_t row = first_row_; row < slices.size(); ++row)
    if (is_api_call(slices.kind[row]) && slices.correlation[row] != no_number) calls[slices.correlation[row]].push_back(static_cast<std::uint32_t>(row));
  std::vector<std::unordered_map<NameId, std::uint64_t>> votes(tracks_.size());
  for (std::size_t row = first_row_; row < slices.size(); ++row) {
    if (!is_device_activity(slices.kind[row])) continue;
    const auto found = calls.find(slices.correlation[row]);
    if (found == calls.end()) continue;
    const auto behind = std::ranges::lower_bound(found->second, row);
    const std::uint32_t call = behind == found->second.begin() ? *behind : behind[-1];
    ++votes[index(slices.track[row])][tracks_[static_cast<std::uint32_t>(slices.track[call])].process];
  }
  // A device runs the work of one process; streams without any vote follow their device.
  std::unordered_map<NameId, std::unordered_map<NameId, std::uint64_t>> device_votes;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i)
    for (const auto& [process, count] : votes[i]) device_votes[tracks_[i].device][process] += count;
  for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].device == no_id<NameId>) continue;
    const auto& counts = votes[i].empty() ? device_votes[tracks_[i].device] : votes[i];
    NameId best = no_id<NameId>;
    for (const NameId process : processes) {
      const auto count = counts.find(process);
      if (count != counts.end() && (best == no_id<NameId> || count->second > counts.at(best))) best = process;
    }
    if (best != no_id<NameId>) own(i, best);
  }
}

}  // namespace stepscope
