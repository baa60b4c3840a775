// A mask built and moved on the device: element-wise kernels of masking operators whose tensors end in two equal sizes of 256 or more. Threshold: 0.5 % of the
// step. Gain: they do not run.
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

bool square(const OperatorCall& call) {
  for (const Argument& argument : call.arguments)
    if (argument.shape.size() >= 2 && argument.shape.back() >= 256 && argument.shape[argument.shape.size() - 2] == argument.shape.back()) return true;
  return false;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  for (const DeviceCall& call : e.calls()) {
    const std::string_view name = call.arguments->name;
    const bool masks = has_any_text(name, {"aten::tril", "aten::triu", "masked_fill"});
    if (!masks || !square(*call.arguments)) continue;
    picked.add(call);
  }
  if (picked.share() < 0.005) return {};
  Finding f;
  f.title = "Attention mask built in every step";
  f.observation = fmt::format("{} kernels make or apply masks over whole score matrices: {}.", picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "F.scaled_dot_product_attention(..., is_causal=True), or a BlockMask of flex_attention made once"),
               code("PyTorch", "Sequences of different lengths packed, with cu_seqlens, instead of a mask"),
               flag("Megatron-LM", "--no-create-attention-mask-in-dataloader")};
  f.would_settle = "Whether the mask is the same in every step.";
  return {f};
}

}  // namespace

extern const Rule attn_mask_materialised_rule{
    .name = "attn.mask_materialised",
    .help = "Attention masks are built and moved in every step.",
    .guard = "Triangular matrices below 256.",
    .source = "Megatron-LM arguments; 0.5 % ours",
    .detect = detect,
};

}  // namespace stepscope
