// Fewer than 8 channels (blocks of the kernel) with messages of 64 MiB and more that reach less than 70 % of the links, by the fastest of at least three calls.
// Threshold: 1 % of the step (ours). Gain: twice the channels, at most 70 % of the links.
#include <fmt/core.h>

#include "advise/evidence_links.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const auto slow = slow_links(c, [](const LinkUse& use) { return use.reached < 0.7 && use.few_channels; }, 0.7, 2);
  if (!slow) return {};
  Finding f;
  f.title = "Collectives with few channels";
  f.observation = fmt::format("Large collectives run in fewer than 8 blocks, and the fastest reaches {} of the links; they take {}.", percent(slow->slowest),
                              c.e.amount(slow->picked.time()));
  f.evidence = slow->picked.evidence();
  f.edits = slow->edits;
  f.changes = {environment("NCCL", "NCCL_MIN_CTAS=16"), code("NCCL", "ncclConfig_t.minCTAs = 16; NCCL_MAX_CTAS and NCCL_MAX_NCHANNELS not set"),
               flag("Megatron-LM", "--nccl-communicator-config-path with min_ctas"), code("NCCL", "NCCL_MIN_P2P_NCHANNELS for send and receive")};
  f.confidence = Confidence::low;
  f.would_settle = "NCCL's own log (NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING), and all_reduce_perf of nccl-tests on the same GPUs.";
  return {f};
}

}  // namespace

extern const Rule comm_few_channels_rule{
    .name = "comm.few_channels",
    .help = "Large collectives run in few channels.",
    .guard = "Collectives that reach the links all the same.",
    .source = "NCCL user guide; 8, 70 % and 64 MiB ours",
    .detect = detect,
};

}  // namespace stepscope
