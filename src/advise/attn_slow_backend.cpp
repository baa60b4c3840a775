// A FlashAttention-2 or memory-efficient kernel on a GPU of compute capability 9.0 or later that reaches less than 45 % of the bf16 rate. Thresholds: attention
// takes 10 % of the step, and a call computes at least 1e9 FLOPs. Gain: 55 % of the rate (FlashAttention-3 and cuDNN reach 0.55 to 0.75 on an H100,
// arXiv:2407.08608).
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  double flops = 0, time = 0;
  const auto rate = scene.gpu == nullptr ? std::nullopt : scene.gpu->matrix_rate(DataType::bf16);
  if (!rate) return {};
  for (const DeviceCall& call : e.calls()) {
    if (call.cost->category != OperatorCategory::attention || call.time <= 0 || call.work->flops < 1e9) continue;
    if (call.type != DataType::bf16 && call.type != DataType::fp16) continue;
    bool older = false;
    for (const std::uint32_t row : call.rows)
      older |=
          e.capability(e.slices[row]) >= 90 && has_any_text(e.name(e.slices[row]), {"fmha_cutlass", "flash_fwd_kernel", "flash_bwd_d", "flash_bwd_kernel"});
    const double reached = call.work->flops / (static_cast<double>(call.time) * 1e-9) / *rate;
    if (!older || reached >= 0.45) continue;
    picked.add(call);
    edits.add(e, call, reached / 0.55);
    flops += call.work->flops, time += static_cast<double>(call.time);
  }
  if (picked.share() < 0.1) return {};
  Finding f;
  f.title = "Attention kernels of an older generation";
  f.observation = fmt::format("Attention takes {} in kernels written for earlier GPUs; they reach {} of the bf16 rate.", e.amount(picked.time()),
                              percent(flops / time * 1e9 / *rate));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "with torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION): ..."),
               code("PyTorch", "FlashAttention-3 (flash_attn_interface) on Hopper"), environment("Megatron-LM", "NVTE_FUSED_ATTN=1"),
               flag("Megatron-LM", "--attention-backend fused")};
  f.would_settle = "The same shapes with the other backend.";
  return {f};
}

}  // namespace

extern const Rule attn_slow_backend_rule{
    .name = "attn.slow_backend",
    .help = "Attention runs in kernels that do not use this GPU fully.",
    .guard = "Short sequences (below 1e9 FLOPs a call), GPUs before Hopper.",
    .source = "FlashAttention-3 (arXiv:2407.08608); Megatron Bridge performance guide; 45 % and 10 % ours",
    .detect = detect,
};

}  // namespace stepscope
