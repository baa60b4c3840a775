// Copies on the device that only rearrange: contiguous(), clone(), cat() and copy_() between tensors of one type. Threshold: 3 % of the step. Gain, at most:
// they do not run. What fills buffers of collectives does not count.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_device.h"
#include "cost/arguments.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  std::map<std::string, double> by_operator;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    const std::string_view name = e.operator_name(one);
    if (name != "aten::copy_" && name != "aten::cat" && name != "aten::clone" && name != "aten::contiguous") continue;
    if (one.activity == ActivityClass::communication || has_any_text(e.name(one), {"HtoD", "DtoH", "HtoH"}) || e.phase(one) == Phase::optimizer) continue;
    const SliceId copy = scene.facts.operation[one.slice];
    if (name == "aten::copy_") {
      const auto call = parse_operator_call(name, scene.timeline.detail_of(copy));
      const Argument* to = call ? tensor_argument(*call, 0) : nullptr;
      const Argument* from = call ? tensor_argument(*call, 1) : nullptr;
      if (to == nullptr || from == nullptr || to->type != from->type) continue;
    }
    const SliceId buffer = e.around(one, [](std::string_view around) {
      return has_any_text(around, {"c10d::", "fsdp::", "FSDP", "FullyShard", "nccl", "DistributedDataParallel", "_all_gather"});
    });
    if (buffer != no_id<SliceId>) continue;
    picked.add(row);
    const SliceId outer = scene.facts.operation[copy];
    if (one.counted) by_operator[std::string(outer == no_id<SliceId> ? name : e.name(outer))] += static_cast<double>(one.duration());
  }
  if (picked.share() < 0.03) return {};
  const auto most = std::ranges::max_element(by_operator, {}, [](const auto& entry) { return entry.second; });
  Finding f;
  f.title = "Copies that only rearrange data";
  f.observation = fmt::format("{} copies on the device take {}, most of it in {} ({}). The gain is what all of them cost: an upper limit.", picked.count(),
                              e.amount(picked.time()), most->first, e.amount(most->second));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "Kernels that take strided inputs or the layout at hand (sequence-first or batch-first throughout) instead of .contiguous()"),
               code("PyTorch", "One product for queries, keys and values; torch.compile to move copies into their neighbours"),
               flag("Megatron-LM", "--moe-permute-fusion where experts' tokens are rearranged")};
  f.confidence = Confidence::low;
  f.would_settle = "Python stacks of the copies (profile(with_stack=True)): which of them the model needs.";
  return {f};
}

}  // namespace

extern const Rule pw_noncontiguous_copy_rule{
    .name = "pw.noncontiguous_copy",
    .help = "Copies on the device only rearrange data.",
    .guard = "Buffers of collectives, copies to and from the host, the optimizer.",
    .source = "PyTorch performance tuning guide; 3 % ours",
    .detect = detect,
};

}  // namespace stepscope
