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

// What a message of no bytes takes, ns: the line through the fastest calls of each size (least squares); absent with fewer than two sizes, or where it is not
// positive.
std::optional<double> latency_of(const CollectiveEvidence& c, const std::vector<const DeviceCollective*>& chosen) {
  std::map<std::int64_t, double> fastest;
  for (const DeviceCollective* one : chosen) {
    const double duration = static_cast<double>(c.slice(*one).duration());
    double& least = fastest.try_emplace(*one->call.bytes, duration).first->second;
    least = std::min(least, duration);
  }
  if (fastest.size() < 2) return std::nullopt;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [bytes, duration] : fastest) {
    const double size = static_cast<double>(bytes);
    n += 1, x += size, y += duration, xx += size * size, xy += size * duration;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x), latency = (y - slope * x) / n;
  return slope >= 0 && latency > 0 ? std::optional(std::min(latency, std::ranges::min_element(fastest, {}, [](const auto& one) { return one.second; })->second))
                                   : std::nullopt;
}

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
    if (const std::optional<double> latency = latency_of(c, chosen)) {
      ScaleEdits edits;
      double bucket = 0;
      for (const DeviceCollective* one : chosen) {
        const double bytes = static_cast<double>(*one->call.bytes);
        bucket = one == chosen.front() || bucket + bytes > 25e6 ? bytes : bucket + bytes;
        if (bucket > bytes) c.shorten(edits, *one, *latency);
      }
      f.edits = edits.edits();
    }
    if (f.edits.empty()) f.unknown = "The messages have too few sizes to tell what a message of no bytes would take.";
    f.changes = {code("PyTorch", "DistributedDataParallel(model, bucket_cap_mb=...) larger; larger units of fully_shard"),
                 code("PyTorch", "One flattened tensor, or torch.distributed._coalescing_manager, instead of a collective per tensor"),
                 flag("Megatron-LM", "--ddp-bucket-size larger"), flag("DeepSpeed", "zero_optimization: reduce_bucket_size, allgather_bucket_size larger")};
    settle_by_ranks(f, c.e, "A step with merged messages.");
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
