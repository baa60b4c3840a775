#include "lift/sync_calls.h"

#include <algorithm>

namespace stepscope {

SyncCalls::SyncCalls(const Draft& draft) : draft_(draft) {
  const SliceColumns& s = draft.timeline.slices;
  if (draft.timeline.syncs.empty()) return;
  for (std::uint32_t row = 0; row < s.size(); ++row) {
    if (!is_api_call(s.kind[row]) || s.correlation[row] == no_number) continue;
    const ApiRole role = draft.facts.api_calls[s.name[row]].role;
    if (role == ApiRole::record_event || role == ApiRole::wait_event || role == ApiRole::synchronise)
      starts_.try_emplace(key(draft.timeline.track_of(SliceId{row}).rank, s.correlation[row]), s.start[row]);
  }
  for (const SyncFact& sync : draft.timeline.syncs)
    if (s.correlation[sync.slice] != no_number) records_.try_emplace(key(draft.timeline.track_of(sync.slice).rank, s.correlation[sync.slice]), &sync);
  for (const SyncFact& sync : draft.timeline.syncs) {
    if (sync.wait_on_stream < 0 || !is_stream_wait(sync)) continue;
    const Track& track = draft.timeline.track_of(sync.slice);
    const std::uint32_t waiting = draft.stream_of_track[index(s.track[sync.slice])];
    const Stream* const on = stream(track.rank, track.device, sync.wait_on_stream);
    const auto called = call_start(track.rank, s.correlation[sync.slice]);
    if (waiting == no_stream || on == nullptr || !called) continue;
    const auto event = sync.wait_on_record_correlation == no_number ? called : call_start(track.rank, sync.wait_on_record_correlation);
    waits_[&draft.streams[waiting]].push_back({*called, on, std::min(event.value_or(*called), *called)});
  }
  for (auto& [stream, waits] : waits_) std::ranges::stable_sort(waits, {}, &StreamWait::called);
}

std::vector<const StreamSlice*> SyncCalls::work_before(const Stream& stream, Nanoseconds time) const {
  std::vector<const StreamSlice*> found;
  std::vector<std::pair<const Stream*, Nanoseconds>> open{{&stream, time}};
  for (std::size_t i = 0; i < open.size() && open.size() < most_found; ++i) {
    const auto [from, until] = open[i];
    const StreamSlice* const last = from->last_launched_before(until);
    if (last != nullptr && std::ranges::find(found, last) == found.end()) found.push_back(last);
    const auto waits = waits_.find(from);
    if (waits == waits_.end()) continue;
    for (auto wait = std::ranges::lower_bound(waits->second, until, {}, &StreamWait::called); wait != waits->second.begin();) {
      --wait;
      if (last != nullptr && wait->called < last->launched) break;
      open.emplace_back(wait->on, wait->event);
      if (open.size() == most_found) break;
    }
  }
  return found;
}

std::optional<Nanoseconds> SyncCalls::call_start(RankId rank, std::uint64_t correlation) const {
  const auto found = starts_.find(key(rank, correlation));
  return found == starts_.end() ? std::nullopt : std::optional(found->second);
}

const SyncFact* SyncCalls::record_of(SliceId call) const {
  const SliceColumns& s = draft_.timeline.slices;
  if (s.correlation[call] == no_number) return nullptr;
  const auto found = records_.find(key(draft_.timeline.track_of(call).rank, s.correlation[call]));
  return found == records_.end() ? nullptr : found->second;
}

const Stream* SyncCalls::stream(RankId rank, DeviceId device, std::int64_t number) const {
  const Stream* found = nullptr;
  for (const Stream& stream : draft_.streams) {
    const Track& track = draft_.timeline.tracks[index(stream.track)];
    if (track.rank != rank || track.stream != number) continue;
    if (track.device == device) return &stream;
    if (found == nullptr) found = &stream;
  }
  return found;
}

bool SyncCalls::is_stream_wait(const SyncFact& sync) const {
  return draft_.timeline.name_of(sync.slice).find("Wait Event") != std::string_view::npos;
}

}  // namespace stepscope
