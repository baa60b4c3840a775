// Where the time went between two replays of one graph: what ran per step before and after, by class and by name, and how much of it was busy.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lift/lift.h"
#include "simulate/replay.h"

namespace stepscope {

// Means per window (a step on one device; of what runs on threads, a step of one rank), ns. What counts is what begins in the windows before the change.
struct MovedTime {
  std::string name;
  OperationClass operation_class = OperationClass::compute;  // of the first operation of the name
  double operations = 0;
  double before_ns = 0, after_ns = 0;
};

struct TimeMoved {
  std::vector<MovedTime> by_class;  // classes with time, in their order
  std::vector<MovedTime> by_name;   // device operations and transfers, by the change in time, largest first; readable kernel names
  // Means of the device windows: the union of what ran on the device's streams, and the rest.
  double busy_before_ns = 0, busy_after_ns = 0, idle_before_ns = 0, idle_after_ns = 0;
};

// windows: rows of Lifted::windows (simulate/step_length.h).
TimeMoved time_moved(const Lifted& lifted, const Graph& edited, const ReplayTimes& before, const ReplayTimes& after, const std::vector<std::uint32_t>& windows);

}  // namespace stepscope
