// Many small messages: in one group more than 50 collectives of one function per step, half of them below 1 MiB, that take 1 % of the step (ours). Gain: the
// edit message with buckets of 25 MB.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::map<std::pair<std::string, CollectiveFunction>, std::vector<const DeviceCollective*>> groups;
  for (const DeviceCollective& one : c.all)
    if (one.call.bytes && *one.call.bytes >= 1'024 && one.call.function != CollectiveFunction::barrier && !c.point_to_point(one))
      groups[{one.group, one.call.function}].push_back(&one);
  std::vector<Finding> found;
  for (const auto& [key, chosen] : groups) {
    std::vector<std::int64_t> sizes;
    double exposed = c.exposed(chosen);
    for (const DeviceCollective* one : chosen)
      if (c.slice(*one).counted) sizes.push_back(*one->call.bytes);
    if (c.e.windows <= 0 || static_cast<double>(sizes.size()) / c.e.windows <= 50) continue;
    std::ranges::sort(sizes);
    if (sizes[sizes.size() / 2] >= 1 << 20) continue;
    const Picked picked = c.picked(chosen);
    if (picked.share() < 0.01) continue;
    Finding f;
    f.title = fmt::format("Many small messages ({})", collective_function_name(key.second));
    f.observation = fmt::format("{:.0f} of them per step, half of them below {:.0f} KB, take {}; {} of it is exposed.",
                                static_cast<double>(sizes.size()) / c.e.windows, std::ceil(static_cast<double>(sizes[sizes.size() / 2]) / 1e3),
                                c.e.amount(picked.time()), percent(picked.time() > 0 ? exposed / picked.time() : 0));
    f.evidence = picked.evidence();
    f.edits = {edit_of("message", c.operations(chosen), {{"bucket", "25MB"}})};
    f.changes = {code("PyTorch", "DistributedDataParallel(model, bucket_cap_mb=...) larger; larger units of fully_shard"),
                 code("PyTorch", "One flattened tensor, or torch.distributed._coalescing_manager, instead of a collective per tensor"),
                 flag("Megatron-LM", "--ddp-bucket-size larger"), flag("DeepSpeed", "zero_optimization: reduce_bucket_size, allgather_bucket_size larger")};
    f.confidence = c.e.one_rank() ? Confidence::low : Confidence::medium;
    f.would_settle = c.e.one_rank() ? std::string(wait_or_transfer) : "A step with merged messages.";
    found.push_back(std::move(f));
  }
  return found;
}

}  // namespace

extern const Rule comm_small_messages_rule{
    .name = "comm.small_messages",
    .help = "Collectives are so small that latency bounds them.",
    .guard = "Scalars and control messages (below 1 KB), point to point.",
    .source = "Megatron Bridge performance guide; NCCL documentation; 50, 1 MiB and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
