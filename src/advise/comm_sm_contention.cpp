// Compute kernels that take more than 15 % longer beside communication than the same kernels (name, grid and arguments of the operator) alone. Threshold: 1 %
// of the step could be saved (ours). Gain: their time alone (the median of at least three); the communication stays as it is.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"
#include "base/intervals.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const DeviceEvidence& e = c.e;
  std::vector<std::vector<Interval>> communication(scene.facts.devices.size());
  for (const DeviceCollective& one : c.all) communication[c.slice(one).device].push_back(c.slice(one).time);
  for (auto& intervals : communication) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    intervals = merge_intervals(intervals);
  }
  struct Same {
    std::vector<double> alone;
    std::vector<std::uint32_t> beside;
  };
  const SliceColumns& s = scene.timeline.slices;
  std::map<std::tuple<NameId, double, NameId>, Same> kernels;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::compute || one.duration() < 10'000) continue;
    const SliceId operation = scene.facts.operation[one.slice];
    const Interval own[] = {one.time};
    const Nanoseconds beside = intersection_length(own, communication[one.device]);
    Same& same = kernels[{s.name[one.slice], e.blocks(one).value_or(0), operation == no_id<SliceId> ? NameId{0} : s.detail[operation]}];
    if (beside == 0) same.alone.push_back(static_cast<double>(one.duration()));
    if (2 * beside > one.duration()) same.beside.push_back(row);
  }
  Picked picked(e);
  ScaleEdits edits;
  double saved = 0;
  for (auto& [key, same] : kernels) {
    if (same.alone.size() < 3 || same.beside.size() < 3) continue;
    std::ranges::sort(same.alone);
    const double usual = same.alone[same.alone.size() / 2];
    std::vector<double> durations;
    for (const std::uint32_t row : same.beside) durations.push_back(static_cast<double>(e.slices[row].duration()));
    std::ranges::sort(durations);
    if (durations[durations.size() / 2] <= 1.15 * usual) continue;
    for (const std::uint32_t row : same.beside) {
      const double duration = static_cast<double>(e.slices[row].duration());
      if (duration <= usual) continue;
      picked.add(row, duration - usual);
      edits.add(e.slices[row].op, usual / duration);
      if (e.slices[row].counted) saved += duration - usual;
    }
  }
  if (e.share(saved) < 0.01) return {};
  Finding f;
  f.title = "Communication slows compute beside it";
  f.observation = fmt::format(
      "{} kernels take more than 15 % longer beside communication than alone: {} more. The gain leaves the communication as fast as it is: an upper limit.",
      picked.count(), e.amount(saved));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {environment("NCCL", "NCCL_MAX_CTAS=8"), code("NCCL", "ncclConfig_t.maxCTAs per communicator; registered user buffers; NVLS"),
               flag("Megatron-LM", "--use-nccl-ub with the distributed optimizer"),
               code("Megatron-LM", "NVTE_FWD_LAYERNORM_SM_MARGIN, NVTE_BWD_LAYERNORM_SM_MARGIN")};
  f.confidence = Confidence::low;
  f.would_settle = "Clocks over time (power limits slow both), and a step with fewer channels.";
  return {f};
}

}  // namespace

extern const Rule comm_sm_contention_rule{
    .name = "comm.sm_contention",
    .help = "Communication takes multiprocessors and bandwidth from compute.",
    .guard = "Kernels that are slow alone too; fewer than three of each.",
    .source = "NCCL user guide; Megatron Bridge performance guide; 15 % and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
