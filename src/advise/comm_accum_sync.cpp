// Gradients reduced in every micro-step: a step has more than one backward pass, each with its own reductions. Threshold: they take 2 % of the step (ours).
// Gain: only the last pass of a step reduces.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  // Backward passes of each step: runs of backward compute, ended by forward compute. Which pass a reduction belongs to: the last one begun before it.
  std::map<std::uint32_t, std::vector<Nanoseconds>> passes;
  std::map<std::uint32_t, Phase> now;
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < c.e.slices.size(); ++row)
    if (c.e.slices[row].counted && c.e.slices[row].activity == ActivityClass::compute) order.push_back(row);
  for (const std::uint32_t row : order) {
    const DeviceSlice& one = c.e.slices[row];
    const Phase phase = c.e.phase(one);
    if ((phase != Phase::forward && phase != Phase::backward) || scene.facts.recomputed[one.slice] != 0) continue;
    Phase& before = now.try_emplace(one.window, Phase::other).first->second;
    if (phase == Phase::backward && before != Phase::backward) passes[one.window].push_back(one.time.begin);
    before = phase;
  }
  std::map<std::uint32_t, std::map<std::size_t, std::vector<const DeviceCollective*>>> reductions;
  std::vector<const DeviceCollective*> all;
  for (const DeviceCollective& one : c.all) {
    const DeviceSlice& slice = c.slice(one);
    if (!c.gradient_reduction(one) || !slice.counted) continue;
    const std::vector<Nanoseconds>& begun = passes[slice.window];
    const auto pass = static_cast<std::size_t>(std::ranges::upper_bound(begun, slice.time.begin) - begun.begin());
    if (pass > 0) reductions[slice.window][pass].push_back(&one), all.push_back(&one);
  }
  std::vector<const DeviceCollective*> needless;
  std::size_t most = 0;
  for (const auto& [step, by_pass] : reductions) {
    if (passes[step].size() < 2 || by_pass.size() < 2 || by_pass.size() != passes[step].size()) continue;
    // Passes of one step reduce the same gradients, so each has reductions of the same sizes.
    const auto sizes_of = [](const std::vector<const DeviceCollective*>& pass) {
      std::vector<std::int64_t> sizes;
      for (const DeviceCollective* one : pass) sizes.push_back(one->call.bytes.value_or(-1));
      std::ranges::sort(sizes);
      return sizes;
    };
    const std::vector<std::int64_t> sizes = sizes_of(by_pass.begin()->second);
    if (sizes.front() < 0 || !std::ranges::all_of(by_pass, [&](const auto& entry) { return sizes_of(entry.second) == sizes; })) continue;
    most = std::max(most, by_pass.size());
    for (auto pass = by_pass.begin(); pass != std::prev(by_pass.end()); ++pass) needless.insert(needless.end(), pass->second.begin(), pass->second.end());
  }
  const Picked picked = c.picked(needless);
  if (needless.empty() || picked.share() < 0.02) return {};
  Finding f;
  f.title = "Gradients reduced in every micro-step";
  f.observation =
      fmt::format("A step has {} backward passes and each reduces the gradients; all but the last reduction take {}.", most, c.e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", c.operations(needless))};
  f.changes = {code("PyTorch", "with model.no_sync(): in all micro-steps but the last"),
               code("PyTorch", "FSDP2: model.set_requires_gradient_sync(last_micro_step)"),
               flag("DeepSpeed", "gradient_accumulation_steps in its configuration, with the engine's own backward() and step()")};
  f.confidence = Confidence::medium;
  f.would_settle = "Whether sharded gradients leave memory for whole ones between micro-steps.";
  return {f};
}

}  // namespace

extern const Rule comm_accum_sync_rule{
    .name = "comm.accum_sync",
    .help = "Every micro-step reduces the gradients.",
    .guard = "Passes with different reductions, as of several models; one pass per step.",
    .source = "PyTorch performance tuning guide (no_sync); 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
