// Stages with unequal work: over the ranks of a pipeline the largest compute time is more than 1.08 times the mean. Gain: every rank computes for as long as
// the mean.
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
  if (scene.timeline.ranks.size() < 2 ||
      !std::ranges::any_of(c.all, [&](const DeviceCollective& one) { return c.point_to_point(one) && !c.context_parallel(one); }))
    return {};
  std::map<RankId, double> busy;
  std::map<RankId, std::vector<OpId>> operations;
  std::map<RankId, SliceId> longest;
  std::map<RankId, Nanoseconds> length;
  for (const DeviceSlice& one : c.e.slices) {
    if (one.activity != ActivityClass::compute) continue;
    const RankId rank = scene.facts.devices[one.device].rank;
    operations[rank].push_back(one.op);
    if (!one.counted) continue;
    busy[rank] += static_cast<double>(one.duration());
    if (one.duration() > length[rank]) length[rank] = one.duration(), longest[rank] = one.slice;
  }
  if (busy.size() < 2) return {};
  double sum = 0;
  for (const auto& [rank, time] : busy) sum += time;
  const double mean = sum / static_cast<double>(busy.size());
  const auto most = std::ranges::max_element(busy, {}, [](const auto& entry) { return entry.second; });
  if (most->second <= 1.08 * mean) return {};
  Finding f;
  f.title = "Unequal pipeline stages";
  f.observation = fmt::format("Rank {} computes {:.2f} times as long as the mean of the {} ranks at hand.", scene.timeline.ranks[index(most->first)].number,
                              most->second / mean, busy.size());
  f.evidence = {longest[most->first]};
  for (auto& [rank, own] : operations) {
    if (!busy.contains(rank) || busy[rank] <= 0) continue;
    std::ranges::sort(own);
    f.edits.push_back(edit_of("scale", std::move(own), {{"by", fmt::format("{:.4f}", mean / busy[rank])}}));
  }
  f.changes = {flag("Megatron-LM",
                    "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split, or --decoder-first-pipeline-num-layers / "
                    "--decoder-last-pipeline-num-layers"),
               flag("torchtitan", "parallelism.module_fqns_per_model_part: other points to split at")};
  f.confidence = Confidence::medium;
  f.would_settle = "Traces of all stages: layers cannot be divided as finely as this gain assumes.";
  return {f};
}

}  // namespace

extern const Rule pp_imbalance_rule{
    .name = "pp.imbalance",
    .help = "Stages of a pipeline have unequal work.",
    .guard = "Traces of one rank; ranks without sends and receives.",
    .source = "Megatron Bridge performance guide; 1.08",
    .detect = detect,
};

}  // namespace stepscope
