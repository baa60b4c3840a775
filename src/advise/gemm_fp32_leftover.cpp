// Products and convolutions in fp32 in a model whose matrix work is otherwise in half precision or below: at least 80 % of the matrix FLOPs. Threshold: 1 % of
// the step (ours): routers, losses and rotary frequencies stay below.
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  double reduced = 0, all = 0;
  Picked picked(e);
  for (const DeviceCall& call : e.calls()) {
    if (!call.work->matrix_units || call.counted == 0) continue;
    all += call.work->flops;
    const bool wide = call.type == DataType::fp32 || call.type == DataType::tf32;
    if (!wide) reduced += call.work->flops;
    if (wide) picked.add(call);
  }
  if (all <= 0 || reduced < 0.8 * all || picked.share() < 0.01) return {};
  Finding f;
  f.title = "fp32 products in a reduced-precision model";
  f.observation = fmt::format("{} of the matrix FLOPs run in 16 bits or fewer, but {} kernels of products still take fp32 inputs: {}.", percent(reduced / all),
                              picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  if (scene.gpu != nullptr) f.edits = {edit_of("dtype", picked.operations(), {{"to", "bf16"}})};
  f.changes = {
      code("PyTorch",
           "with torch.autocast('cuda', dtype=torch.bfloat16): around these modules; @torch.amp.custom_fwd(device_type='cuda') on own autograd functions"),
      code("PyTorch", "fully_shard(..., mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16)) so that it covers these parameters")};
  f.would_settle = "Whether these products are in fp32 on purpose (routers, losses, position codes).";
  if (f.edits.empty()) f.unknown = "The GPU's rates are not known: name it with --gpu.";
  return {f};
}

}  // namespace

extern const Rule gemm_fp32_leftover_rule{
    .name = "gemm.fp32_leftover",
    .help = "Products left in fp32 in a model of reduced precision.",
    .guard = "Small products that are in fp32 on purpose: below 1 % of the step nothing is said.",
    .source = "PyTorch performance tuning guide (mixed precision); 80 % and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
