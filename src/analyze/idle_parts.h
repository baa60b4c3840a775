// A partition of a device's (or one stream's) idle time by cause: METRICS.md, Idle, by cause.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/question.h"

namespace stepscope {

enum class IdleCause : std::uint8_t { host, launch, scheduling, dependency, graph, unknown, unlinked };
inline constexpr std::size_t idle_cause_count = 7;
std::string_view idle_cause_key(IdleCause cause);    // "host_ns"
std::string_view idle_cause_title(IdleCause cause);  // "Host not ready"

struct IdlePart {
  Interval interval;
  IdleCause cause = IdleCause::unknown;
  SliceId next{};  // the slice that ended the gap
};

// Splits the gaps between slices. Made once per device, used for the device as a whole, each step and each stream.
class IdleParts {
 public:
  IdleParts(const Timeline& timeline, const Facts& facts, const DeviceFacts& device);

  // `slices`: of the device, or some of them (one stream), in DeviceFacts order. The parts are disjoint, by begin, and together are all idle time between the
  // first slice's start and the last one's end.
  std::vector<IdlePart> of(std::span<const SliceId> slices) const;

 private:
  IdleCause cause_of_queued(SliceId next, SliceId previous, Nanoseconds gap) const;
  bool evidenced_wait(SliceId next, SliceId previous, Nanoseconds gap) const;
  void add_part(std::vector<IdlePart>& parts, IdlePart part) const;

  const Timeline& timeline_;
  const Facts& facts_;
  std::vector<Nanoseconds> wait_calls_;        // when calls were made that let a stream wait for an event, sorted
  std::vector<SyncFact> stream_waits_;         // recorded waits of the device's streams
  std::vector<UnrecordedStretch> unrecorded_;  // where records were lost: disjoint, by begin
};

struct IdleSums {
  std::array<Nanoseconds, idle_cause_count> by_cause{};
  Nanoseconds& operator[](IdleCause cause) { return by_cause[static_cast<std::size_t>(cause)]; }
  Nanoseconds operator[](IdleCause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
  Nanoseconds total() const;
};
// Of the parts, clipped to the window.
IdleSums sum_idle(std::span<const IdlePart> parts, Interval window);

}  // namespace stepscope
