// Barriers and collectives of Python objects inside steps: kernels of barriers, and collectives below 1 KB of bytes (uint8, int64) that a gather of objects
// makes. Threshold: 0.5 % of the step exposed (ours). Gain: they do not run, and the calls that wait for them do not wait.
#include <fmt/core.h>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::vector<const DeviceCollective*> chosen;
  bool objects = false;
  for (const DeviceCollective& one : c.all) {
    const bool of_objects =
        c.e.around(c.slice(one), [](std::string_view name) { return has_any_text(name, {"_object", "monitored_barrier"}); }) != no_id<SliceId>;
    const bool barrier = one.call.function == CollectiveFunction::barrier || c.e.around(c.slice(one), [](std::string_view name) {
      return has_any_text(name, {"c10d::barrier", "nccl:barrier"});
    }) != no_id<SliceId>;
    if (!barrier && !of_objects) continue;
    objects |= of_objects;
    chosen.push_back(&one);
  }
  const double exposed = c.exposed(chosen);
  if (chosen.empty() || c.e.share(exposed) < 0.005) return {};
  Finding f;
  f.title = objects ? "Barriers and collectives of objects inside steps" : "Barriers inside steps";
  f.observation = fmt::format("{} of them in the steps; {} is exposed.", c.picked(chosen).count(), c.e.amount(exposed));
  f.evidence = c.picked(chosen).evidence();
  f.edits = {edit_of("remove", c.operations(chosen))};
  f.changes = {code("PyTorch", "Take torch.distributed.barrier() out of the training loop"),
               code("PyTorch", "One all_reduce of a tensor of metrics every N steps instead of all_gather_object")};
  f.confidence = Confidence::medium;
  f.would_settle = "Waiting at a barrier is waiting for the slowest rank: part of it moves to the next collective.";
  return {f};
}

}  // namespace

extern const Rule comm_barrier_rule{
    .name = "comm.barrier",
    .help = "Barriers or collectives of objects run inside steps.",
    .guard = "Barriers outside of steps, as around checkpoints.",
    .source = "PyTorch documentation of torch.distributed; 0.5 % ours",
    .detect = detect,
};

}  // namespace stepscope
