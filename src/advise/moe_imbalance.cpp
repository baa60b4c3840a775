// Experts with unequal load: a rank receives more than 1.3 times the tokens that it sends in the all-to-alls before the experts. (When every rank sends as
// many, the mean received is what is sent.) Threshold: grouped products take 2 % of the step (ours). Gain: the rank's grouped products take time / ratio.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  CollectiveEvidence c(scene);
  // Tokens sent and received per rank, of exchanges that are followed by grouped products.
  std::map<std::uint32_t, std::pair<double, double>> tokens;  // by device: received, sent
  std::vector<const DeviceCollective*> chosen;
  for (const DeviceCollective& one : c.all) {
    if (one.call.function != CollectiveFunction::all_to_all || one.call.source == CollectiveSource::kernel_name || !c.slice(one).counted) continue;
    const std::string_view detail = scene.timeline.detail_of(one.call.cause != no_id<SliceId> ? one.call.cause : c.slice(one).slice);
    const auto in = recorded_number(detail, "In msg nelems"), out = recorded_number(detail, "Out msg nelems");
    if (!in || !out || *in <= 0 || *out <= *in) continue;  // towards a busy expert more arrives than leaves; on the way back less
    tokens[c.slice(one).device].first += static_cast<double>(*out);
    tokens[c.slice(one).device].second += static_cast<double>(*in);
    chosen.push_back(&one);
  }
  Picked picked(c.e);
  ScaleEdits edits;
  double worst = 0;
  for (std::uint32_t row = 0; row < c.e.slices.size(); ++row) {
    const DeviceSlice& one = c.e.slices[row];
    const auto found = tokens.find(one.device);
    if (found == tokens.end() || one.activity != ActivityClass::compute) continue;
    const double ratio = found->second.first / found->second.second;
    if (ratio <= 1.3) continue;
    const bool grouped = has_any_text(c.e.name(one), {"grouped", "Grouped"}) ||
                         c.e.around(one, [](std::string_view name) { return has_any_text(name, {"grouped", "Grouped"}); }) != no_id<SliceId>;
    if (!grouped) continue;
    worst = std::max(worst, ratio);
    picked.add(row);
    edits.add(one.op, 1 / ratio);
  }
  if (picked.share() < 0.02) return {};
  Finding f;
  f.title = "Experts with unequal load";
  f.observation = fmt::format("A rank receives {:.2f} times the tokens that it sends; its experts' products take {}.", worst, c.e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {flag("Megatron-LM", "--moe-router-load-balancing-type aux_loss with --moe-aux-loss-coeff, or --moe-router-enable-expert-bias"),
               flag("Megatron-LM", "--moe-expert-capacity-factor"), flag("Megatron-LM", "--moe-router-force-load-balancing (for measurements only)")};
  f.confidence = Confidence::low;
  f.would_settle = "The traces of all ranks of the expert-parallel group; early in training load is unequal by nature.";
  return {f};
}

}  // namespace

extern const Rule moe_imbalance_rule{
    .name = "moe.imbalance",
    .help = "Experts get unequal numbers of tokens.",
    .guard = "Exchanges without grouped products; only what a rank itself sends and receives is known.",
    .source = "Megatron-LM MoE documentation; 1.3; 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
