// Reductions over more than 256 ranks with less than 512 KiB for each: the number of steps of a ring counts, not its bytes. Threshold: 2 % of the step exposed
// (ours). A gain needs a model of the network.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::vector<const DeviceCollective*> chosen;
  std::int64_t size = 0;
  for (const DeviceCollective& one : c.all) {
    using enum CollectiveFunction;
    const bool ring = one.call.function == all_reduce || one.call.function == all_gather || one.call.function == reduce_scatter;
    if (!ring || one.call.group_size.value_or(0) <= 256 || !one.call.bytes || *one.call.bytes / *one.call.group_size >= 512 << 10) continue;
    chosen.push_back(&one);
    size = std::max(size, *one.call.group_size);
  }
  const double exposed = c.exposed(chosen);
  if (c.e.share(exposed) < 0.02) return {};
  Finding f;
  f.title = "Collectives over very many ranks";
  f.observation = fmt::format("{} collectives over up to {} ranks have less than 512 KiB for each rank; {} of them is exposed.", c.picked(chosen).count(), size,
                              c.e.amount(exposed));
  f.evidence = c.picked(chosen).evidence();
  f.changes = {code("PyTorch", "HSDP: fully_shard(model, mesh=init_device_mesh('cuda', (replicas, shards), mesh_dim_names=('replicate', 'shard')))"),
               flag("Megatron-LM", "--num-distributed-optimizer-instances above 1"),
               code("NCCL", "NCCL_COLLNET_ENABLE=1 with SHARP; a version with PAT for gathers and scatters (2.23)")};
  f.confidence = Confidence::low;
  f.would_settle = "nccl-tests at this number of ranks and size; the network's description.";
  f.unknown = "What a hierarchy would take depends on the network, which the trace does not describe.";
  return {f};
}

}  // namespace

extern const Rule comm_flat_large_ring_rule{
    .name = "comm.flat_large_ring",
    .help = "Collectives over hundreds of ranks are bound by the number of their steps.",
    .guard = "Groups of 256 ranks or fewer, large shares for each rank.",
    .source = "Megatron Bridge performance guide (performance at scale); 256 ranks; 512 KiB and 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
