// NCCL reaches 20 to 60 % of the links within a node with messages of 64 MiB and more, by the fastest of at least three calls (which waited least), with 8
// channels or more. The kernel's name does not tell: NCCL compiles one kernel per function and names it after ring and LL whatever runs in it. Threshold: 1 %
// of the step (ours). Gain: 60 % of the links.
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
    constexpr double sound = 0.6;
    if (!(reached >= 0.2 && reached < sound && !few_channels)) continue;
    slowest = std::min(slowest, reached);
    for (const DeviceCollective* one : members) {
      chosen.push_back(one);
      c.shorten(edits, *one, static_cast<double>(c.slice(*one).duration()) * (1 - std::max(0.0, reached / sound)));
    }
  }
  const Picked picked = c.picked(chosen);
  if (picked.share() < 0.01) return {};
  Finding f;
  f.title = "Collectives slower than the links";
  f.observation = fmt::format("Even the fastest call with 64 MiB or more within the node reaches {} of what its links carry; such calls take {}.",
                              percent(slowest), c.e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
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
