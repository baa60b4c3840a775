// mem.zero_grad_memset: zero_grad writes zeros into the gradients instead of letting them go.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.002;  // of the step, device and host together: ours

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const ThreadOperations threads(scene);
  const auto is_range = [&](SliceId id) { return s.kind[id] == SliceKind::annotation && scene.timeline.name_of(id).starts_with("Optimizer.zero_grad"); };
  std::vector<SliceId> fills;
  std::set<SliceId> ranges;
  for (const SliceId id : steps.on_devices()) {
    if (scene.facts.launch[id] == no_id<SliceId>) continue;
    const SliceId range = around(scene, scene.facts.launch[id], is_range);
    if (range == no_id<SliceId>) continue;
    fills.push_back(id);
    ranges.insert(range);
  }
  if (fills.empty()) return {};
  std::vector<OpId> host;
  const std::vector<SliceId> all_ranges = everywhere(scene, steps, std::vector<SliceId>(ranges.begin(), ranges.end()));
  for (const SliceId range : all_ranges) append(host, threads.within(s.track[range], {s.start[range], s.end(range)}));
  const Nanoseconds device = total_time(scene, fills), on_host = total_time(scene, std::vector<SliceId>(ranges.begin(), ranges.end()));
  if (steps.share(device + on_host) < least_share) return {};
  Finding found;
  found.title = "Gradients are set to zero instead of let go";
  found.observation =
      fmt::format("zero_grad runs {} per step on the device ({}) and takes the launching thread {}.",
                  times_text(std::max<std::size_t>(1, fills.size() / std::max<std::size_t>(1, steps.count())), "kernel or fill", "kernels and fills"),
                  format_duration(steps.per_step(device)), format_duration(steps.per_step(on_host)));
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, fills))), edit_of("free", std::move(host))};
  found.evidence = most_telling(scene, std::move(fills));
  found.changes = {{"PyTorch", Change::Form::code, "optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0"}};
  found.confidence = Confidence::medium;
  found.would_settle = "Whether gradients live in buffers of a distributed optimizer: those must be zeroed.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_zero_grad_memset_rule{
    .name = "mem.zero_grad_memset",
    .help = "zero_grad fills the gradients with zeros.",
    .guard = "zero_grad without any device work; buffers of distributed optimizers (said).",
    .source = "PyTorch performance tuning guide; 0.2 % of the step: ours",
    .detect = detect,
};

}  // namespace stepscope
