// Too little work per device: in training over several ranks, exposed communication and idle time together take more than 40 % of the device's step, and
// communication is at least half of it. What a larger batch would take needs a model.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"
#include "base/intervals.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  if (!c.e.trains() || c.e.span <= 0) return {};
  std::vector<const DeviceCollective*> all;
  std::int64_t ranks = 1;
  for (const DeviceCollective& one : c.all) {
    all.push_back(&one);
    ranks = std::max(ranks, one.call.group_size.value_or(1));
  }
  for (const Rank& rank : scene.timeline.ranks) ranks = std::max(ranks, rank.world_size);
  const double exposed = c.exposed(all);
  std::map<std::uint32_t, std::vector<Interval>> busy;
  for (const DeviceSlice& one : c.e.slices)
    if (one.counted) busy[one.device].push_back(one.time);
  double active = 0;
  for (auto& [device, intervals] : busy) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    active += static_cast<double>(union_length(intervals));
  }
  const double idle = std::max(0.0, c.e.span - active);
  if (ranks < 2 || c.e.share(exposed + idle) < 0.4 || exposed < idle) return {};
  Finding f;
  f.title = "Too little work per device";
  f.observation = fmt::format("Exposed communication takes {} and the device idles for {}: {} of the step computes nothing.", c.e.amount(exposed),
                              c.e.amount(idle), percent(c.e.share(exposed + idle)));
  f.evidence = c.picked(all).evidence();
  f.changes = {code("PyTorch", "A larger batch per device, where convergence (and in MLPerf the reference convergence points) allows"),
               code("environment", "Fewer devices, or another split between data, tensor and pipeline parallelism")};
  f.confidence = Confidence::low;
  f.would_settle = "A step with twice the batch per device. " + std::string(c.e.one_rank() ? wait_or_transfer : "");
  f.unknown = "The step with a larger batch is not in this trace: a model of it tells (predict).";
  return {f};
}

}  // namespace

extern const Rule scale_batch_too_small_rule{
    .name = "scale.batch_too_small",
    .help = "The work per device is too small for the number of devices.",
    .guard = "Steps that mostly idle: those are bound by the host.",
    .source = "MLPerf reference convergence points; Megatron Bridge performance guide; 40 % ours",
    .detect = detect,
};

}  // namespace stepscope
