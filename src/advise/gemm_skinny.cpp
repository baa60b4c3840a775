// Products too small to use the device: the smallest of m, n, k is below 512, or memory bounds the product, in training steps. Threshold: such products take 30
// % of the step. Gain: twice the rows in half as many products (a micro-batch twice as large, or half the tensor parallelism), by the ratio of their rooflines:
// bound(2m) / 2 bound(m).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  if (!e.trains()) return {};
  Picked picked(e);
  ScaleEdits edits;
  double longest = 0;
  std::string example;
  for (const DeviceCall& call : e.calls()) {
    const auto product = product_of(*call.arguments);
    if (!product || call.time <= 0) continue;
    const auto bound = bound_ns(scene.gpu, *call.work, call.type);
    const double rate = scene.gpu == nullptr ? 0 : scene.gpu->matrix_rate(call.type).value_or(0);
    const bool by_memory = bound && rate > 0 && call.work->flops / rate * 1e9 < *bound;
    if (std::min({product->m, product->n, product->k}) >= 512 && !by_memory) continue;
    picked.add(call);
    if (static_cast<double>(call.counted) > longest) longest = static_cast<double>(call.counted), example = call.work->description;
    const auto element = element_bytes(call.work->type);
    if (!bound || rate <= 0 || !element || *bound <= 0) continue;
    const double weights = product->batch * product->n * product->k * *element;
    const double twice = std::max(2 * call.work->flops / rate, (2 * call.work->bytes - weights) / *scene.gpu->memory_bytes_per_second) * 1e9;
    edits.add(e, call, twice / (2 * *bound));
  }
  if (picked.share() < 0.3) return {};
  Finding f;
  f.title = "Small matrix products";
  f.observation = fmt::format("{} of matrix products have a size below 512 or wait for memory; the longest: {}.", e.amount(picked.time()), example);
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "--micro-batch-size twice as large, or --tensor-model-parallel-size half as large"),
               code("PyTorch", "A larger micro-batch with fewer accumulation steps; one product for queries, keys and values, one for gate and up"),
               flag("Megatron-LM", "--moe-grouped-gemm for experts")};
  f.confidence = Confidence::low;
  f.would_settle = "A run with the micro-batch twice as large: the gain here is that of the roofline, for the same number of samples.";
  if (f.edits.empty())
    f.unknown = scene.gpu == nullptr ? "The GPU's rates are not known: name it with --gpu."
                                     : "By the roofline, larger products would not take less time for the same work.";
  return {f};
}

}  // namespace

extern const Rule gemm_skinny_rule{
    .name = "gemm.skinny",
    .help = "Matrix products are too small for the device.",
    .guard = "Inference, where few rows are the nature of the task.",
    .source = "Megatron Bridge performance guide; NVIDIA, Matrix Multiplication Background (DU-09799); 512 and 30 % ours",
    .detect = detect,
};

}  // namespace stepscope
