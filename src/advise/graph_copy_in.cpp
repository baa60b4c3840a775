// graph.copy_in: before each launch of a CUDA graph its inputs are copied to the addresses that it was captured with.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.01;  // of the step: copies on the device right before graphs

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> copies;
  std::set<SliceId> graphs;
  const auto is_copy = [&](SliceId id) {
    const std::string_view name = scene.timeline.name_of(id);
    if (s.kind[id] == SliceKind::copy) return has_text(name, "DtoD") || has_text(name, "Device -> Device");
    const SliceId operation = scene.facts.operation[id];
    if (operation == no_id<SliceId>) return has_text(name, "direct_copy_kernel");
    const std::string_view by = scene.timeline.name_of(operation);
    return (by == "aten::copy_" || by == "aten::_foreach_copy_") && scene.facts.phase[id] != Phase::optimizer;
  };
  for (std::size_t device = 0; device < scene.facts.devices.size(); ++device) {
    std::map<TrackId, std::vector<SliceId>> before;  // copies since the last other slice of the stream
    for (const SliceId id : steps.on_device(device)) {
      std::vector<SliceId>& run = before[s.track[id]];
      const SliceId launch = scene.facts.launch[id];
      const bool in_graph = launch != no_id<SliceId> && scene.facts.graph_launch[launch] != 0;
      if (in_graph) {
        if (graphs.insert(launch).second) copies.insert(copies.end(), run.begin(), run.end());
        run.clear();
      } else if (is_copy(id)) {
        run.push_back(id);
      } else {
        run.clear();
      }
    }
  }
  const Nanoseconds time = total_time(scene, copies);
  if (copies.empty() || steps.share(time) < least_share) return {};
  std::vector<SliceId> operators;
  for (const SliceId id : copies)
    if (scene.facts.operation[id] != no_id<SliceId>) operators.push_back(scene.facts.operation[id]);
  Finding found;
  found.title = "Inputs are copied for CUDA graphs";
  found.observation =
      fmt::format("{} right before {} take {} per step ({}).", times_text(copies.size(), "copy on the device", "copies on the device"),
                  times_text(graphs.size(), "graph launch", "graph launches"), format_duration(steps.per_step(time)), percent(steps.share(time)));
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, copies)))};
  if (std::vector<OpId> host = operations_of(scene, everywhere(scene, steps, operators)); !host.empty())
    found.edits.push_back(edit_of("free", std::move(host)));
  found.evidence = most_telling(scene, std::move(copies));
  found.changes = {{"PyTorch", Change::Form::code,
                    "Write each batch into the graph's own input tensors; torch._dynamo.mark_static_address(tensor) for tensors that stay where they are"}};
  found.confidence = Confidence::medium;
  found.would_settle = "Which tensors are copied (record_shapes=True): parameters and states need no copy, fresh inputs may.";
  return {std::move(found)};
}

}  // namespace

extern const Rule graph_copy_in_rule{
    .name = "graph.copy_in",
    .help = "Inputs are copied before each launch of a CUDA graph.",
    .guard = "Copies inside graphs, and before other kernels.",
    .source = "PyTorch, CUDA graph trees; 1 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
