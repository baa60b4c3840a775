// Which framework operator caused an API call or device slice: the innermost one that encloses the call on its thread. Where a device slice has no launch
// record, or its launch lies in no operator, the profiler's "External id" says which operator was open, if it names one operator only.
#include <unordered_map>

#include "facts/derive.h"

namespace stepscope {

namespace {

void from_call_tree(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  facts.operation.resize(s.size(), no_id<SliceId>);
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].kind != TrackKind::thread) continue;
    for (const SliceId id : timeline.on_track(TrackId{static_cast<std::uint32_t>(t)})) {  // parents come before their children
      const SliceId parent = facts.parent[id];
      if (parent != no_id<SliceId>) facts.operation[id] = s.kind[parent] == SliceKind::operation ? parent : facts.operation[parent];
    }
  }
}

std::uint64_t external_key(const Timeline& timeline, SliceId id) {
  const Track& track = timeline.track_of(id);
  // Ids are counters, so that the process fits beside them.
  return timeline.slices.external[id] ^ (static_cast<std::uint64_t>(track.owner_process) << 40) ^ (static_cast<std::uint64_t>(track.rank) << 52);
}

bool same_process(const Track& a, const Track& b) {
  return a.rank == b.rank && a.owner_process == b.owner_process;
}

// Old traces write the correlation id into "External id" (kineto#782): such an id names no operator.
bool names_an_operator(const SliceColumns& s, SliceId id) {
  return s.external[id] != no_number && s.external[id] != 0 && s.external[id] != s.correlation[id];
}

void from_external_ids(const Timeline& timeline, const std::vector<SliceId>& orphans, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  std::unordered_map<std::uint64_t, SliceId> operators;  // no_id: several operators carry this id
  for (const SliceId id : orphans) operators.try_emplace(external_key(timeline, id), no_id<SliceId>);
  std::unordered_map<std::uint64_t, std::uint32_t> seen;
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (s.kind[row] != SliceKind::operation || s.external[row] == no_number) continue;
    const SliceId id{static_cast<std::uint32_t>(row)};
    const auto wanted = operators.find(external_key(timeline, id));
    if (wanted == operators.end()) continue;
    wanted->second = seen[wanted->first]++ == 0 ? id : no_id<SliceId>;
  }
  for (const SliceId id : orphans) {
    const SliceId cause = operators[external_key(timeline, id)];
    if (cause != no_id<SliceId> && s.external[cause] == s.external[id] && same_process(timeline.track_of(cause), timeline.track_of(id)))
      facts.operation[id] = cause;
  }
}

}  // namespace

void find_operations(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  from_call_tree(timeline, facts);
  std::vector<SliceId> orphans;
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_device_activity(s.kind[row])) continue;
    const SliceId id{static_cast<std::uint32_t>(row)}, launch = facts.launch[row];
    if (launch != no_id<SliceId>) facts.operation[row] = facts.operation[launch];
    if (facts.operation[row] == no_id<SliceId> && names_an_operator(s, id)) orphans.push_back(id);
  }
  if (!orphans.empty()) from_external_ids(timeline, orphans, facts);
}

}  // namespace stepscope
