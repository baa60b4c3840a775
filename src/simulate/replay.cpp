#include "simulate/replay.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace stepscope {

namespace {

constexpr Nanoseconds earliest = std::numeric_limits<Nanoseconds>::min() / 4;

}  // namespace

void replay(const Graph& graph, std::span<const Nanoseconds> durations, ReplayTimes& into) {
  const std::size_t n = graph.size();
  assert(durations.size() == n);
  into.times.clear();
  Nanoseconds* const times = into.times.append_uninitialised(2 * n);
  const std::uint32_t* const first = graph.first.data();
  const Moment* const moments = graph.dependencies.moment.data();
  const Nanoseconds* const lags = graph.dependencies.lag.data();
  times[0] = times[1] = 0;
  for (std::size_t op = 1; op < n; ++op) {
    Nanoseconds start = earliest;
    for (std::uint32_t row = first[op]; row < first[op + 1]; ++row) start = std::max(start, times[moments[row].row] + lags[row]);
    times[2 * op] = start;
    times[2 * op + 1] = start + durations[op];
  }
}

void replay(const Graph& graph, ReplayTimes& into) {
  replay(graph, graph.operations.duration.span(), into);
}

ReplayTimes replay(const Graph& graph) {
  ReplayTimes times;
  replay(graph, times);
  return times;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void replay_sets_of_eight(const Graph& graph, std::span<const double> durations, Column<double>& times_of_sets) {
  const std::size_t n = graph.size();
  assert(durations.size() == replay_sets * n);
  times_of_sets.clear();
  double* const times = times_of_sets.append_uninitialised(2 * replay_sets * n);
  const std::uint32_t* const first = graph.first.data();
  const Moment* const moments = graph.dependencies.moment.data();
  const Nanoseconds* const lags = graph.dependencies.lag.data();
  for (std::size_t i = 0; i < 2 * replay_sets; ++i) times[i] = 0;
  for (std::size_t op = 1; op < n; ++op) {
    double start[replay_sets];
    for (double& set : start) set = -1e300;
    for (std::uint32_t row = first[op]; row < first[op + 1]; ++row) {
      const double* const from = times + replay_sets * moments[row].row;
      const auto lag = static_cast<double>(lags[row]);
      for (std::size_t set = 0; set < replay_sets; ++set) start[set] = start[set] > from[set] + lag ? start[set] : from[set] + lag;
    }
    double* const to = times + 2 * replay_sets * op;
    const double* const duration = durations.data() + replay_sets * op;
    for (std::size_t set = 0; set < replay_sets; ++set) {
      to[set] = start[set];
      to[replay_sets + set] = start[set] + duration[set];
    }
  }
}

std::uint32_t deciding_dependency(const Graph& graph, const ReplayTimes& times, OpId op) {
  std::uint32_t found = graph.first_dependency(op);
  for (std::uint32_t row = found; row < graph.end_dependency(op); ++row)
    if (times[graph.dependencies.moment[row]] + graph.dependencies.lag[row] > times[graph.dependencies.moment[found]] + graph.dependencies.lag[found])
      found = row;
  return found;
}

}  // namespace stepscope
