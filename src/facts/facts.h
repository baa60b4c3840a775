// What a Timeline implies, found once and shared by every question. One file per fact; derive() runs them in the order of this list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "timeline/timeline.h"

namespace stepscope {

// METRICS.md, Activity: the class of a device slice.
enum class ActivityClass : std::uint8_t { compute, communication, memory, none /* not a device slice */ };

// A user's own kernel class: a regular expression on the kernel's name that overrides the built-in table (--patterns FILE).
struct KernelPattern {
  std::string expression;   // ECMAScript regular expression, searched in the name
  ActivityClass activity = ActivityClass::compute;
  std::string category;     // free text shown in the kernel table; "" = the built-in category
};

// Which step a rank was in, from annotations or, failing those, from what repeats (METRICS.md, Step time).
struct Step {
  std::int64_t number = 0;
  Interval annotation;         // on the CPU thread that marks steps
  Nanoseconds step_time = 0;   // to the next step's start; the last step: to its own end
  bool outlier = false;        // first, last or far from the median: shown, but left out of means
};
enum class StepSource : std::uint8_t { none, profiler_step, user_range, launch_period };
struct RankSteps {
  StepSource source = StepSource::none;
  std::string found_by;        // for people: "ProfilerStep annotations on thread 3113936"
  std::vector<Step> steps;     // by begin
};

// A step on one device: METRICS.md, window.
struct StepWindow {
  std::int64_t number = 0;
  std::uint32_t step = 0;      // index into RankSteps::steps
  Interval window;             // device time
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

inline constexpr std::uint32_t no_node = 0xFFFF'FFFFu;

struct Facts {
  // Per slice (same rows as Timeline::slices):
  Column<ActivityClass> activity;       // facts/activity.cpp
  Column<SliceId> launch;               // facts/launches.cpp: of a device slice, its launch call (outermost with its id); no_id = no launch record
  Column<SliceId> parent;               // facts/call_tree.cpp: of a slice on a thread, the slice that encloses it on that thread; no_id = top level
  Column<SliceId> operation;            // facts/operators.cpp: of an API call or device slice, the innermost framework operator that caused it; no_id = none
  Column<Phase> phase;                  // facts/phases.cpp: of operators, API calls and device slices

  // facts/launches.cpp
  std::uint64_t ambiguous_links = 0;    // correlation ids claimed by several launches: paired in order of time
  std::uint64_t launches_seen = 0;      // calls that launch device work (kernels, copies, fills, graphs)
  std::uint64_t launches_without_record = 0;  // of those, without any device slice
  Column<SliceId> unrecorded_launches;  // those calls, by start

  Column<std::uint8_t> graph_launch;    // per slice: 1 where the call launches a CUDA/HIP graph (its name contains GraphLaunch)
  Column<std::uint8_t> recomputed;      // facts/recompute.cpp, per slice: 1 for forward operators (and what they launched) run again inside backward

  std::vector<RankSteps> steps;         // per rank: facts/steps.cpp
  std::vector<DeviceFacts> devices;     // devices with slices, by (rank, label): facts/devices.cpp
};

struct FactOptions {
  std::vector<KernelPattern> patterns;
};

Facts derive(const Timeline& timeline, const FactOptions& options);

}  // namespace stepscope
