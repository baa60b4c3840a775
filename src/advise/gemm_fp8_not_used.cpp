// Linear layers in 16 bits on a GPU with FP8 matrix units, where they take more than half of the device's compute time. Gain: half of each product's time, plus
// one pass over its inputs to convert them (3 bytes per value at memory bandwidth).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  if (scene.gpu == nullptr || !scene.gpu->matrix_fp8 || !scene.gpu->memory_bytes_per_second || !e.trains()) return {};
  const auto half_rate = scene.gpu->matrix_rate(DataType::bf16);
  if (!half_rate || *scene.gpu->matrix_fp8 < 1.5 * *half_rate) return {};
  Picked picked(e);
  ScaleEdits edits;
  bool any_fp8 = false;
  for (const DeviceCall& call : e.calls()) {
    any_fp8 |= call.type == DataType::fp8_e4m3 || call.type == DataType::fp8_e5m2 || call.type == DataType::fp4;
    const auto product = product_of(*call.arguments);
    if (!product || product->batch != 1 || call.time <= 0 || (call.type != DataType::bf16 && call.type != DataType::fp16)) continue;
    if (std::min({product->m, product->n, product->k}) < 512) continue;  // small products gain nothing
    picked.add(call);
    const double convert = 3 * (product->m * product->k + product->n * product->k) / *scene.gpu->memory_bytes_per_second * 1e9;
    edits.add(e, call, 0.5 + convert / static_cast<double>(call.time));
  }
  const double compute = e.counted(ActivityClass::compute);
  if (any_fp8 || compute <= 0 || picked.time() < 0.5 * compute || edits.empty()) return {};
  Finding f;
  f.title = "Linear layers could run in FP8";
  f.observation = fmt::format("Products in 16 bits take {}, more than half of the compute time, and {} multiplies FP8 {:.1f} times as fast.",
                              e.amount(picked.time()), scene.gpu->title, *scene.gpu->matrix_fp8 / *half_rate);
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "torchao.float8.convert_to_float8_training(model)"), code("PyTorch", "transformer_engine.pytorch.fp8_autocast(enabled=True)"),
               flag("Megatron-LM", "--fp8-format hybrid"), flag("torchtitan", "the float8 converter of its model converters (quantize.linear.float8)")};
  f.confidence = Confidence::low;
  f.would_settle = "Whether the model converges in FP8; a measured step.";
  return {f};
}

}  // namespace

extern const Rule gemm_fp8_not_used_rule{
    .name = "gemm.fp8_not_used",
    .help = "Linear layers run in 16 bits on a GPU with FP8.",
    .guard = "Where FP8 is used already, small products, GPUs whose FP8 is not faster.",
    .source = "Megatron Bridge performance guide (low precision); 50 % and 512 ours",
    .detect = detect,
};

}  // namespace stepscope
