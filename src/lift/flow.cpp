// Arrows of the trace between threads that are neither launches nor forward-backward links: what stands at the head waits for what stands at the tail.
#include <algorithm>
#include <unordered_map>

#include "lift/draft.h"

namespace stepscope {

void follow_flows(Draft& draft) {
  std::unordered_map<std::uint64_t, const FlowEnd*> tails;
  for (const FlowEnd& flow : draft.timeline.flows)
    if (flow.kind == FlowKind::other && flow.starts) tails.try_emplace(flow.id, &flow);
  if (tails.empty()) return;
  for (const FlowEnd& head : draft.timeline.flows) {
    if (head.kind != FlowKind::other || head.starts) continue;
    const auto tail = tails.find(head.id);
    if (tail == tails.end() || tail->second->track == head.track || tail->second->time >= head.time) continue;
    const ThreadPart* const from = draft.part_at(tail->second->track, tail->second->time);
    const ThreadPart* const to = draft.part_at(head.track, head.time);
    // Only what the times bear out: the head's part began after the tail's.
    if (from == nullptr || to == nullptr || to->begin < tail->second->time) continue;
    draft.builder.depend(to->op, Moment::start(from->op), DependencyKind::flow, tail->second->time - from->begin,
                         tail->second->time == from->begin ? LagKind::none : LagKind::hand_over);
  }
}

}  // namespace stepscope
