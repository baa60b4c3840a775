// Forward operators that run again inside backward, because activation checkpointing threw their results away. Autograd numbers them a second time while a
// backward node is open: such an operator carries a sequence number, but no forward thread. With create_graph=True (double backward) all of a node's own
// operators are numbered like that; a node counts as recomputing only where it also has operators of its own that are not (the gradient's own work).
#include "facts/derive.h"

namespace stepscope {

namespace {

constexpr std::uint8_t recomputes = 1, has_own_work = 2;  // bits of Facts::recomputed while it is made

bool numbered_again(const SequenceFact& fact, const Facts& facts) {
  return fact.sequence >= 0 && fact.forward_thread == 0 && facts.phase[fact.slice] == Phase::backward && facts.operation[fact.slice] != no_id<SliceId>;
}

}  // namespace

void find_recomputed(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  facts.recomputed.resize(s.size(), 0);
  bool any = false;
  for (const SequenceFact& fact : timeline.sequences) {
    if (!numbered_again(fact, facts)) continue;
    facts.recomputed[fact.slice] = recomputes;
    any = true;
  }
  if (!any) return;
  for (std::size_t row = 0; row < s.size(); ++row)
    if (s.kind[row] == SliceKind::operation && (facts.recomputed[row] & recomputes) == 0 && facts.operation[row] != no_id<SliceId>)
      facts.recomputed[facts.operation[row]] |= has_own_work;
  // Numbered backward nodes within a recomputed stretch (reentrant checkpointing) are backward work again.
  std::vector<bool> is_node(timeline.slices.size(), false);
  for (const SequenceFact& fact : timeline.sequences)
    if (fact.forward_thread != 0 && fact.forward_thread != no_number) is_node[index(fact.slice)] = true;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].kind != TrackKind::thread) continue;
    for (const SliceId id : timeline.on_track(TrackId{static_cast<std::uint32_t>(t)})) {
      const SliceId parent = facts.parent[id], operation = facts.operation[id];
      const bool inherits = parent != no_id<SliceId> && (facts.recomputed[parent] & recomputes) != 0 && !is_node[index(id)];
      const bool begins = (facts.recomputed[id] & recomputes) != 0 && operation != no_id<SliceId> && (facts.recomputed[operation] & has_own_work) != 0;
      facts.recomputed[id] = static_cast<std::uint8_t>((facts.recomputed[id] & has_own_work) | (inherits || begins ? recomputes : 0));
    }
  }
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (is_device_activity(s.kind[row])) {
      const SliceId cause = facts.launch[row] != no_id<SliceId> ? facts.launch[row] : facts.operation[row];
      facts.recomputed[row] = cause == no_id<SliceId> ? 0 : facts.recomputed[cause];
    }
  }
  for (std::uint8_t& value : facts.recomputed) value &= recomputes;
}

}  // namespace stepscope
