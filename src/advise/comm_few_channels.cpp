// Fewer than 8 channels (blocks of the kernel) with messages of 64 MiB and more that reach less than 70 % of the links, by the fastest of at least three calls.
// Threshold: 1 % of the step (ours). Gain: twice the channels, at most 70 % of the links.
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
  if (scene.gpu == nullptr || !scene.gpu->link_bytes_per_second_each_way) return {};
  const double link = *scene.gpu->link_bytes_per_second_each_way;
  std::map<std::pair<std::string, CollectiveFunction>, std::vector<const DeviceCollective*>> groups;
  for (const DeviceCollective& one : c.all)
    if (one.call.bytes.value_or(0) >= 64 << 20 && one.call.group_size.value_or(1'000'000) <= scene.gpu->scale_up_gpus.value_or(8) && c.bus_bandwidth(one))
      groups[{one.group, one.call.function}].push_back(&one);
  std::vector<const DeviceCollective*> chosen;
  ScaleEdits edits;
  double slowest = 1;
  for (const auto& [key, members] : groups) {
    if (members.size() < 3) continue;  // one or two may have waited
    double reached = 0;
    std::optional<double> blocks;
    for (const DeviceCollective* one : members) {
      reached = std::max(reached, *c.bus_bandwidth(*one) / link);
      blocks = c.e.blocks(c.slice(*one));
    }
    const bool few_channels = blocks && *blocks < 8;
    constexpr double sound = 0.7;
    if (!(reached < sound && few_channels)) continue;
    slowest = std::min(slowest, reached);
    for (const DeviceCollective* one : members) {
      chosen.push_back(one);
      c.shorten(edits, *one, static_cast<double>(c.slice(*one).duration()) * (1 - std::max(0.5, reached / sound)));
    }
  }
  const Picked picked = c.picked(chosen);
  if (picked.share() < 0.01) return {};
  Finding f;
  f.title = "Collectives with few channels";
  f.observation = fmt::format("Large collectives run in fewer than 8 blocks, and the fastest reaches {} of the links; they take {}.", percent(slowest),
                              c.e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
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
