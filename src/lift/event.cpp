// A stream waits for an event that was recorded on another one. Where the trace has rows for it ("Stream Wait Event"), they say which streams, and by the
// correlation id of the recording call for how much of the other stream. Where it has none, a wait is inferred as METRICS.md infers it for idle time: the
// operation was queued, it started within 20 µs of the end of one on another stream, and between the launches of both a call let a stream wait.
#include <algorithm>
#include <unordered_map>

#include "lift/draft.h"
#include "lift/sync_calls.h"

namespace stepscope {

namespace {

constexpr int most_looked_at = 16;  // operations that ended before: keeps the work linear for any input

void wait_for_recorded(Draft& draft, const SyncCalls& calls) {
  const SliceColumns& s = draft.timeline.slices;
  for (const SyncFact& sync : draft.timeline.syncs) {
    if (sync.wait_on_stream < 0 || !calls.is_stream_wait(sync)) continue;
    const Track& track = draft.timeline.track_of(sync.slice);
    const std::uint32_t waiting = draft.stream_of_track[index(s.track[sync.slice])];
    const Stream* const recorded = calls.stream(track.rank, track.device, sync.wait_on_stream);
    const auto called = calls.call_start(track.rank, s.correlation[sync.slice]);
    if (waiting == no_stream || recorded == nullptr || !called) continue;
    const auto event = sync.wait_on_record_correlation == no_number ? called : calls.call_start(track.rank, sync.wait_on_record_correlation);
    const Stream& stream = draft.streams[waiting];
    const auto next = std::ranges::lower_bound(stream.launched_by, *called) - stream.launched_by.begin();
    if (next == static_cast<std::ptrdiff_t>(stream.slices.size())) continue;
    const StreamSlice& slice = stream.slices[static_cast<std::size_t>(next)];
    for (const StreamSlice* source : calls.work_before(*recorded, event.value_or(*called))) {
      if (source->op == slice.op || source->end > slice.start) continue;  // records that contradict each other
      draft.waits.push_back({.operation = slice.op, .on = Moment::end(source->op), .time = source->end, .kind = DependencyKind::event});
    }
  }
}

class Inference {
 public:
  explicit Inference(Draft& draft) : draft_(draft) {
    for (const SliceId call : draft.facts.wait_calls) wait_calls_[draft.timeline.track_of(call).rank].push_back(draft.timeline.slices.start[call]);
    ready_ = ready_times(draft);
  }

  void infer() {
    std::unordered_map<DeviceId, std::vector<std::uint32_t>> streams_of;
    for (std::uint32_t row = 0; row < draft_.streams.size(); ++row) streams_of[draft_.timeline.tracks[index(draft_.streams[row].track)].device].push_back(row);
    std::unordered_map<DeviceId, std::vector<EndedSlice>> by_device = slices_by_end(draft_);
    for (std::uint32_t row = 0; row < draft_.streams.size(); ++row) {
      const Track& track = draft_.timeline.tracks[index(draft_.streams[row].track)];
      const auto calls = wait_calls_.find(track.rank);
      if (calls == wait_calls_.end() || streams_of[track.device].size() < 2) continue;
      const std::vector<EndedSlice>& ended = by_device[track.device];
      for (const StreamSlice& slice : draft_.streams[row].slices) {
        if (slice.launch == no_id<SliceId> || !ready_[slice.op].waited_longer(slice.start, draft_.typical[index(track.device)])) continue;
        const StreamSlice* source = ended_just_before(slice, row, ended, calls->second);
        if (source == nullptr) source = launched_just_before(slice, row, streams_of[track.device], calls->second);
        if (source != nullptr)
          draft_.waits.push_back({.operation = slice.op, .on = Moment::end(source->op), .time = source->end, .kind = DependencyKind::event});
      }
    }
  }

 private:
  // Whether a stream was told to wait between two launches.
  static bool wait_called(const StreamSlice& source, const StreamSlice& slice, const std::vector<Nanoseconds>& wait_calls) {
    const auto call = std::ranges::lower_bound(wait_calls, source.launched);
    return call != wait_calls.end() && *call < slice.launched;
  }

  const StreamSlice* ended_just_before(const StreamSlice& slice, std::uint32_t row, const std::vector<EndedSlice>& ended,
                                       const std::vector<Nanoseconds>& wait_calls) const {
    const Nanoseconds ready = ready_[slice.op].time();
    auto at = std::ranges::upper_bound(ended, slice.start, {}, &EndedSlice::end);
    for (int looked_at = 0; at != ended.begin() && looked_at < most_looked_at; ++looked_at) {
      --at;
      if (at->end <= ready || slice.start - at->end > longest_scheduling_gap) return nullptr;
      if (at->stream != row && at->slice->launch != no_id<SliceId> && wait_called(*at->slice, slice, wait_calls)) return at->slice;
    }
    return nullptr;
  }

  // The last operation of another stream before the launch: what an event recorded just then stands for. Collective libraries take longer to begin.
  const StreamSlice* launched_just_before(const StreamSlice& slice, std::uint32_t row, const std::vector<std::uint32_t>& streams,
                                          const std::vector<Nanoseconds>& wait_calls) const {
    const Nanoseconds ready = ready_[slice.op].time();
    const StreamSlice* found = nullptr;
    int looked_at = 0;
    for (const std::uint32_t other : streams) {
      if (other == row) continue;
      if (++looked_at > most_looked_at) break;
      const StreamSlice* const source = draft_.streams[other].last_launched_before(slice.launched);
      if (source == nullptr || source->end <= ready || source->end > slice.start || slice.start - source->end > longest_event_gap) continue;
      if (wait_called(*source, slice, wait_calls) && (found == nullptr || source->end > found->end)) found = source;
    }
    return found;
  }

  Draft& draft_;
  std::unordered_map<RankId, std::vector<Nanoseconds>> wait_calls_;
  Column<ReadyTime> ready_;  // per operation
};

}  // namespace

void wait_for_events(Draft& draft) {
  const SyncCalls calls(draft);
  wait_for_recorded(draft, calls);
  Inference(draft).infer();
}

}  // namespace stepscope
