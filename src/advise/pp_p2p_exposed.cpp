// Sends and receives between stages in the steady state (from a step's first backward kernel to its last forward kernel), with nothing beside them: more than 3
// % of the step. Gain, at most: they run beside compute, as far as there is compute without communication.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const std::map<std::uint32_t, Interval> steady = steady_states(c.e);
  std::vector<const DeviceCollective*> chosen;
  for (const DeviceCollective& one : c.all) {
    const DeviceSlice& slice = c.slice(one);
    const auto bounds = steady.find(slice.window);
    if (!c.point_to_point(one) || c.context_parallel(one) || !slice.counted || bounds == steady.end()) continue;
    if (bounds->second.contains(slice.time.begin)) chosen.push_back(&one);
  }
  const double exposed = c.exposed(chosen);
  if (c.e.share(exposed) < 0.03) return {};
  std::map<std::uint32_t, double> room = c.free_compute({Phase::forward, Phase::backward});
  ScaleEdits edits;
  for (const DeviceCollective* one : chosen) {
    double& free = room[c.slice(*one).window];
    const double hidden = std::min(static_cast<double>(one->exposed), free);
    free -= hidden;
    c.shorten(edits, *one, hidden);
  }
  Finding f;
  f.title = "Exposed sends and receives between stages";
  f.observation = fmt::format("In the steady state of the pipeline nothing runs beside {} of its sends and receives.", c.e.amount(exposed));
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "Virtual stages (--num-layers-per-virtual-pipeline-stage) without --no-overlap-p2p-communication"),
               flag("Megatron-LM", "--micro-batch-size larger"), code("environment", "Stages across nodes, tensor parallelism within them")};
  f.confidence = Confidence::low;
  f.would_settle = "The traces of the neighbouring stages: a receive waits for the other stage's compute, which overlap does not shorten.";
  return {f};
}

}  // namespace

extern const Rule pp_p2p_exposed_rule{
    .name = "pp.p2p_exposed",
    .help = "Sends and receives between stages are exposed in the steady state.",
    .guard = "Filling and draining (pp.bubble), context parallelism.",
    .source = "Megatron Bridge performance guide (PP); 3 %",
    .detect = detect,
};

}  // namespace stepscope
