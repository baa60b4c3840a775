// A cross-entropy over whole fp32 logits. Threshold: its kernels over a vocabulary of at least 8,192 take 3 % of the step. Gain: each logit is read once and
// its gradient written once, in 16 bits; the kernels keep their bandwidth: time x (4 bytes / bytes per logit now).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_device.h"
#include "cost/arguments.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  double logits = 0, tokens = 0, vocabulary = 0;
  double moved = 0, largest = 0;
  for (const DeviceCall& call : e.calls()) {
    const std::string_view name = call.arguments->name;
    if (!has_any_text(name, {"log_softmax", "nll_loss", "cross_entropy"})) continue;
    const Argument* argument = nullptr;
    for (std::size_t i = 0; i < 3 && argument == nullptr; ++i) {
      const Argument* one = tensor_argument(*call.arguments, i);
      if (one != nullptr && one->shape.size() >= 2 && one->shape.back() >= 8'192 && one->type == DataType::fp32) argument = one;
    }
    if (argument == nullptr) continue;
    picked.add(call);
    const double count = static_cast<double>(element_count(argument->shape).value_or(0));
    largest = std::max(largest, count);
    if (call.counted > 0) moved += call.work->bytes;
    // Each forward log_softmax begins a loss.
    if (call.counted > 0 && has_text(name, "log_softmax") && !has_text(name, "backward")) logits += count;
    vocabulary = std::max(vocabulary, static_cast<double>(argument->shape.back()));
  }
  if (picked.share() < 0.03) return {};
  tokens = vocabulary > 0 ? largest / vocabulary : 0;
  Finding f;
  f.title = "Cross-entropy over whole fp32 logits";
  f.observation = fmt::format("The loss over {:.0f} x {:.0f} fp32 logits takes {}; one copy of them holds {}.", tokens, vocabulary, e.amount(picked.time()),
                              megabytes(4 * largest));
  f.evidence = picked.evidence();
  if (logits > 0 && moved > 4 * logits) {
    ScaleEdits edits;
    for (const OpId op : picked.operations()) edits.add(op, 4 * logits / moved);
    f.edits = edits.edits();
  } else {
    f.unknown = "The trace does not hold the loss's forward pass.";
  }
  f.changes = {code("PyTorch", "Liger Kernel: LigerFusedLinearCrossEntropyLoss, or the loss computed in chunks of tokens"),
               flag("Megatron-LM", "--cross-entropy-loss-fusion"),
               flag("torchtitan", "Leave loss parallel on (parallelism.disable_loss_parallel = false) with tensor parallelism"),
               code("PyTorch", "torch.compile over the loss")};
  f.would_settle = "A step with the fused loss.";
  return {f};
}

}  // namespace

extern const Rule loss_logits_fp32_rule{
    .name = "loss.logits_fp32",
    .help = "The loss moves whole fp32 logits several times.",
    .guard = "Vocabularies below 8,192, and logits in 16 bits.",
    .source = "Megatron Bridge performance guide (fusions); 3 % and 8,192 ours",
    .detect = detect,
};

}  // namespace stepscope
