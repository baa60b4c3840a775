// Collectives over ranks: none starts to transfer before all have arrived. The kernel of a member, from its start to its end, becomes
//
//   arrival (no duration) ──▶ transfer, of all members ──▶ completion (what is left of the member's kernel)
//
// so that a member which comes earlier waits longer, and one that comes later lets the others wait. The transfer lasts from the last arrival to the first
// member's end (METRICS.md, Communication). A capture that lacks members of the group tells only of those it has.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

class Collective {
 public:
  Collective(Draft& draft, std::span<const CollectiveMember> members) : draft_(draft), s_(draft.timeline.slices), members_(members) {
    for (const CollectiveMember& member : members) {
      last_arrival_ = std::max(last_arrival_, s_.start[member.slice] - offset(member));
      first_end_ = std::min(first_end_, s_.end(member.slice) - offset(member));
    }
  }

  bool is_lifted() const {
    return std::ranges::all_of(members_, [&](const CollectiveMember& member) { return draft_.lifted.operation_of[member.slice] != no_id<OpId>; });
  }
  bool is_contradicted() const { return first_end_ < last_arrival_; }

  // The operations, without what they wait for.
  void add(const MatchedCollective& matched, PlaceId link) {
    const SliceId slice = members_.front().slice;
    const OpId transfer = draft_.add({.place = link,
                                      .operation_class = OperationClass::transfer,
                                      .duration = first_end_ - last_arrival_,
                                      .name = s_.name[slice],
                                      .origin = slice,
                                      .bytes = matched.bytes},
                                     {last_arrival_, first_end_});
    for (const CollectiveMember& member : members_) {
      const OpId arrival = draft_.lifted.operation_of[member.slice];
      const Interval rest{first_end_ + offset(member), s_.end(member.slice)};
      OperationColumns& operations = draft_.builder.operations();
      const OpId completion = draft_.add({.place = operations.place[arrival],
                                          .operation_class = OperationClass::communication,
                                          .duration = rest.length(),
                                          .name = s_.name[member.slice],
                                          .origin = member.slice},
                                         rest);
      operations.duration[arrival] = 0;
      draft_.measured[arrival].end = draft_.measured[arrival].begin;
      draft_.lifted.members.push_back({.slice = member.slice, .arrival = arrival, .completion = completion, .transfer = transfer});
    }
  }

 private:
  Nanoseconds offset(const CollectiveMember& member) const { return draft_.lifted.clock_offsets[index(member.rank)]; }

  Draft& draft_;
  const SliceColumns& s_;
  const std::span<const CollectiveMember> members_;
  Nanoseconds last_arrival_ = long_ago, first_end_ = std::numeric_limits<Nanoseconds>::max();
};

}  // namespace

void join_collectives(Draft& draft) {
  const Facts& facts = draft.facts;
  Lifted& lifted = draft.lifted;
  lifted.clock_offsets.assign(draft.timeline.ranks.size(), 0);
  for (std::size_t rank = 0; rank < facts.clocks.size(); ++rank) lifted.clock_offsets[rank] = facts.clocks[rank].offset.value_or(0);
  if (facts.collectives.matched.empty()) return;

  const PlaceId link = draft.builder.place({.kind = PlaceKind::link});
  for (const MatchedCollective& matched : facts.collectives.matched) {
    Collective collective(draft, facts.collectives.members_of(matched));
    if (!collective.is_lifted()) continue;
    if (collective.is_contradicted())
      ++lifted.collectives_contradicted;
    else
      collective.add(matched, link);
  }
  // Whoever waited for the end of a member's kernel waits for the member's completion.
  Column<OpId> completion_of;
  completion_of.resize(draft.builder.size(), no_id<OpId>);
  for (const MemberOperations& member : lifted.members) completion_of[member.arrival] = member.completion;
  draft.builder.redirect_ends(completion_of);
  for (GraphWindow& window : lifted.windows)
    for (Moment* const moment : {&window.begin, &window.end})
      if (const OpId to = completion_of[moment->operation()]; moment->is_end() && to != no_id<OpId>) *moment = Moment::end(to);
  for (const MemberOperations& member : lifted.members) {
    draft.builder.depend(member.transfer, Moment::start(member.arrival), DependencyKind::collective);
    draft.builder.depend(member.completion, Moment::end(member.transfer), DependencyKind::collective);
    draft.builder.depend(member.completion, Moment::end(member.arrival), DependencyKind::stream_order);
  }
  std::ranges::sort(lifted.members, {}, &MemberOperations::slice);
}

void use_common_clock(Draft& draft, Column<Interval>& measured) {
  Graph& graph = draft.lifted.graph;
  for (std::uint32_t op = 1; op < graph.size(); ++op) {
    const RankId rank = graph.place_of(OpId{op}).rank;
    if (rank == no_id<RankId>) continue;
    const Nanoseconds offset = draft.lifted.clock_offsets[index(rank)];
    if (offset == 0) continue;
    measured[op] = {measured[op].begin - offset, measured[op].end - offset};
    // Within a rank only differences matter; what starts at a time of its own does not.
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row) {
      if (graph.dependencies.moment[row].operation() != OpId{0}) continue;
      graph.dependencies.lag[row] -= offset;
      graph.dependencies.lag_kind[row] = LagKind::root;
    }
  }
}

Moment Lifted::end_of(SliceId slice) const {
  const auto member = std::ranges::lower_bound(members, slice, {}, &MemberOperations::slice);
  return Moment::end(member != members.end() && member->slice == slice ? member->completion : operation_of[slice]);
}

}  // namespace stepscope
