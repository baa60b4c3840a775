// Normalisation kernels that wait for multiprocessors while a collective holds them: more than twice as long beside a communication kernel as the same kernel
// (name and grid) alone. Threshold: 0.5 % of the step could be saved (ours). Gain: their time alone (the median).
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_device.h"
#include "base/intervals.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  struct Same {
    std::vector<double> alone;
    std::vector<std::uint32_t> beside;
  };
  std::vector<std::vector<Interval>> communication(scene.facts.devices.size());
  for (const DeviceSlice& one : e.slices)
    if (one.activity == ActivityClass::communication) communication[one.device].push_back(one.time);
  for (auto& intervals : communication) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    intervals = merge_intervals(intervals);
  }
  std::map<std::pair<std::string_view, double>, Same> kernels;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::compute || !has_any_text(e.name(one), {"ln_fwd_tuned", "ln_fwd_general", "ln_bwd_tuned", "ln_bwd_general",
                                                                              "rmsnorm_fwd_tuned", "rmsnorm_bwd_tuned", "ln_fwd_kernel", "ln_bwd_kernel"}))
      continue;
    const Interval own[] = {one.time};
    const bool beside = intersection_length(own, communication[one.device]) > 0;
    Same& same = kernels[{e.name(one), e.blocks(one).value_or(0)}];
    if (beside)
      same.beside.push_back(row);
    else
      same.alone.push_back(static_cast<double>(one.duration()));
  }
  Picked picked(e);
  ScaleEdits edits;
  double saved = 0;
  for (auto& [key, same] : kernels) {
    if (same.alone.size() < 3) continue;
    std::ranges::sort(same.alone);
    const double usual = same.alone[same.alone.size() / 2];
    for (const std::uint32_t row : same.beside) {
      const double duration = static_cast<double>(e.slices[row].duration());
      if (duration <= 2 * usual) continue;
      picked.add(row, duration - usual);
      edits.add(e.slices[row].op, usual / duration);
      if (e.slices[row].counted) saved += duration - usual;
    }
  }
  if (e.share(saved) < 0.005) return {};
  Finding f;
  f.title = "Normalisation waits for multiprocessors that communication holds";
  f.observation = fmt::format("{} normalisation kernels take more than twice as long beside communication as alone: {} more.", picked.count(), e.amount(saved));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {environment("Megatron-LM", "NVTE_FWD_LAYERNORM_SM_MARGIN=16 NVTE_BWD_LAYERNORM_SM_MARGIN=16"), environment("NCCL", "NCCL_MAX_CTAS=16")};
  f.would_settle = "";
  return {f};
}

}  // namespace

extern const Rule norm_sm_margin_rule{
    .name = "norm.sm_margin",
    .help = "Normalisation kernels wait for multiprocessors held by communication.",
    .guard = "The same kernels that are slow alone, too.",
    .source = "Megatron Bridge performance guide; 0.5 % ours",
    .detect = detect,
};

}  // namespace stepscope
