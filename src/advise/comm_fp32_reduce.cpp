// Gradients reduced in fp32 although the matrix work runs in 16 bits or fewer. Threshold: 1 % of the step is exposed (ours). Gain: the edit network with twice
// the bandwidth for these collectives: half of the bytes.
#include <fmt/core.h>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  CollectiveEvidence c(scene);
  double reduced = 0, all = 0;
  for (const DeviceCall& call : c.e.calls()) {
    if (!call.work->matrix_units) continue;
    all += call.work->flops;
    if (call.type != DataType::fp32 && call.type != DataType::tf32 && call.type != DataType::fp64) reduced += call.work->flops;
  }
  if (all <= 0 || reduced < 0.8 * all) return {};
  std::vector<const DeviceCollective*> chosen;
  double bytes = 0;
  for (const DeviceCollective& one : c.all)
    if (c.gradient_reduction(one) && one.call.type == DataType::fp32) {
      chosen.push_back(&one);
      if (c.slice(one).counted) bytes += static_cast<double>(one.call.bytes.value_or(0));
    }
  const double exposed = c.exposed(chosen);
  if (c.e.share(exposed) < 0.01) return {};
  Finding f;
  f.title = "Gradients reduced in fp32";
  f.observation = fmt::format("{} of the matrix work runs in 16 bits or fewer, but {} of gradients per step are reduced in fp32, {} of it exposed.",
                              percent(reduced / all), megabytes(c.e.per_step(bytes)), c.e.amount(exposed));
  f.evidence = c.picked(chosen).evidence();
  f.edits = {edit_of("network", c.operations(chosen), {{"bandwidth", "2"}})};
  f.changes = {code("PyTorch", "MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)"),
               code("PyTorch", "ddp.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)"),
               flag("Megatron-LM", "Leave out --accumulate-allreduce-grads-in-fp32; --grad-reduce-in-bf16"),
               flag("torchtitan", "training.mixed_precision_reduce = \"bfloat16\""), flag("DeepSpeed", "communication_data_type: bfp16")};
  f.confidence = Confidence::low;
  f.would_settle = "Whether training stays stable (sums over many ranks lose digits); " + std::string(wait_or_transfer);
  return {f};
}

}  // namespace

extern const Rule comm_fp32_reduce_rule{
    .name = "comm.fp32_reduce",
    .help = "Gradients are reduced in fp32 in a 16-bit model.",
    .guard = "Models in fp32, and reductions that nothing waits for.",
    .source = "Megatron Bridge performance guide (communication data types); 80 % and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
