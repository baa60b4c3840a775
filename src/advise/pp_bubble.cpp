// The pipeline's bubble as one stage sees it: waiting in sends and receives before the first backward kernel of a step or after its last forward kernel, more
// than 10 % of the step (with this stage's own warm-up). Gain: two virtual stages per rank halve it (arXiv:2104.04473).
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
  ScaleEdits edits;
  for (const DeviceCollective& one : c.all) {
    const DeviceSlice& slice = c.slice(one);
    const auto bounds = steady.find(slice.window);
    if (!c.point_to_point(one) || c.context_parallel(one) || !slice.counted || bounds == steady.end()) continue;
    if (bounds->second.contains(slice.time.begin)) continue;
    chosen.push_back(&one);
    c.shorten(edits, one, 0.5 * static_cast<double>(one.exposed));
  }
  const double bubble = c.exposed(chosen);
  if (!c.e.trains() || c.e.share(bubble) < 0.1) return {};
  Finding f;
  f.title = "Pipeline bubble";
  f.observation = fmt::format("While the pipeline fills and drains, this stage waits in sends and receives for {}.", c.e.amount(bubble));
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "--num-layers-per-virtual-pipeline-stage (two or more stages per rank)"),
               flag("Megatron-LM", "--global-batch-size larger, so that each step has more micro-batches"),
               flag("torchtitan", "parallelism.pipeline_parallel_schedule = \"Interleaved1F1B\" or \"InterleavedZeroBubble\""),
               code("PyTorch", "torch.distributed.pipelining.ScheduleInterleaved1F1B, ScheduleInterleavedZeroBubble")};
  f.confidence = c.e.one_rank() ? Confidence::low : Confidence::medium;
  f.would_settle = "The traces of all stages, and the number of stages and micro-batches: the bubble is (p - 1) / (m + p - 1) of the step.";
  return {f};
}

}  // namespace

extern const Rule pp_bubble_rule{
    .name = "pp.bubble",
    .help = "Stages of a pipeline wait while it fills and drains.",
    .guard = "Exchanges of context parallelism, and waiting in the steady state (pp.p2p_exposed).",
    .source = "Megatron-LM, arXiv:2104.04473; 10 %",
    .detect = detect,
};

}  // namespace stepscope
