#include "facts/clock.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/statistics.h"
#include "facts/derive.h"

namespace stepscope {

namespace {

constexpr std::size_t fewest_for_uncertainty = 5;

// Whether members end together: each needs what every other one sends.
bool ends_together(CollectiveFunction function) {
  using enum CollectiveFunction;
  return function == all_reduce || function == all_gather || function == reduce_scatter || function == all_to_all || function == barrier;
}

// Two ranks that took part in the same collectives.
struct Comparison {
  RankId a{}, b{};
  std::vector<Nanoseconds> differences;  // end on b − end on a
  Nanoseconds offset = 0;
  std::optional<Nanoseconds> uncertainty;
};

// Of each collective, every member against the first: so much is compared as there are members.
std::vector<Comparison> compare(const Timeline& timeline, const Facts& facts) {
  const SliceColumns& s = timeline.slices;
  std::vector<Comparison> comparisons;
  std::unordered_map<std::uint64_t, std::size_t> row_of;
  for (const MatchedCollective& one : facts.collectives.matched) {
    if (!ends_together(one.function) || !(one.is_complete() || one.match == CollectiveMatch::sequence)) continue;
    const auto members = facts.collectives.members_of(one);
    const CollectiveMember& first = members.front();
    for (const CollectiveMember& member : members.subspan(1)) {
      const auto [at, fresh] = row_of.try_emplace(static_cast<std::uint64_t>(first.rank) << 32 | static_cast<std::uint64_t>(member.rank), comparisons.size());
      if (fresh) comparisons.push_back({.a = first.rank, .b = member.rank, .differences = {}, .uncertainty = {}});
      comparisons[at->second].differences.push_back(s.end(member.slice) - s.end(first.slice));
    }
  }
  for (Comparison& one : comparisons) {
    one.offset = median(one.differences).value_or(0);
    if (one.differences.size() < fewest_for_uncertainty) continue;
    const Nanoseconds high = percentile(one.differences, 95).value_or(0), low = percentile(one.differences, 5).value_or(0);
    one.uncertainty = (high - low + 1) / 2;
  }
  return comparisons;
}

}  // namespace

void find_clocks(const Timeline& timeline, Facts& facts) {
  const std::size_t ranks = timeline.ranks.size();
  if (ranks < 2) return;
  std::vector<Comparison> comparisons = compare(timeline, facts);
  // The smallest uncertainty first; those without one last, the most compared first.
  std::ranges::stable_sort(comparisons, [](const Comparison& x, const Comparison& y) {
    constexpr Nanoseconds unknown = std::numeric_limits<Nanoseconds>::max();
    const Nanoseconds ux = x.uncertainty.value_or(unknown), uy = y.uncertainty.value_or(unknown);
    return ux != uy ? ux < uy : x.differences.size() > y.differences.size();
  });
  // Kruskal's spanning tree.
  std::vector<std::uint32_t> root(ranks);
  std::iota(root.begin(), root.end(), 0u);
  const auto root_of = [&](std::uint32_t rank) {
    while (root[rank] != rank) rank = root[rank] = root[root[rank]];
    return rank;
  };
  std::vector<std::vector<const Comparison*>> of_rank(ranks);
  for (const Comparison& one : comparisons) {
    const std::uint32_t a = root_of(static_cast<std::uint32_t>(one.a)), b = root_of(static_cast<std::uint32_t>(one.b));
    if (a == b) continue;
    root[a] = b;
    of_rank[index(one.a)].push_back(&one);
    of_rank[index(one.b)].push_back(&one);
  }
  facts.clocks.assign(ranks, {});
  facts.clocks[0] = {.offset = 0, .uncertainty = 0};
  std::vector<RankId> reached{RankId{0}};
  while (!reached.empty()) {
    const RankId from = reached.back();
    reached.pop_back();
    const RankClock& known = facts.clocks[index(from)];
    for (const Comparison* one : of_rank[index(from)]) {
      const bool forward = one->a == from;
      const RankId to = forward ? one->b : one->a;
      RankClock& clock = facts.clocks[index(to)];
      if (clock.offset) continue;
      clock.offset = *known.offset + (forward ? one->offset : -one->offset);
      if (known.uncertainty && one->uncertainty) clock.uncertainty = *known.uncertainty + *one->uncertainty;
      clock.through = from;
      clock.collectives = static_cast<std::uint32_t>(one->differences.size());
      reached.push_back(to);
    }
  }
}

}  // namespace stepscope
