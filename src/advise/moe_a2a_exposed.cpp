// All-to-alls, or DeepEP's dispatch and combine, with nothing beside them: more than 10 % of the step. Gain, at most: they run beside compute, as far as there
// is compute without communication. Exchanges of embeddings (recommendation models) show the same; their changes are named too.
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
  using enum CollectiveFunction;
  std::vector<const DeviceCollective*> chosen;
  bool experts = false;
  for (const DeviceCollective& one : c.all) {
    const bool deep = one.call.function == expert_dispatch || one.call.function == expert_combine;
    if ((one.call.function != all_to_all && !deep) || c.context_parallel(one)) continue;
    chosen.push_back(&one);
    experts |= deep;
  }
  const double exposed = c.exposed(chosen);
  if (c.e.share(exposed) < 0.1) return {};
  experts |= c.has_experts();
  std::map<std::uint32_t, double> room = c.free_compute({Phase::forward, Phase::backward});
  ScaleEdits edits;
  for (const DeviceCollective* one : chosen) {
    if (!c.slice(*one).counted) continue;
    double& free = room[c.slice(*one).window];
    const double hidden = std::min(static_cast<double>(one->exposed), free);
    free -= hidden;
    c.shorten(edits, *one, hidden);
  }
  Finding f;
  f.title = experts ? "Exposed all-to-all of experts" : "Exposed all-to-all";
  f.observation = fmt::format("Nothing is computed beside {} of {} all-to-alls.", c.e.amount(exposed), c.picked(chosen).count());
  f.observation += remark_of_one_rank(c.e);
  f.evidence = c.picked(chosen).evidence();
  f.edits = edits.edits();
  if (f.edits.empty()) f.unknown = "No compute is left to hide it behind.";
  if (!experts)
    f.changes = {code("PyTorch", "TorchRec: TrainPipelineSparseDist, so that the exchange of the next batch runs beside this batch; qcomm codecs in 16 bits")};
  for (const std::string_view text :
       {"--moe-token-dispatcher-type flex with DeepEP (--moe-enable-deepep)",
        "--moe-shared-expert-overlap, --overlap-moe-expert-parallel-comm with --delay-wgrad-compute", "--expert-model-parallel-size within one node's links"})
    f.changes.push_back(flag("Megatron-LM", std::string(text)));
  f.confidence = Confidence::low;
  f.would_settle = c.e.one_rank() ? std::string(wait_or_transfer) : "What the exchange waits for: the balance of tokens or tables over ranks.";
  return {f};
}

}  // namespace

extern const Rule moe_a2a_exposed_rule{
    .name = "moe.a2a_exposed",
    .help = "All-to-alls run while nothing is computed.",
    .guard = "Exchanges of context parallelism.",
    .source = "Megatron Bridge performance guide (EP); 10 % ours",
    .detect = detect,
};

}  // namespace stepscope
