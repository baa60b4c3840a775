// Runs of three or more element-wise or reducing kernels, one after another on a stream, none longer than what memory needs by much: each reads what the one
// before wrote. Threshold: such runs take 15 % of the compute time and 2 % of the step (ours). Gain: the edit fuse (bytes that need not move).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

bool elementwise(const DeviceEvidence& e, const DeviceSlice& one) {
  if (one.activity != ActivityClass::compute) return false;
  const std::string_view name = e.name(one);
  // What a compiler or a foreach optimizer made is fused already.
  if (has_any_text(name, {"multi_tensor_apply", "triton_"})) return false;
  return has_any_text(name, {"elementwise_kernel", "vectorized_", "reduce_kernel"});
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  std::map<TrackId, std::vector<std::uint32_t>> streams;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) streams[scene.timeline.slices.track[e.slices[row].slice]].push_back(row);
  for (const auto& [track, rows] : streams)
    for (std::size_t i = 0; i < rows.size();) {
      std::size_t end = i;
      while (end < rows.size() && elementwise(e, e.slices[rows[end]]) && e.phase(e.slices[rows[end]]) != Phase::optimizer) ++end;
      if (end - i >= 3) {
        for (std::size_t at = i; at < end; ++at) picked.add(rows[at]);
      }
      i = std::max(end, i + 1);
    }
  const double compute = e.counted(ActivityClass::compute);
  if (compute <= 0 || picked.time() < 0.15 * compute || picked.share() < 0.02) return {};
  Finding f;
  f.title = "Element-wise kernels in long runs";
  f.observation = fmt::format("{} element-wise kernels stand in runs of three or more: {}, {} of the compute time.", picked.count(), e.amount(picked.time()),
                              percent(picked.time() / compute));
  f.evidence = picked.evidence();
  f.edits = {edit_of("fuse", picked.operations())};
  f.changes = {code("PyTorch", "model = torch.compile(model)"),
               code("PyTorch", "Fused blocks: torch.nn.functional.rms_norm, Liger Kernel, Transformer Engine, Apex"),
               flag("Megatron-LM", "Leave out --no-bias-gelu-fusion, --no-bias-swiglu-fusion, --no-bias-dropout-fusion, --no-rope-fusion"),
               flag("torchtitan", "compile.enable = true")};
  f.would_settle = "The step compiled; which of the intermediate results backward needs.";
  return {f};
}

}  // namespace

extern const Rule pw_unfused_elementwise_rule{
    .name = "pw.unfused_elementwise",
    .help = "Element-wise kernels follow one another, each moving the same data.",
    .guard = "Compiled and multi-tensor kernels, the optimizer, short runs.",
    .source = "Megatron Bridge performance guide (operator fusion); 15 % and 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
