// The seam of analyze/: one file per question, each defining `extern const Question NAME_question`. CMake collects them into all_questions().
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/findings.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "machine/gpu.h"
#include "simulate/replay.h"
#include "timeline/timeline.h"

namespace stepscope {

// What a question may look at. A question of scope rank or device is asked once per rank or device and finds which one here.
struct Scene {
  const Timeline& timeline;
  const Facts& facts;
  RankId rank{};
  const DeviceFacts* device = nullptr;  // null unless the scope is device
  const Gpu* gpu = nullptr;             // the device's (or the rank's first device's) description; null = unknown GPU
  Interval window;                      // device time asked about: the whole capture, or the chosen steps (--steps). Of scope rank: host time.
  bool whole_capture = true;            // false when --steps narrowed the window
  // The lifted graph and the times of its replay; null where nothing was lifted.
  const Lifted* lifted = nullptr;
  const ReplayTimes* times = nullptr;

  // The device slices that start in the window, in DeviceFacts order. Scope device only.
  std::span<const SliceId> device_slices() const;
};

enum class Scope { run, rank, device };

struct Question {
  std::string_view name;  // the key of its section: "kernels"
  std::string_view help;  // one line: the question in words
  Scope scope;
  // No section = nothing to say (for example no communication at all). Several are allowed.
  std::vector<Section> (*answer)(const Scene& scene);
};

std::span<const Question* const> all_questions();  // generated; in order of name

}  // namespace stepscope
