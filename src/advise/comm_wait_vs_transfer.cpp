// Collectives that mostly wait: more than half of the members' time is waiting for the last one, no rank is last in more than half of them (comm.straggler),
// and the waiting is 5 % of the step (ours). Gain: the edit balance.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_collective.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const DeviceEvidence e(scene);
  const Arrivals arrivals = arrivals_of(scene);
  if (arrivals.transfers < 3 || arrivals.waited <= arrivals.transferred) return {};
  for (const auto& [rank, last] : arrivals.last)
    if (2 * last > arrivals.transfers) return {};
  if (e.share(arrivals.waited) < 0.05) return {};
  Finding f;
  f.title = "Collectives mostly wait";
  f.observation = fmt::format("Of the time in collectives, {} is waiting for the last rank ({} of a rank's step), and no rank is always the last.",
                              percent(arrivals.waited / (arrivals.waited + arrivals.transferred)), percent(e.share(arrivals.waited)));
  f.evidence = arrivals.longest_waits();
  f.edits = {edit_of("balance", {})};
  f.edits.front().operations.reset();
  f.changes = {code("PyTorch",
                    "Give ranks equal work: sequences of equal total length per rank, balanced experts and stages, gc.collect() at the same step on all ranks"),
               code("PyTorch", "The network is not what holds this back: larger buckets or other algorithms do not help")};
  f.would_settle = "What the ranks did while others waited: data loading, garbage collection, sizes of their batches.";
  return {f};
}

}  // namespace

extern const Rule comm_wait_vs_transfer_rule{
    .name = "comm.wait_vs_transfer",
    .help = "Collectives spend their time waiting, not transferring.",
    .guard = "Traces of one rank; one late rank is comm.straggler.",
    .source = "Holistic Trace Analysis; 50 % and 5 % ours",
    .detect = detect,
};

}  // namespace stepscope
