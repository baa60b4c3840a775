// Gradient all-reduces and reduce-scatters that no compute covers: more than 5 % of the step. Gain: as much of them runs beside backward as backward has
// compute without communication beside it; of the last one in a step a bucket of 25 MB stays exposed (all of it, where its size is not known).
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
  std::vector<const DeviceCollective*> chosen;
  std::map<std::uint32_t, const DeviceCollective*> last;
  std::map<std::uint32_t, double> exposed;
  for (const DeviceCollective& one : c.all) {
    if (!c.gradient_reduction(one)) continue;
    chosen.push_back(&one);
    const DeviceSlice& slice = c.slice(one);
    if (!slice.counted) continue;
    exposed[slice.window] += static_cast<double>(one.exposed);
    const DeviceCollective*& latest = last[slice.window];
    if (latest == nullptr || slice.time.end > c.slice(*latest).time.end) latest = &one;
  }
  const double total = c.exposed(chosen);
  if (c.e.share(total) < 0.05) return {};
  std::map<std::uint32_t, double> room = c.free_compute({Phase::backward});
  ScaleEdits edits;
  for (const DeviceCollective* one : chosen) {
    const DeviceSlice& slice = c.slice(*one);
    if (!slice.counted || one->exposed <= 0) continue;
    double may = static_cast<double>(one->exposed);
    if (last[slice.window] == one)
      may -= static_cast<double>(slice.duration()) * std::min(1.0, 25e6 / static_cast<double>(std::max<std::int64_t>(1, one->call.bytes.value_or(1))));
    if (may <= 0) continue;
    double& free = room[slice.window];
    const double hidden = std::min(may, free);
    free -= hidden;
    c.shorten(edits, *one, hidden);
  }
  Finding f;
  f.title = "Exposed gradient reduction";
  f.observation = fmt::format("Nothing is computed beside {} of the gradients' reductions.", c.e.amount(total));
  f.observation += remark_of_one_rank(c.e);
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  if (f.edits.empty()) f.unknown = "Backward has no compute left without communication beside it, or all of it is one reduction of unknown size.";
  f.changes = {code("PyTorch", "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True); try 25 to 200"),
               flag("Megatron-LM", "--overlap-grad-reduce"), code("PyTorch", "with model.no_sync(): in all micro-steps but the last"),
               flag("DeepSpeed", "zero_optimization: overlap_comm: true, reduce_bucket_size: 5e8")};
  settle_by_ranks(f, c.e);
  return {f};
}

}  // namespace

extern const Rule comm_exposed_allreduce_rule{
    .name = "comm.exposed_allreduce",
    .help = "Gradients are reduced while nothing is computed.",
    .guard = "Tensor and context parallelism, reductions of a few values; with one rank waiting and transfer are not told apart, and that is said.",
    .source = "PyTorch DDP notes; Megatron Bridge performance guide; 5 %, 25 MB (the default bucket)",
    .detect = detect,
};

}  // namespace stepscope
