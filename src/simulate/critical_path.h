// The critical path of a window: which operations and which lags its length is made of; and slack: what may take longer without changing that length.
//
// Walked back from the window's end. An operation ended when it did because it started when it did and lasted its duration; it started when it did because of
// the dependency that decided (replay.h). A dependency on an operation's start leads to that start, and does not put the operation's duration on the path.
// The walk stops at the time of the window's begin: what straddles it is clipped. So the parts cover the window exactly, each stretch of time once.
//   sum of the parts' lengths = time of the end moment − time of the begin moment (0 where that is negative)
// A negative lag (ranks' clocks that disagree by a little) makes the walk return into time that it covered already; that time is not counted twice.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/time.h"
#include "graph/graph.h"
#include "simulate/replay.h"

namespace stepscope {

// What a part of the path is (METRICS.md, Critical path): something that ran, or a lag between two moments.
enum class PathPartKind : std::uint8_t {
  compute,          // a compute kernel
  communication,    // a communication kernel, or the transfer of a matched collective
  copy,             // a memory copy or set
  launch,           // a runtime or driver call that launches device work
  synchronisation,  // a call that waits for a device, while it was not the device's work that held it back
  api,              // another runtime or driver call
  cpu_operator,     // a framework operator's own time
  data_loading,
  python,      // Python, annotations, and time between operators in which nothing was recorded
  other_rank,  // anything that another rank than the window's did: this one waited for it
  // Lags:
  launch_latency,  // from the launch call's start until the device started
  device_gap,      // the device's own gap between queued operations, up to 20 µs
  hand_over,       // between streams, threads, and a device and a thread
  graph,           // inside a launch of a CUDA graph
  no_cause,        // before the first record of a thread or stream, and before device work whose launch was not recorded
  unexplained,     // all that is known to be waited for was done, and nothing ran
};
inline constexpr std::size_t path_part_kind_count = 16;
std::string_view path_part_kind_name(PathPartKind kind);   // "device_gap"
std::string_view path_part_kind_title(PathPartKind kind);  // for people: "Gaps between queued kernels"
constexpr bool is_lag(PathPartKind kind) {
  return kind >= PathPartKind::launch_latency;
}

inline constexpr std::uint32_t no_dependency = 0xFFFF'FFFFu;

struct PathPart {
  Interval interval;  // replayed time, clipped to the window; never empty
  PathPartKind kind = PathPartKind::unexplained;
  OpId operation{};                          // that ran; of a lag: that waited
  std::uint32_t dependency = no_dependency;  // of a lag: its row of Graph::dependencies
};

struct CriticalPath {
  Interval window;              // replayed
  std::vector<PathPart> parts;  // by time; each begins where the one before it ends
  std::array<Nanoseconds, path_part_kind_count> by_kind{};
  Nanoseconds operator[](PathPartKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

// begin and end: of a GraphWindow (lift/lift.h), for example. The window's rank is that of the end's operation. O(length of the path and its dependencies).
CriticalPath critical_path(const Graph& graph, const ReplayTimes& times, Moment begin, Moment end);

// How much later each moment may come without a later `end`: of an operation's end, how much longer it may last. 0 on the critical path; no_limit where `end`
// does not wait for it at all, neither directly nor through others. Indexed as ReplayTimes.
inline constexpr Nanoseconds no_limit = std::numeric_limits<Nanoseconds>::max();
struct SlackTimes {
  Column<Nanoseconds> slack;
  Nanoseconds operator[](Moment moment) const { return slack[moment.row]; }
  // Of an operation's duration: making it longer by more than this delays the end by the rest.
  Nanoseconds of(OpId op) const { return slack[2 * index(op) + 1]; }
};
// One pass in reverse topological order: O(operations + dependencies) up to the end's operation.
SlackTimes slack_before(const Graph& graph, const ReplayTimes& times, Moment end);

}  // namespace stepscope
