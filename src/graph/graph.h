// Graph: what must happen. Operations with a place to run, a duration and dependencies, over all ranks, in columns, numbered so that every operation stands
// behind all that it depends on (topological order).
//
// A moment is the start or the end of an operation. An operation starts when the latest of its dependencies allows it:
//   start = max over its dependencies of (time of the dependency's moment + lag),   end = start + duration
// Operation 0 is the origin: it starts at time 0, lasts no time, and every operation that nothing else holds back depends on it.
// A lag is time between two moments in which no operation runs: what a launch takes to reach its stream, the device's own gap between queued kernels, or a
// delay that nothing explains. Which of them it is says its LagKind; those that nothing explains are constants that no edit but a removal changes.
//
// A Graph is made by a GraphBuilder (builder.h) and checked by check() (check.h). Durations and lags may be changed in place; whoever changes what depends on
// what rebuilds it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/names.h"
#include "base/time.h"

namespace stepscope {

// What an operation is: the parts of a critical path (METRICS.md). The first four run on a device, collective on the links between ranks, the others on a CPU
// thread.
enum class OperationClass : std::uint8_t {
  compute,          // a kernel
  communication,    // a communication kernel; with several ranks, a member of a collective: from its arrival until the transfer may begin
  copy,             // a memory copy
  fill,             // a memory set
  transfer,         // what all members of a collective do together, from the last arrival on
  launch,           // a runtime or driver call that launches device work
  synchronisation,  // a call that waits for a device
  api,              // another runtime or driver call
  framework,        // a framework operator's own time
  data_loading,     // inside the loading of data
  python,           // Python, annotations, and time in which nothing was recorded on the thread
  origin,           // operation 0
};
inline constexpr std::size_t operation_class_count = 12;
std::string_view operation_class_name(OperationClass c);  // "compute"
constexpr bool runs_on_device(OperationClass c) {
  return c <= OperationClass::fill;
}
constexpr bool runs_on_thread(OperationClass c) {
  return c >= OperationClass::launch && c <= OperationClass::python;
}

// Why one operation waits for another. One file of lift/ per kind finds them.
enum class DependencyKind : std::uint8_t {
  origin,         // nothing else holds it back
  program_order,  // the operation before it on its thread
  launch,         // a device operation waits for the call that launched it (from the call's start)
  stream_order,   // the operation before it on its stream
  graph_order,    // inside one launch of a CUDA graph
  event,          // a stream waits for an event recorded on another one
  synchronise,    // a thread waits for a device
  hand_over,      // between threads: backward started by forward, and its end; data loading
  flow,           // an arrow of the trace
  collective,     // a transfer waits for the arrival of its members, and they for its end
  device,         // work of another stream kept the device full
};
inline constexpr std::size_t dependency_kind_count = 11;
std::string_view dependency_kind_name(DependencyKind kind);  // "program_order"

enum class LagKind : std::uint8_t {
  none,         // no lag
  launch,       // from the launch call's start until the device starts (METRICS.md, idle: launch)
  scheduling,   // the device's own gap between queued operations, up to 20 µs
  hand_over,    // from one stream to another, from a device to a thread, between threads
  graph,        // inside a launch of a CUDA graph
  root,         // the start of what nothing is known to hold back: the first of a thread or stream, records without launch
  unexplained,  // the operation was ready by all that is known, and did not run
};
inline constexpr std::size_t lag_kind_count = 7;
std::string_view lag_kind_name(LagKind kind);  // "launch"

// The start or the end of an operation.
struct Moment {
  std::uint32_t row = 0;  // 2 · operation, + 1 = its end
  static constexpr Moment start(OpId op) { return {2 * static_cast<std::uint32_t>(op)}; }
  static constexpr Moment end(OpId op) { return {2 * static_cast<std::uint32_t>(op) + 1}; }
  constexpr OpId operation() const { return OpId{row / 2}; }
  constexpr bool is_end() const { return row % 2 == 1; }
  friend constexpr bool operator==(Moment, Moment) = default;
};
inline constexpr Moment no_moment{0xFFFF'FFFFu};

enum class PlaceKind : std::uint8_t { nowhere, stream, thread, link };
struct Place {
  PlaceKind kind = PlaceKind::nowhere;
  RankId rank = no_id<RankId>;        // of the Timeline it was lifted from
  DeviceId device = no_id<DeviceId>;  // of a stream
  TrackId track = no_id<TrackId>;     // of the Timeline it was lifted from; no_id = made by an edit or a workload
  std::int64_t stream = -1;           // of a stream: its number
};

inline constexpr std::int64_t unknown_amount = -1;

struct OperationColumns {
  Column<Nanoseconds> duration;
  Column<PlaceId> place;
  Column<OperationClass> operation_class;
  Column<NameId> name;         // into Graph::names
  Column<SliceId> origin;      // the slice of the Timeline it stands for, or is a part of; no_id = none
  Column<std::int64_t> bytes;  // moved or sent; unknown_amount = not known
  Column<std::int64_t> flops;  // unknown_amount = not known
  std::size_t size() const { return duration.size(); }
};

struct DependencyColumns {
  Column<Moment> moment;    // that is waited for
  Column<Nanoseconds> lag;  // may be negative where clocks disagree
  Column<DependencyKind> kind;
  Column<LagKind> lag_kind;
  std::size_t size() const { return moment.size(); }
};

struct Graph {
  NameTable names;
  std::vector<Place> places;  // place 0 is nowhere
  OperationColumns operations;
  DependencyColumns dependencies;  // of operation i: rows first[i] … first[i + 1]
  Column<std::uint32_t> first;     // operations + 1 entries

  std::size_t size() const { return operations.size(); }
  std::uint32_t first_dependency(OpId op) const { return first[index(op)]; }
  std::uint32_t end_dependency(OpId op) const { return first[index(op) + 1]; }
  std::string_view name_of(OpId op) const { return names[operations.name[op]]; }
  const Place& place_of(OpId op) const { return places[index(operations.place[op])]; }
  Graph copy() const;
  // The same into a Graph whose memory is used again. Its names must be none, or these.
  void copy_to(Graph& target) const;
};

}  // namespace stepscope
