// DistributedDataParallel looks for unused parameters: its search of the graph is recorded, or an all-reduce of int32 flags runs in backward. Threshold: 0.2 %
// of the step on the device or the host (ours). Gain: the search and the extra all-reduce take no time.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<Interval> searches;
  std::vector<OpId> operations;
  Finding f;
  double host = 0;
  const Graph& graph = scene.lifted.graph;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (scene.timeline.tracks[track].kind != TrackKind::thread) continue;
    for (const SliceId id : scene.timeline.on_track(TrackId{track})) {
      if (!has_text(c.e.name(id), "search_unused_parameters")) continue;
      searches.push_back({s.start[id], s.end(id)});
      host += static_cast<double>(s.duration[id]);
      if (f.evidence.size() < 10) f.evidence.push_back(id);
    }
  }
  if (searches.empty()) return {};
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    if (graph.place_of(op).kind != PlaceKind::thread || graph.operations.origin[op] == no_id<SliceId>) continue;
    for (SliceId at = graph.operations.origin[op]; at != no_id<SliceId>; at = scene.facts.parent[at])
      if (has_text(c.e.name(at), "search_unused_parameters")) {
        operations.push_back(op);
        break;
      }
  }
  std::vector<const DeviceCollective*> flags;
  for (const DeviceCollective& one : c.all)
    if (one.call.function == CollectiveFunction::all_reduce && one.call.type == DataType::int32) flags.push_back(&one);
  const Picked picked = c.picked(flags);
  const double all_steps = c.e.windows > 0 ? c.e.span * static_cast<double>(std::max<std::size_t>(1, searches.size())) / c.e.windows : 0;
  if (all_steps <= 0 || (host / all_steps < 0.002 && picked.share() < 0.002)) return {};
  f.title = "Search for unused parameters";
  f.observation = fmt::format("DistributedDataParallel searches the graph for unused parameters {} times ({} each); its flags' all-reduce takes {}.",
                              searches.size(), time_text(host / static_cast<double>(searches.size())), c.e.amount(picked.time()));
  f.edits = {edit_of("free", std::move(operations))};
  if (!flags.empty()) f.edits.push_back(edit_of("remove", c.operations(flags)));
  f.changes = {code("PyTorch", "DistributedDataParallel(model, find_unused_parameters=False, static_graph=True, gradient_as_bucket_view=True)")};
  f.confidence = Confidence::high;
  f.would_settle = "Whether every parameter takes part in every step: DDP says so in its log when the search finds none.";
  return {f};
}

}  // namespace

extern const Rule comm_unused_param_scan_rule{
    .name = "comm.unused_param_scan",
    .help = "DistributedDataParallel searches for unused parameters in every step.",
    .guard = "All-reduces of integers without a recorded search.",
    .source = "PyTorch performance tuning guide (DDP); 0.2 % ours",
    .detect = detect,
};

}  // namespace stepscope
