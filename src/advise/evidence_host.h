// What the rules about input, host, checkpoints, memory and compilation share: the steps that they speak of, what lies in them, operations of threads by time,
// and the edits that say exactly which operations.
//
// Shares are of the steps that stand for the run (simulate/step_length.h): the sum over all ranks and devices, divided by the sum of their windows' lengths.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/words.h"
#include "analyze/idle_parts.h"
#include "base/intervals.h"

namespace stepscope {

class SteadySteps {
 public:
  explicit SteadySteps(const AdviceScene& scene);

  std::size_t count() const { return count_; }          // windows: steps × devices; 0 = nothing is known
  std::size_t steps_of_each() const { return steps_; }  // of the rank that has most of them
  double length() const { return length_; }             // of all windows, ns
  double share(Nanoseconds total) const { return length_ > 0 ? static_cast<double>(total) / length_ : 0; }
  Nanoseconds per_step(Nanoseconds total) const { return count_ == 0 ? 0 : total / static_cast<Nanoseconds>(count_); }

  const std::vector<Interval>& host(RankId rank) const { return host_[index(rank)]; }                // merged: when threads worked for these steps
  const std::vector<Interval>& device(std::size_t device_row) const { return device_[device_row]; }  // of Facts::devices, by begin
  bool on_host(RankId rank, Nanoseconds time) const;

  // By track and start: what begins in the steps on threads, and by start what begins in a device's windows.
  std::vector<SliceId> on_threads() const;
  std::vector<SliceId> on_device(std::size_t device_row) const;
  std::vector<SliceId> on_devices() const;

 private:
  const AdviceScene& scene_;
  std::size_t count_ = 0, steps_ = 0;
  double length_ = 0;
  std::vector<std::vector<Interval>> host_, device_;
};

// Idle time of all devices in the steps.
struct IdleTime {
  std::vector<IdlePart> parts;                                                      // clipped to the windows
  std::vector<std::vector<Interval>> gaps;                                          // per device row: all idle time, merged
  Nanoseconds overlap(const AdviceScene& scene, RankId rank, Interval with) const;  // of the rank's devices, summed
};
IdleTime idle_time(const AdviceScene& scene, const SteadySteps& steps);
IdleTime idle_time_of_all(const AdviceScene& scene);  // of all that was lifted, also outside of the steps
Nanoseconds overlap(const std::vector<Interval>& merged, Interval with);

// Operations of CPU threads, in the order of their thread.
class ThreadOperations {
 public:
  explicit ThreadOperations(const AdviceScene& scene);
  const std::vector<OpId>& of(TrackId track) const { return by_track_[index(track)]; }
  bool launches(TrackId track) const { return launches_[index(track)]; }  // whether the thread launches device work
  Interval time(OpId op) const;                                           // on the rank's own clock, as in the Timeline
  // That lie in the interval with at least nine tenths of their time.
  std::vector<OpId> within(TrackId track, Interval interval) const;
  Nanoseconds total(std::span<const OpId> operations) const;

 private:
  const AdviceScene& scene_;
  std::vector<std::vector<OpId>> by_track_;
  std::vector<bool> launches_;
};

// These slices of the steps, and those like them (kind, name, operator, phase) that lie outside of the steps: windows reach into the steps beside them, so that
// a fix must be made there as well.
std::vector<SliceId> everywhere(const AdviceScene& scene, const SteadySteps& steps, std::span<const SliceId> slices);

// Operations whose slice is one of these: all parts of a call or operator, device operations.
std::vector<OpId> operations_of(const AdviceScene& scene, std::span<const SliceId> slices);
std::vector<OpId> operations_where(const AdviceScene& scene, const std::function<bool(OpId)>& wanted);
void append(std::vector<OpId>& to, const std::vector<OpId>& more);

// The longest first, at most ten.
std::vector<SliceId> most_telling(const AdviceScene& scene, std::vector<SliceId> slices);
Nanoseconds total_time(const AdviceScene& scene, std::span<const SliceId> slices);

// The slice or one around it on its thread for which wanted() holds; no_id = none.
SliceId around(const AdviceScene& scene, SliceId slice, const std::function<bool(SliceId)>& wanted);
// The user's own Python function around a slice ("train.py(88): step"); "" = no stacks were recorded.
std::string_view users_function(const AdviceScene& scene, SliceId slice);
bool any_python_frames(const AdviceScene& scene);

// Bytes of a copy or fill; absent where the trace does not say.
std::optional<std::int64_t> bytes_moved(const AdviceScene& scene, SliceId slice);

// A call in which a thread waited for the device, with what is known of it.
struct HostWait {
  SliceId call{};
  SliceId operation = no_id<SliceId>;  // the innermost operator around it
  Interval blocked;                    // from the call until it returned
  Nanoseconds idle_after = 0;          // of the device: from within the wait until work that this thread launched after it; at most what the wait took
};
// Calls of launching threads in the steps that wait by what the graph says (DependencyKind::synchronise), by track and start.
std::vector<HostWait> host_waits(const AdviceScene& scene, const SteadySteps& steps);
// Operations that wait in these calls: the edit no_sync takes them.
std::vector<OpId> waiting_operations(const AdviceScene& scene, const SteadySteps& steps, std::span<const HostWait> waits);

}  // namespace stepscope
