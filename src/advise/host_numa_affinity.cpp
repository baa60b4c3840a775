// host.numa_affinity: copies from pinned memory run clearly slower on one rank than on the best one: its process, or its memory, is on the wrong side.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr std::int64_t least_bytes = 1 << 20;  // ours: smaller copies are dominated by their latency
constexpr std::size_t least_copies = 3;        // per rank: ours
constexpr double slow = 0.6;                   // of the best rank's bandwidth

struct RankCopies {
  std::vector<SliceId> copies;
  std::vector<double> rates;  // bytes per ns
  double median() {
    std::ranges::nth_element(rates, rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2));
    return rates[rates.size() / 2];
  }
};

std::vector<Finding> detect(const AdviceScene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  if (scene.timeline.ranks.size() < 2) return {};
  const SteadySteps steps(scene);
  std::vector<RankCopies> ranks(scene.timeline.ranks.size());
  for (const SliceId id : steps.on_devices()) {
    const std::string_view name = scene.timeline.name_of(id);
    if (s.kind[id] != SliceKind::copy || s.duration[id] <= 0 || !has_text(name, "HtoD") || !has_text(name, "Pinned")) continue;
    const auto bytes = bytes_moved(scene, id);
    if (!bytes || *bytes < least_bytes) continue;
    RankCopies& rank = ranks[index(scene.timeline.track_of(id).rank)];
    rank.copies.push_back(id);
    rank.rates.push_back(static_cast<double>(*bytes) / static_cast<double>(s.duration[id]));
  }
  double best = 0;
  for (RankCopies& rank : ranks)
    if (rank.rates.size() >= least_copies) best = std::max(best, rank.median());
  std::vector<Finding> findings;
  Finding found;
  std::vector<SliceId> evidence;
  std::string slow_ranks;
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    if (ranks[row].rates.size() < least_copies) continue;
    const double rate = ranks[row].median();
    if (rate >= slow * best) continue;
    slow_ranks += fmt::format("{}rank {} at {:.1f} GB/s", slow_ranks.empty() ? "" : ", ", scene.timeline.ranks[row].number, rate);
    found.edits.push_back(edit_of("scale", operations_of(scene, ranks[row].copies), {{"by", fmt::format("{:.6f}", rate / best)}}));
    evidence.insert(evidence.end(), ranks[row].copies.begin(), ranks[row].copies.end());
  }
  if (evidence.empty()) return {};
  found.title = "Some ranks copy from host memory more slowly";
  found.observation = fmt::format("Copies from pinned memory reach {:.1f} GB/s on the best rank, but {}.", best, slow_ranks);
  found.evidence = most_telling(scene, std::move(evidence));
  found.changes = {{"environment", Change::Form::code, "numactl --cpunodebind=NODE --membind=NODE for each process, NODE being its GPU's (nvidia-smi topo -m)"},
                   {"PyTorch", Change::Form::flag, "torchrun --numa-binding=node"}};
  found.confidence = Confidence::low;
  found.would_settle = "The topology (nvidia-smi topo -m) and each process's allowed cores (Cpus_allowed_list); whether the slow link is a narrower one.";
  findings.push_back(std::move(found));
  return findings;
}

}  // namespace

extern const Rule host_numa_affinity_rule{
    .name = "host.numa_affinity",
    .help = "A rank copies from host memory far more slowly than the best one.",
    .guard = "Small copies; a single rank.",
    .source = "60 % of the best rank: proposed; copies of at least 1 MiB, three per rank: ours",
    .detect = detect,
};

}  // namespace stepscope
