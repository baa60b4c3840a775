// Gradients reduced in fewer than four buckets of which the last is more than 30 % of what is exposed, and 2 % of the step (ours). Gain: cut into four, the
// first three pieces run beside backward, as far as it has compute without communication.
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
  std::map<std::uint32_t, std::vector<const DeviceCollective*>> by_step;
  std::vector<const DeviceCollective*> gradients;
  for (const DeviceCollective& one : c.all)
    if (c.gradient_reduction(one) && c.slice(one).counted) by_step[c.slice(one).window].push_back(&one), gradients.push_back(&one);
  std::map<std::uint32_t, double> room = c.free_compute({Phase::backward});
  std::vector<const DeviceCollective*> tails;
  ScaleEdits edits;
  for (auto& [step, chosen] : by_step) {
    if (chosen.size() >= 4) continue;
    const DeviceCollective* last = *std::ranges::max_element(chosen, {}, [&](const DeviceCollective* one) { return c.slice(*one).time.end; });
    double exposed = 0;
    for (const DeviceCollective* one : chosen) exposed += static_cast<double>(one->exposed);
    if (static_cast<double>(last->exposed) < 0.3 * exposed || last->call.bytes.value_or(0) < 50'000'000) continue;
    tails.push_back(last);
    c.shorten(edits, *last, std::min({0.75 * static_cast<double>(c.slice(*last).duration()), static_cast<double>(last->exposed), room[step]}));
  }
  const double total = c.exposed(tails);
  if (tails.empty() || c.e.share(total) < 0.02 || edits.empty()) return {};
  Finding f;
  f.title = "The last gradient bucket is too large";
  f.observation = fmt::format("Gradients are reduced in fewer than four buckets per step; the last one ({}) is exposed for {}.",
                              megabytes(static_cast<double>(*tails.front()->call.bytes)), c.e.amount(total));
  f.evidence = c.picked(tails).evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "DistributedDataParallel(model, bucket_cap_mb=25); a smaller unit of fully_shard"),
               flag("Megatron-LM", "--ddp-bucket-size smaller (with --overlap-grad-reduce)")};
  settle_by_ranks(f, c.e);
  return {f};
}

}  // namespace

extern const Rule comm_large_bucket_tail_rule{
    .name = "comm.large_bucket_tail",
    .help = "The last bucket of gradients is so large that it cannot overlap.",
    .guard = "Buckets below 50 MB, and steps with four buckets or more.",
    .source = "PyTorch DDP notes; four, 30 % and 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
