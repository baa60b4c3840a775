#include "lift/sync_calls.h"

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
