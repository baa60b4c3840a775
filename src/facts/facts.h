// What a Timeline implies, found once and shared by every question. One file per fact; derive() runs them in the order of this list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "facts/api_calls.h"
#include "facts/clock.h"
#include "facts/collectives.h"
#include "timeline/timeline.h"

namespace stepscope {

// METRICS.md, Activity: the class of a device slice.
enum class ActivityClass : std::uint8_t { compute, communication, memory, none /* not a device slice */ };

// A user's own kernel class: a regular expression on the kernel's name that overrides the built-in table (--patterns FILE).
struct KernelPattern {
  std::string expression;  // ECMAScript regular expression, searched in the name
  ActivityClass activity = ActivityClass::compute;
  std::string category;  // free text shown in the kernel table; "" = the built-in category
};

// Which step a rank was in, from annotations or, failing those, from what repeats (METRICS.md, Step time).
struct Step {
  std::int64_t number = 0;
  Interval annotation;        // on the CPU thread that marks steps
  Nanoseconds step_time = 0;  // to the next step's start; the last step: to its own end
  bool outlier = false;       // first, last or far from the median: shown, but left out of means
};
enum class StepSource : std::uint8_t { none, profiler_step, user_range, launch_period };
std::string_view step_source_name(StepSource source);  // "ProfilerStep annotations"
struct RankSteps {
  StepSource source = StepSource::none;
  std::string found_by;        // for people: "ProfilerStep annotations on thread 3113936"
  std::vector<Step> steps;     // by begin
  std::uint32_t repeated = 0;  // annotations of a step that another one, at another time, replaced
};

// A step on one device: METRICS.md, window.
struct StepWindow {
  std::int64_t number = 0;
  std::uint32_t step = 0;  // index into RankSteps::steps
  Interval window;         // device time
};

struct DeviceFacts {
  DeviceId device = no_id<DeviceId>;
  RankId rank{};
  // Device slices by (start, of those that start together the one launched last first, unlinked last of all), as METRICS.md's idle partition needs them.
  Column<SliceId> slices;
  std::vector<StepWindow> windows;  // only steps that launched compute on this device; by begin
};

enum class Phase : std::uint8_t { forward, backward, optimizer, data, other };
inline constexpr std::size_t phase_count = 5;
std::string_view phase_name(Phase phase);

struct KernelLaunches {
  std::uint64_t seen = 0;
  std::uint64_t without_record = 0;
  bool records_were_lost() const;  // more than 1 % are without record
};

// Device time in which kernels ran whose records are missing: from a launch without record to the start of the next recorded slice that was launched after it.
struct UnrecordedStretch {
  RankId rank{};
  Interval interval;           // ends with the capture where no recorded slice follows
  Interval launched;           // from the first launch without record to the next launch that has one
  std::uint32_t launches = 0;  // launches without record in it
};

inline constexpr std::uint32_t no_node = 0xFFFF'FFFFu;

struct Facts {
  // Per slice (same rows as Timeline::slices):
  Column<ActivityClass> activity;  // facts/activity.cpp
  Column<SliceId> launch;          // facts/launches.cpp: of a device slice, its launch call (outermost with its id); no_id = no launch record
  Column<SliceId> parent;          // facts/call_tree.cpp: of a slice on a thread, the slice that encloses it on that thread; no_id = top level
  Column<SliceId> operation;       // facts/operators.cpp: of an API call or device slice, the innermost framework operator that caused it; no_id = none.
                                   // Of any other slice on a thread, the innermost operator that encloses it.
  Column<Phase> phase;             // facts/phases.cpp: of operators, API calls and device slices

  // facts/launches.cpp
  std::uint64_t ambiguous_links = 0;          // correlation ids claimed by several launches: paired in order of time
  std::uint64_t launches_seen = 0;            // calls that launch device work (kernels, copies, fills, graphs)
  std::uint64_t launches_without_record = 0;  // of those, without any device slice
  Column<SliceId> unrecorded_launches;        // those calls, by start
  // The same per rank for launches of kernels and graphs only. A copy or fill of no bytes rightly leaves no record, so only these tell whether records were
  // lost. Where more than 1 % are, busy time is a lower bound and idle time within unrecorded_stretches counts as unknown (METRICS.md).
  std::vector<KernelLaunches> kernel_launches;
  Column<SliceId> inner_calls;  // facts/launches.cpp: calls inside the launch that has the same correlation id (a driver call in a runtime call), by row
  Column<SliceId> wait_calls;   // facts/launches.cpp: calls that let a stream wait for an event, by start
  std::vector<UnrecordedStretch> unrecorded_stretches;  // by rank and begin, disjoint within a rank

  Column<std::uint8_t> graph_launch;  // per slice: 1 where the call launches a CUDA/HIP graph (its name contains GraphLaunch)
  Column<std::uint8_t> recomputed;    // facts/recompute.cpp, per slice: 1 for forward operators (and what they launched) run again inside backward

  Column<ApiCall> api_calls;            // facts/api_calls.h, per NameId: what a call of this name does; only rows of names that API calls carry are filled
  std::vector<KernelPattern> patterns;  // the user's, as given
  Column<std::uint16_t>
      pattern;  // facts/activity.cpp, per NameId: 1 + the row of `patterns` that decided the class; 0 = the built-in table. Empty = no patterns

  // facts/transients.cpp: the first collectives of a capture that waited for ranks still starting their profilers. They are part of the breakdown, but not
  // typical.
  Column<SliceId> start_transients;

  std::vector<RankSteps> steps;      // per rank: facts/steps.cpp
  std::vector<DeviceFacts> devices;  // devices with slices, by (rank, label): facts/devices.cpp

  Collectives collectives;        // of several ranks: facts/collectives.cpp; nothing with a single rank
  std::vector<RankClock> clocks;  // per rank: facts/clock.cpp; empty with a single rank
};

struct FactOptions {
  std::vector<KernelPattern> patterns;
};

Facts derive(const Timeline& timeline, const FactOptions& options);

}  // namespace stepscope
