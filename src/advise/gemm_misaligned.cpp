// Sizes of products that do not fill 16 bytes: the contiguous sizes k and n of 16-bit inputs are to be multiples of 8, of 8-bit inputs of 16. Threshold: 1 % of
// the step (ours). Gain: the padded product at the efficiency that aligned products of the trace reach; nothing is claimed without one.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

double padded(double size, double multiple) {
  return std::ceil(size / multiple) * multiple;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  const std::vector<DeviceCall> calls = e.calls();
  std::vector<DeviceCall> aligned;
  Picked picked(e);
  ScaleEdits edits;
  std::string example;
  double longest = 0;
  const auto multiple_of = [](const DeviceCall& call) { return std::floor(16 / element_bytes(call.type).value_or(16)); };
  const auto fits = [&](const Product& p, double multiple) { return std::fmod(p.n, multiple) == 0 && std::fmod(p.k, multiple) == 0; };
  for (const DeviceCall& call : calls) {
    const auto product = product_of(*call.arguments);
    if (product && multiple_of(call) >= 8 && fits(*product, multiple_of(call))) aligned.push_back(call);
  }
  const double efficiency = usual_efficiency(scene.gpu, aligned);
  for (const DeviceCall& call : calls) {
    const auto product = product_of(*call.arguments);
    if (!product || call.time <= 0 || multiple_of(call) < 8 || fits(*product, multiple_of(call))) continue;
    if (std::min({product->m, product->n, product->k}) < 16) continue;  // no matrix units at such sizes
    picked.add(call);
    if (static_cast<double>(call.counted) > longest) longest = static_cast<double>(call.counted), example = call.work->description;
    if (aligned.empty()) continue;
    const double n = padded(product->n, multiple_of(call)), k = padded(product->k, multiple_of(call));
    if (const auto bound = bound_ns(scene.gpu, *call.work, call.type))
      edits.add(e, call, *bound * (n / product->n) * (k / product->k) / efficiency / static_cast<double>(call.time));
  }
  if (picked.share() < 0.01) return {};
  Finding f;
  f.title = "Matrix sizes that do not fit the matrix units";
  f.observation = fmt::format("Products whose contiguous sizes are no multiple of 16 bytes take {}; the longest: {}.", e.amount(picked.time()), example);
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "--make-vocab-size-divisible-by 128"),
               code("PyTorch",
                    "Pad the vocabulary, hidden, feed-forward and head sizes, and sequences that end in a class token, to multiples of 64 (128 where a "
                    "tensor-parallel group shares them)")};
  f.confidence = f.edits.empty() ? Confidence::low : Confidence::medium;
  f.would_settle = "A run with the padded size.";
  if (f.edits.empty())
    f.unknown = aligned.empty()        ? "The trace has no aligned product of its type to compare with."
                : scene.gpu == nullptr ? "The GPU's rates are not known: name it with --gpu."
                                       : "They run as fast as the aligned products of the trace.";
  return {f};
}

}  // namespace

extern const Rule gemm_misaligned_rule{
    .name = "gemm.misaligned",
    .help = "Sizes of matrix products are no multiples of what the matrix units read.",
    .guard = "Products of full precision, and sizes below 16.",
    .source = "NVIDIA, Matrix Multiplication Background (DU-09799), tensor core requirements; 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
