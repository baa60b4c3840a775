// Exchanges of context parallelism that attention does not cover: more than 5 % of the step. Gain, at most: as much of them as there is attention without
// communication beside it.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  std::vector<const DeviceCollective*> chosen;
  for (const DeviceCollective& one : c.all)
    if (c.context_parallel(one)) chosen.push_back(&one);
  const double total = c.exposed(chosen);
  if (chosen.empty() || c.e.share(total) < 0.05) return {};
  std::map<std::uint32_t, double> attention;
  for (const DeviceSlice& one : c.e.slices)
    if (one.counted && one.activity == ActivityClass::compute && has_any_text(c.e.name(one), {"fmha", "flash", "attention", "attn"}))
      attention[one.window] += static_cast<double>(one.duration());
  ScaleEdits edits;
  for (const DeviceCollective* one : chosen) {
    attention[c.slice(*one).window] -= static_cast<double>(c.slice(*one).duration() - one->exposed);
    double& room = attention[c.slice(*one).window];
    const double hidden = std::clamp(static_cast<double>(one->exposed), 0.0, std::max(0.0, room));
    room -= hidden;
    c.shorten(edits, *one, hidden);
  }
  Finding f;
  f.title = "Exposed context-parallel exchange";
  f.observation = fmt::format("Attention does not cover {} of the exchanges of keys and values.", c.e.amount(total));
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  if (f.edits.empty()) f.unknown = "There is no attention left to hide more behind.";
  f.changes = {flag("Megatron-LM", "--cp-comm-type p2p, or a2a+p2p across nodes, or all_gather with grouped-query attention"),
               flag("Megatron-LM", "--context-parallel-size smaller")};
  f.confidence = Confidence::low;
  f.would_settle = std::string(wait_or_transfer);
  return {f};
}

}  // namespace

extern const Rule comm_cp_exposed_rule{
    .name = "comm.cp_exposed",
    .help = "Exchanges of context parallelism are exposed.",
    .guard = "Groups and operators that do not say that they are of context parallelism.",
    .source = "Megatron Bridge performance guide (CP); 5 %",
    .detect = detect,
};

}  // namespace stepscope
