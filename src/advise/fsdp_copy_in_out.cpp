// Copies into and out of the buffers of FSDP's collectives. Threshold: 3 % of the step. Gain, at most: they do not run.
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const DeviceEvidence e(scene);
  Picked picked(e);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    if (e.slices[row].activity == ActivityClass::communication) continue;
    const SliceId around = e.around(e.slices[row], [](std::string_view name) {
      return has_any_text(name,
                          {"fsdp::all_gather_copy_in", "fsdp::split_with_sizes_copy", "aten::split_with_sizes_copy", "fsdp::chunk_cat", "aten::_chunk_cat"});
    });
    if (around != no_id<SliceId>) picked.add(row);
  }
  if (picked.share() < 0.03) return {};
  Finding f;
  f.title = "Copies around FSDP's collectives";
  f.observation = fmt::format("{} copies into and out of the buffers of collectives take {}. The gain is what all of them cost: an upper limit.",
                              picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "fully_shard over larger units, with parameters whose first dimension the ranks divide"),
               code("PyTorch", "fsdp_module.set_allocate_memory_from_process_group_for_comm(True) in recent versions"),
               flag("Megatron-LM", "--use-megatron-fsdp, which keeps parameters in the buffers")};
  f.confidence = Confidence::low;
  f.would_settle = "Which of the copies run beside communication and cost nothing.";
  return {f};
}

}  // namespace

extern const Rule fsdp_copy_in_out_rule{
    .name = "fsdp.copy_in_out",
    .help = "FSDP copies parameters into and out of communication buffers.",
    .guard = "Copies outside of FSDP.",
    .source = "PyTorch FSDP2 documentation; 3 % ours",
    .detect = detect,
};

}  // namespace stepscope
