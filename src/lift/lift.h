// lift: a Timeline and its facts become a Graph whose replay gives the Timeline's times again. One file per kind of dependency (draft.h lists them);
// lift() runs them in turn.
//
// What becomes an operation:
//   every device slice (kernel, copy, fill) on its stream;
//   every CPU thread, from its first slice to its last, cut into parts: a runtime or driver call is one part; between calls, the own time of each framework
//   operator is one, and Python, annotations and time without any record are one (class python: Python time never vanishes);
//   with several ranks, every matched collective (Facts::collectives): one transfer on the links, which starts when its last member has arrived and ends when
//   the first member leaves. A member's kernel is two operations then: its arrival (no duration: it lasts until the transfer begins), and what is left of it
//   when the transfer has ended.
// All times of the Graph are on the first rank's clock: those of rank r are earlier by the clock offset of r (Facts::clocks) than in the Timeline.
// Delays that no dependency explains become lags of kind `unexplained`, and are counted.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "facts/facts.h"
#include "graph/graph.h"
#include "timeline/timeline.h"

namespace stepscope {

// A stretch of time whose length a replay tells: a step on the thread that marks steps, or its window on a device (METRICS.md, window and step time).
struct GraphWindow {
  RankId rank{};
  DeviceId device = no_id<DeviceId>;  // no_id = the host's step
  std::uint32_t step = 0;             // index into the rank's RankSteps::steps; no_step = the whole capture
  std::int64_t number = 0;            // of the step
  bool outlier = false;               // left out of means
  Moment begin, end;
  Interval measured;  // on the rank's own clock
};
inline constexpr Interval whole_time{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};
inline constexpr std::uint32_t no_step = 0xFFFF'FFFFu;

struct LagSum {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
};

// Of the lags that decided when a device operation started (in the unedited replay).
struct LagAccount {
  std::array<LagSum, lag_kind_count> by_kind{};
  LagSum& operator[](LagKind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
  const LagSum& operator[](LagKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

struct DeviceLags {
  DeviceId device{};
  LagAccount lags;
};

// The operations of a collective's member.
struct MemberOperations {
  SliceId slice{};               // its kernel
  OpId arrival{}, completion{};  // whose start is the kernel's start, and whose end is the kernel's end
  OpId transfer{};               // what it waits for together with the other members
};

struct Lifted {
  Interval when;  // slices that start in it were lifted
  Graph graph;
  Column<OpId> operation_of;            // per slice: its operation; of slices on threads the first part of it; no_id = none, or not lifted
  std::vector<GraphWindow> windows;     // by rank, device (the host first), step; of ranks without steps, each device's whole capture
  std::vector<DeviceLags> device_lags;  // in the order of Facts::devices
  std::uint32_t dropped_in_cycles = 0;

  std::vector<MemberOperations> members;       // of lifted collectives, by slice
  std::uint32_t collectives_contradicted = 0;  // matched ones of which a member left before the last one came, by the corrected clocks: not lifted as such
  std::vector<Nanoseconds> clock_offsets;      // per rank: time on its own clock − time in the Graph
  // A time of the Graph on a rank's own clock, as in the Timeline; of no rank, unchanged.
  Nanoseconds on_clock_of(RankId rank, Nanoseconds time) const { return index(rank) < clock_offsets.size() ? time + clock_offsets[index(rank)] : time; }
  // The moment at which a device slice ends; of a slice that was lifted.
  Moment end_of(SliceId slice) const;
};

// when: only slices that start in it become operations, as if the capture had begun and ended there.
Lifted lift(const Timeline& timeline, const Facts& facts, Interval when = whole_time);

// A stretch of time that stands for the run and holds at most about most_slices slices: everything where that is few enough, else steady steps from the middle
// of the capture, with the step before them, so that what was queued is known. Everything too where no steps are known.
Interval typical_time(const Timeline& timeline, const Facts& facts, std::size_t most_slices);

}  // namespace stepscope
