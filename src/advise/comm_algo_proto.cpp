// NCCL reaches 20 to 60 % of the links within a node with messages of 64 MiB and more, by the fastest of at least three calls (which waited least), with 8
// channels or more. The kernel's name does not tell: NCCL compiles one kernel per function and names it after ring and LL whatever runs in it. Threshold: 1 %
// of the step (ours). Gain: 60 % of the links.
#include <fmt/core.h>

#include <limits>

#include "advise/evidence_links.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const auto slow = slow_links(
      c, [](const LinkUse& use) { return use.reached >= 0.2 && use.reached < 0.6 && !use.few_channels; }, 0.6, std::numeric_limits<double>::infinity());
  if (!slow) return {};
  Finding f;
  f.title = "Collectives slower than the links";
  f.observation = fmt::format("Even the fastest call with 64 MiB or more within the node reaches {} of what its links carry; such calls take {}.",
                              percent(slow->slowest), c.e.amount(slow->picked.time()));
  f.evidence = slow->picked.evidence();
  f.edits = slow->edits;
  f.changes = {code("NCCL", "unset NCCL_ALGO NCCL_PROTO, so that NCCL chooses"), environment("NCCL", "NCCL_NVLS_ENABLE=1"),
               code("NCCL", "NCCL_TUNER_PLUGIN, or a newer NCCL")};
  f.confidence = Confidence::low;
  f.would_settle = "NCCL's own log (NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING), and all_reduce_perf of nccl-tests on the same GPUs.";
  return {f};
}

}  // namespace

extern const Rule comm_algo_proto_rule{
    .name = "comm.algo_proto",
    .help = "Collectives within a node use a part of the links.",
    .guard = "Waiting: of at least three calls the fastest counts. Few channels and bad paths have rules of their own.",
    .source = "NCCL user guide; nccl-tests; 20 %, 60 % and 64 MiB ours",
    .detect = detect,
};

}  // namespace stepscope
