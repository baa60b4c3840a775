// What several kinds of edit share: sums for their summaries, launches, the order on streams, making operations vanish.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "edit/edit.h"
#include "graph/rewire.h"

namespace stepscope {

Nanoseconds total_duration(const Graph& graph, std::span<const OpId> operations);
// duration · factor to the nearest nanosecond; at most 2^60.
Nanoseconds scaled(Nanoseconds duration, double factor);
// "96 operations (38.2 ms)", "1 operation (12 µs)".
std::string counted(const Graph& graph, std::span<const OpId> operations);
std::string plural(std::size_t count, std::string_view noun);  // "1 kernel", "1,234 kernels"

// Which call launched which device operations: by the Graph's launch dependencies, else (inside CUDA graphs) by the trace's links.
class Launches {
 public:
  Launches(const EditScene& scene, const Graph& graph);
  OpId call_of(OpId device_operation) const { return call_of_[index(device_operation)]; }  // no_id = not known
  // The calls that launched these and nothing else, ascending; with them the second half of those that waited for what they had launched (blocking copies).
  std::vector<OpId> only_for(std::span<const OpId> operations) const;

 private:
  std::vector<OpId> call_of_;
  std::vector<std::uint32_t> launched_;  // per call: how many device operations
  std::vector<OpId> completion_;         // per call: its second half; no_id = none
};

// The operations of each place of kind `stream`, in stream order; of other places nothing. Indexed by PlaceId.
std::vector<std::vector<OpId>> by_stream(const Graph& graph);

// Per operation: whether it is the arrival or the completion of a member of a collective that is lifted over several ranks (lift/collectives.cpp).
std::vector<bool> collective_members(const Graph& graph);

// Takes no time any more: duration 0, and its own lags vanish, except where nothing else is known to hold it back (LagKind::root). Threads
// among them no longer wait for devices or for room in a launch queue, members of collectives no longer for the other ranks.
void vanish(Graph& graph, std::span<const OpId> operations);

// One kernel instead of several on one stream: the first takes `duration`, the others and their launch calls vanish. How many calls vanished.
std::size_t fuse_into_first(Graph& graph, const Launches& launches, std::span<const OpId> run, Nanoseconds duration);

// When each operation starts, by the recursion of graph.h (simulate/replay.h has the fast one; it stands below this room).
std::vector<Nanoseconds> start_times(const Graph& graph);

// Those of `operations` of which `keep(op)` holds.
template <class Keep>
std::vector<OpId> filtered(std::span<const OpId> operations, Keep keep) {
  std::vector<OpId> kept;
  for (const OpId op : operations)
    if (keep(op)) kept.push_back(op);
  return kept;
}

}  // namespace stepscope
