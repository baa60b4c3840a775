// Collectives of tensor parallelism in line between products, not covered by compute: more than 8 % of the step. Gain: cut into 4 pieces that overlap with the
// products, a quarter stays exposed.
#include <fmt/core.h>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::vector<const DeviceCollective*> chosen;
  ScaleEdits edits;
  for (const DeviceCollective& one : c.all) {
    if (!c.tensor_parallel(one)) continue;
    chosen.push_back(&one);
    c.shorten(edits, one, 0.75 * static_cast<double>(one.exposed));
  }
  const double total = c.exposed(chosen);
  if (c.e.share(total) < 0.08) return {};
  Finding f;
  f.title = "Exposed tensor-parallel communication";
  f.observation = fmt::format("{} collectives stand between matrix products with nothing beside them: {}.", c.picked(chosen).count(), c.e.amount(total));
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "--sequence-parallel --tp-comm-overlap"),
               code("PyTorch", "torch._inductor.config._micro_pipeline_tp = True with symmetric memory (async tensor parallelism)"),
               flag("torchtitan", "parallelism.enable_async_tensor_parallel = true with compile"),
               code("environment", "CUDA_DEVICE_MAX_CONNECTIONS=1 (Hopper and before)"),
               flag("Megatron-LM", "--tensor-model-parallel-size smaller, and within one node")};
  settle_by_ranks(f, c.e, "A step with overlap.");
  return {f};
}

}  // namespace

extern const Rule comm_tp_exposed_rule{
    .name = "comm.tp_exposed",
    .help = "Tensor-parallel collectives stand between products with nothing beside them.",
    .guard = "Groups that are not known to reduce in forward; 5 to 8 % are usual within NVLink.",
    .source = "Megatron Bridge performance guide (TP overlap); 8 %; 4 pieces ours",
    .detect = detect,
};

}  // namespace stepscope
