// Attention made of products and a softmax, so that the scores are written to memory: what an aten::_scaled_dot_product_attention_math operator launched, or a
// batched product, a softmax over its result, and another batched product. Threshold: 1 % of the step and 256 keys (ours). Gain: the fused kernel of the edit
// fused_attention.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_device.h"
#include "cost/arguments.h"
#include "edit/attention_spans.h"

namespace stepscope {

namespace {

using namespace on_device;

// Length of the last dimension of the scores; 0 = not known.
double keys_of(const DeviceCall& call) {
  if (const Argument* scores = tensor_argument(*call.arguments, 0); scores != nullptr && scores->shape.size() >= 3)
    return static_cast<double>(scores->shape.back());
  return 0;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  bool by_operator = false;
  std::set<std::uint32_t> seen;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    if (e.slices[row].activity != ActivityClass::compute) continue;
    if (e.around(e.slices[row], [](std::string_view name) { return has_text(name, "_scaled_dot_product_attention_math"); }) == no_id<SliceId>) continue;
    picked.add(row);
    seen.insert(row);
    by_operator = true;
  }
  double keys = 0;
  const std::vector<DeviceCall> calls = e.calls();
  std::vector<AttentionPart> parts;
  for (const DeviceCall& call : calls) parts.push_back(attention_part(call.arguments->name, call.work->matrix_units));
  for (const AttentionSpan& span : attention_spans(parts)) {
    const double length = keys_of(calls[span.softmax]);
    if (span.backward || length < 256) continue;
    keys = std::max(keys, length);
    for (std::size_t at = span.first; at <= span.last; ++at)
      for (const std::uint32_t row : calls[at].rows)
        if (seen.insert(row).second) picked.add(row);
  }
  if (picked.share() < 0.01) return {};
  Finding f;
  f.title = "Attention that writes its scores";
  f.observation = fmt::format("Attention is made of {} kernels of products, softmax and what is between ({}); ", picked.count(), e.amount(picked.time()));
  f.observation += keys > 0 ? fmt::format("each row of its scores over up to {:.0f} keys goes through memory.", keys) : "its scores go through memory.";
  f.evidence = picked.evidence();
  if (scene.gpu != nullptr) f.edits = {edit_of("fused_attention", picked.operations())};
  f.changes = {
      code("PyTorch", "F.scaled_dot_product_attention(q, k, v, is_causal=True) in bf16 instead of an own softmax or a mask tensor"),
      code("PyTorch", "with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]): ... fails loudly where neither can"),
      code("PyTorch", "torch.nn.attention.flex_attention for masks of own making"),
      code("PyTorch", "Hugging Face: from_pretrained(..., attn_implementation='sdpa' or 'flash_attention_2')"),
      flag("Megatron-LM", "--attention-backend flash (or fused)")};
  f.confidence = by_operator ? Confidence::high : Confidence::medium;
  f.would_settle = "The step with a fused backend; its backward pass, which is not in this gain, becomes shorter too.";
  if (f.edits.empty()) f.unknown = "The GPU's rates are not known: name it with --gpu.";
  return {f};
}

}  // namespace

extern const Rule attn_math_fallback_rule{
    .name = "attn.math_fallback",
    .help = "Attention runs as separate products and softmax.",
    .guard = "Rows of scores shorter than 256 keys, where it does not matter.",
    .source = "PyTorch documentation of scaled_dot_product_attention; 1 % and 256 ours",
    .detect = detect,
};

}  // namespace stepscope
