// One rank that comes late: of the collectives matched over ranks, it is last in more than half, and its lateness (behind the rank that came before it) costs 5
// % of the step. Gain: the edit balance: every rank arrives when the median rank does.
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
  if (arrivals.transfers < 3) return {};
  const auto worst = std::ranges::max_element(arrivals.last, {}, [](const auto& entry) { return entry.second; });
  const double cost = arrivals.cost.at(worst->first);
  // Lateness is one rank's time: held against one rank's steps.
  const double steps = e.span / static_cast<double>(std::max<std::size_t>(1, scene.facts.devices.size()));
  if (2 * worst->second <= arrivals.transfers || steps <= 0 || cost < 0.05 * steps) return {};
  Finding f;
  f.title = fmt::format("Rank {} arrives late", scene.timeline.ranks[index(worst->first)].number);
  f.observation = fmt::format("It is the last in {} of {} collectives; the others wait {} for it, {} of the step.", worst->second, arrivals.transfers,
                              time_text(cost), percent(cost / steps));
  f.evidence = arrivals.longest_waits();
  f.edits = {edit_of("balance", {})};
  f.edits.front().operations.reset();
  f.changes = {
      code("PyTorch", "Find out what differs on that rank: clocks (nvidia-smi -q -d CLOCK,PERFORMANCE), data loading, garbage collection, processor binding"),
      flag("Megatron-LM", "--log-straggler"), code("environment", "Exchange the node and see whether the lateness moves with it")};
  f.would_settle = "More steps; the rank's clocks and temperatures.";
  return {f};
}

}  // namespace

extern const Rule comm_straggler_rule{
    .name = "comm.straggler",
    .help = "One rank arrives late at collectives.",
    .guard = "Traces of one rank, and ranks that are late in turn.",
    .source = "NVIDIA Resiliency Extension and Megatron-LM straggler detection; 5 % and half ours",
    .detect = detect,
};

}  // namespace stepscope
