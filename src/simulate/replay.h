// Replay: the times of a Graph's operations from durations and dependencies alone, where nothing is shared. One pass in topological order.
#pragma once

#include <array>
#include <span>

#include "base/column.h"
#include "graph/graph.h"

namespace stepscope {

// Start and end of each operation, ns: of operation i at 2i and 2i + 1, as Moment counts.
struct ReplayTimes {
  Column<Nanoseconds> times;
  Nanoseconds operator[](Moment moment) const { return times[moment.row]; }
  Nanoseconds start(OpId op) const { return times[2 * index(op)]; }
  Nanoseconds end(OpId op) const { return times[2 * index(op) + 1]; }
  std::size_t size() const { return times.size() / 2; }
};

// O(operations + dependencies). Reuses the memory of `into`.
void replay(const Graph& graph, ReplayTimes& into);
ReplayTimes replay(const Graph& graph);
// The same with other durations: one per operation.
void replay(const Graph& graph, std::span<const Nanoseconds> durations, ReplayTimes& into);

// Eight sets of durations in one pass: durations[8 · operation + set] in ns, exact up to 2^53 ns; times[8 · moment + set].
inline constexpr std::size_t replay_sets = 8;
void replay_sets_of_eight(const Graph& graph, std::span<const double> durations, Column<double>& times);

// Which dependency decided an operation's start: the first of the latest. Row of Graph::dependencies; the origin has none.
std::uint32_t deciding_dependency(const Graph& graph, const ReplayTimes& times, OpId op);

}  // namespace stepscope
