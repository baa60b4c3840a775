// Inside one launch of a CUDA graph: each operation waits for what had ended of the graph when it started, over all streams; only what begins the graph waits
// for the launch. What runs next on a stream of the graph waits for all of the graph.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr std::size_t most_recent = 16;

bool is_graph_launch(const Draft& draft, SliceId launch) {
  return launch != no_id<SliceId> && draft.facts.graph_launch[launch] != 0;
}

}  // namespace

void wait_inside_graphs(Draft& draft) {
  std::unordered_map<SliceId, std::vector<const StreamSlice*>> graphs;  // by launch
  for (const Stream& stream : draft.streams)
    for (const StreamSlice& slice : stream.slices)
      if (is_graph_launch(draft, slice.launch)) graphs[slice.launch].push_back(&slice);
  if (graphs.empty()) return;

  std::unordered_set<OpId> inside;  // operations that wait for others of their graph
  std::unordered_map<SliceId, const StreamSlice*> last_of;
  std::vector<DeviceWait> found;
  for (auto& [launch, slices] : graphs) {
    std::ranges::stable_sort(slices, {}, &StreamSlice::start);
    RecentSlices recent(most_recent);
    const StreamSlice* latest = nullptr;
    for (const StreamSlice* slice : slices) {
      const bool waits = recent.visit_and_add(
          *slice, [&](const StreamSlice& before) { return before.end <= slice->start; },
          [&](const StreamSlice& before) {
            found.push_back({.operation = slice->op, .on = Moment::end(before.op), .time = before.end, .kind = DependencyKind::graph_order});
          });
      if (waits) inside.insert(slice->op);
      if (latest == nullptr || slice->end > latest->end) latest = slice;
    }
    last_of[launch] = latest;
  }
  std::erase_if(draft.waits, [&](const DeviceWait& wait) { return wait.kind == DependencyKind::launch && inside.contains(wait.operation); });
  for (const Stream& stream : draft.streams) {
    const StreamSlice* before = nullptr;
    for (const StreamSlice& slice : stream.slices) {
      if (before != nullptr && before->launch != slice.launch && is_graph_launch(draft, before->launch)) {
        const StreamSlice* const last = last_of[before->launch];
        if (last->op != before->op && last->end <= slice.start)
          found.push_back({.operation = slice.op, .on = Moment::end(last->op), .time = last->end, .kind = DependencyKind::graph_order});
      }
      before = &slice;
    }
  }
  // In a fixed order, whatever the table's is.
  std::ranges::sort(found,
                    [](const DeviceWait& a, const DeviceWait& b) { return a.operation != b.operation ? a.operation < b.operation : a.on.row < b.on.row; });
  draft.waits.insert(draft.waits.end(), found.begin(), found.end());
}

}  // namespace stepscope
