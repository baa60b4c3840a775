// Parameter all-gathers (FSDP, ZeRO) that no compute covers: more than 5 % of the step. Gain: all but the first of a step run beside compute, as far as there
// is compute without communication.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::vector<const DeviceCollective*> chosen;
  for (const DeviceCollective& one : c.all)
    if (c.parameter_gather(one)) chosen.push_back(&one);
  const double total = c.exposed(chosen);
  // A gather or two in a step are something else (metrics, inputs).
  if (c.e.share(total) < 0.05 || static_cast<double>(c.picked(chosen).count()) < 2 * std::max(1.0, c.e.windows)) return {};
  std::map<std::uint32_t, double> room = c.free_compute({Phase::forward, Phase::backward, Phase::other});
  std::set<std::uint32_t> begun;
  ScaleEdits edits;
  for (const DeviceCollective* one : chosen) {
    const DeviceSlice& slice = c.slice(*one);
    if (!slice.counted || begun.insert(slice.window).second) continue;
    double& free = room[slice.window];
    const double hidden = std::min(static_cast<double>(one->exposed), free);
    free -= hidden;
    c.shorten(edits, *one, hidden);
  }
  Finding f;
  f.title = "Exposed parameter gathering";
  f.observation = fmt::format("Nothing is computed beside {} of the all-gathers of parameters.", c.e.amount(total));
  f.observation += remark_of_one_rank(c.e);
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  if (f.edits.empty()) f.unknown = "No compute is left to hide more behind.";
  f.changes = {
      code("PyTorch",
           "FSDP2: module.set_modules_to_forward_prefetch([...]), set_modules_to_backward_prefetch([...]); reshard_after_forward=False where memory allows"),
      flag("Megatron-LM", "--overlap-param-gather"), flag("torchtitan", "parallelism.fsdp_reshard_after_forward = \"never\" where memory allows"),
      flag("DeepSpeed", "zero_optimization: stage3_prefetch_bucket_size, overlap_comm: true")};
  settle_by_ranks(f, c.e);
  return {f};
}

}  // namespace

extern const Rule comm_exposed_param_gather_rule{
    .name = "comm.exposed_param_gather",
    .help = "Parameters are gathered while nothing is computed.",
    .guard = "The first gather of a step, fewer than two a step, tensor and context parallelism.",
    .source = "PyTorch FSDP2 documentation; Megatron Bridge performance guide; 5 % ours",
    .detect = detect,
};

}  // namespace stepscope
