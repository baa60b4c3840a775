// A product per expert: at least four products with the same n and k and differing m below 512 follow one another. Threshold: 3 % of the step (ours). Gain:
// together they run at the efficiency that other products of the trace reach for the sum of their bounds.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  const std::vector<DeviceCall> calls = e.calls();
  const double efficiency = usual_efficiency(scene.gpu, calls);
  std::vector<const DeviceCall*> products;
  for (const DeviceCall& call : calls)
    if (call.cost->category == OperatorCategory::gemm) products.push_back(&call);
  Picked picked(e);
  ScaleEdits edits;
  std::size_t runs = 0, most = 0;
  const auto shape = [](const DeviceCall* call) { return product_of(*call->arguments); };
  for (std::size_t i = 0; i < products.size();) {
    const auto first = shape(products[i]);
    std::size_t end = i + 1;
    std::set<double> rows;
    if (first) rows.insert(first->m);
    for (; first && end < products.size(); ++end) {
      const auto next = shape(products[end]);
      if (!next || next->n != first->n || next->k != first->k || next->m >= 512) break;
      rows.insert(next->m);
    }
    // Experts get different numbers of tokens; layers of a model do not.
    if (first && first->m < 512 && end - i >= 4 && rows.size() >= 3) {
      ++runs;
      most = std::max(most, end - i);
      double time = 0, bound = 0;
      bool known = true;
      for (std::size_t at = i; at < end; ++at) {
        picked.add(*products[at]);
        time += static_cast<double>(products[at]->time);
        const auto one = bound_ns(scene.gpu, *products[at]->work, products[at]->type);
        known &= one.has_value();
        bound += one.value_or(0);
      }
      if (known && time > 0)
        for (std::size_t at = i; at < end; ++at) edits.add(e, *products[at], bound / efficiency / time);
    }
    i = end;
  }
  if (picked.share() < 0.03) return {};
  Finding f;
  f.title = "One small product per expert";
  f.observation = fmt::format("{} runs of up to {} small products with the same weights' shape take {}.", runs, most, e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  if (f.edits.empty())
    f.unknown = scene.gpu == nullptr ? "The GPU's rates are not known: name it with --gpu."
                                     : "On the device they run as fast as other products; launching them one by one is what host rules look at.";
  f.changes = {flag("Megatron-LM", "--moe-grouped-gemm --moe-permute-fusion"), code("PyTorch", "torch._grouped_mm over sorted tokens with offsets per expert"),
               code("PyTorch", "transformer_engine.pytorch.GroupedLinear")};
  f.would_settle = "A step with grouped products.";
  return {f};
}

}  // namespace

extern const Rule moe_many_small_gemms_rule{
    .name = "moe.many_small_gemms",
    .help = "Experts run as many small products.",
    .guard = "Layers of equal shape: experts are known by their differing numbers of rows.",
    .source = "Megatron Bridge performance guide (EP); 4, 512 and 3 % ours",
    .detect = detect,
};

}  // namespace stepscope
