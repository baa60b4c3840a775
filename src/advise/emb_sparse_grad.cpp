// The dense gradient of an embedding: sorting and scattering. Threshold: 2 % of the step. Gain: half of the bandwidth's bound for the bytes that must move (a
// segmented sum).
#include <fmt/core.h>

#include <map>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  std::map<SliceId, std::vector<std::uint32_t>> by_call;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    if (e.slices[row].activity != ActivityClass::compute) continue;
    const SliceId around = e.around(e.slices[row], [](std::string_view name) {
      return has_any_text(name, {"embedding_dense_backward", "embedding_bag_dense_backward", "EmbeddingBackward"});
    });
    if (around == no_id<SliceId>) continue;
    picked.add(row);
    by_call[around].push_back(row);
  }
  if (picked.share() < 0.02) return {};
  for (const auto& [operation, rows] : by_call) {
    const auto call = parse_operator_call(e.name(operation), scene.timeline.detail_of(operation));
    const OperatorCost* cost = find_operator_cost(e.name(operation));
    const auto work = call && cost != nullptr ? cost->work(*call) : std::nullopt;
    const auto bound = work ? bound_ns(scene.gpu, *work, work->type) : std::nullopt;
    double time = 0;
    for (const std::uint32_t row : rows) time += static_cast<double>(e.slices[row].duration());
    if (bound && time > 0)
      for (const std::uint32_t row : rows) edits.add(e.slices[row].op, 2 * *bound / time);
  }
  Finding f;
  f.title = "Embedding gradients by sorting and scattering";
  f.observation = fmt::format("{} kernels make dense gradients of embeddings: {}.", picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "TorchRec / FBGEMM table-batched embeddings, whose optimizer is part of the backward kernel"),
               code("PyTorch", "nn.Embedding(..., sparse=True) with torch.optim.SparseAdam, where only few rows are touched")};
  f.confidence = Confidence::low;
  f.would_settle = "How often indices repeat in a batch.";
  if (f.edits.empty()) f.unknown = "The bytes are not known: record shapes, and name the GPU with --gpu.";
  return {f};
}

}  // namespace

extern const Rule emb_sparse_grad_rule{
    .name = "emb.sparse_grad",
    .help = "Embeddings make dense gradients by sorting and scattering.",
    .guard = "Embeddings whose backward is below 2 % of the step.",
    .source = "PyTorch documentation of nn.Embedding; 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
