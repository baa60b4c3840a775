// Collectives of 64 MiB and more within a node that reach less than 20 % of the links, by the fastest of at least three calls: they cross PCIe or host memory.
// Threshold: 1 % of the step (ours). Gain: 60 % of the links.
#include <fmt/core.h>

#include <limits>

#include "advise/evidence_links.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const auto slow = slow_links(c, [](const LinkUse& use) { return use.reached < 0.2 && !use.few_channels; }, 0.6, std::numeric_limits<double>::infinity());
  if (!slow) return {};
  Finding f;
  f.title = "Collectives do not use the links between GPUs";
  f.observation =
      fmt::format("Even the fastest call with 64 MiB or more within the node reaches {} of its links, as over PCIe or host memory; such calls take {}.",
                  percent(slow->slowest), c.e.amount(slow->picked.time()));
  f.evidence = slow->picked.evidence();
  f.edits = slow->edits;
  f.changes = {code("NCCL", "unset NCCL_P2P_DISABLE; NCCL_P2P_LEVEL=NVL or SYS; in virtual machines NCCL_TOPO_FILE"),
               code("environment", "PCIe access control services (ACS) off; nvidia-peermem or dma-buf for GPUDirect RDMA; NCCL_NET_GDR_LEVEL, NCCL_IB_HCA")};
  f.confidence = Confidence::low;
  f.would_settle = "NCCL's own log (NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING), and all_reduce_perf of nccl-tests on the same GPUs.";
  return {f};
}

}  // namespace

extern const Rule comm_topology_bad_path_rule{
    .name = "comm.topology_bad_path",
    .help = "Traffic within a node goes over PCIe or host memory.",
    .guard = "Waiting: of at least three calls the fastest counts; groups larger than a node.",
    .source = "NCCL user guide; 20 % and 64 MiB ours",
    .detect = detect,
};

}  // namespace stepscope
