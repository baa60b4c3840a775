#include "analyze/forward_operators.h"

#include <algorithm>
#include <utility>

namespace stepscope {

ForwardOperators::ForwardOperators(const Timeline& timeline, RankId rank) {
  const SliceColumns& s = timeline.slices;
  for (const SequenceFact& fact : timeline.sequences)
    if (fact.sequence >= 0 && fact.forward_thread == 0 && timeline.track_of(fact.slice).rank == rank)
      rows_.push_back({fact.sequence, s.track[fact.slice], s.start[fact.slice], -s.duration[fact.slice], fact.slice});
  std::ranges::sort(rows_);
  std::map<std::pair<std::uint64_t, TrackId>, std::int64_t> votes;
  for (const SequenceFact& fact : timeline.sequences) {
    if (!is_backward_operator(fact) || timeline.track_of(fact.slice).rank != rank) continue;
    const auto mine = with_number(fact.sequence);
    if (!mine.empty() && mine.front().track == mine.back().track) ++votes[{fact.forward_thread, mine.front().track}];
  }
  std::map<std::uint64_t, std::int64_t> most;
  for (const auto& [thread_and_track, count] : votes) {
    const auto& [thread, track] = thread_and_track;
    if (count <= most[thread]) continue;
    most[thread] = count;
    tracks_[thread] = track;
  }
}

SliceId ForwardOperators::operator_of(const SequenceFact& backward) const {
  const auto mine = with_number(backward.sequence);
  if (mine.empty()) return no_id<SliceId>;
  if (mine.front().track == mine.back().track) return mine.back().slice;
  const auto track = tracks_.find(backward.forward_thread);
  if (track == tracks_.end()) return no_id<SliceId>;
  const auto on_track = std::ranges::equal_range(mine, track->second, {}, &Row::track);
  return on_track.empty() ? no_id<SliceId> : on_track.back().slice;
}

std::span<const ForwardOperators::Row> ForwardOperators::with_number(std::int64_t sequence) const {
  const auto found = std::ranges::equal_range(rows_, sequence, {}, &Row::sequence);
  return {found.begin(), found.end()};
}

}  // namespace stepscope
