// Communication kernels that were launched, and for which nothing they need was missing, but which start only when a compute kernel on another stream ends: the
// lifted graph says that the device was full. Threshold: 1 % of the step (ours). No edit says what the device would do with other priorities.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const Graph& graph = scene.lifted.graph;
  std::vector<const DeviceCollective*> chosen;
  Picked picked(c.e);
  double waited = 0;
  for (const DeviceCollective& one : c.all) {
    const OpId op = c.slice(one).op;
    if (graph.first_dependency(op) == graph.end_dependency(op)) continue;
    const std::uint32_t deciding = deciding_dependency(graph, scene.times, op);
    if (deciding >= graph.end_dependency(op) || graph.dependencies.kind[deciding] != DependencyKind::device) continue;
    Nanoseconds ready = 0;
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i)
      if (graph.dependencies.kind[i] != DependencyKind::device) ready = std::max(ready, scene.times[graph.dependencies.moment[i]] + graph.dependencies.lag[i]);
    const double wait = static_cast<double>(scene.times.start(op) - ready);
    if (wait < 20'000) continue;
    picked.add(one.row, wait);
    if (c.slice(one).counted) waited += wait;
  }
  if (c.e.share(waited) < 0.01) return {};
  Finding f;
  f.title = "Communication waits for room on the device";
  f.observation =
      fmt::format("{} communication kernels were ready but started only when compute kernels ended: {} of waiting.", picked.count(), c.e.amount(waited));
  f.evidence = picked.evidence();
  f.changes = {code("PyTorch", "options = ProcessGroupNCCL.Options(is_high_priority_stream=True); new_group(..., pg_options=options)"),
               environment("PyTorch", "TORCH_NCCL_HIGH_PRIORITY=1"),
               code("environment", "CUDA_DEVICE_MAX_CONNECTIONS (8 unless set; 1 orders launches, 32 keeps streams apart)")};
  f.confidence = Confidence::low;
  f.would_settle = "A step with a communication stream of high priority.";
  f.unknown = "What the device would have run first with other priorities is not in the trace.";
  return {f};
}

}  // namespace

extern const Rule comm_not_overlappable_queue_rule{
    .name = "comm.not_overlappable_queue",
    .help = "Communication that is ready waits until compute kernels end.",
    .guard = "Communication that waits for its launch, for events or for its own stream.",
    .source = "PyTorch documentation of ProcessGroupNCCL; 20 µs and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
