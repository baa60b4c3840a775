// A Graph in the making: what the files of lift/ share. Each fills in its own kind of dependency; the order is that of lift.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/builder.h"
#include "lift/lift.h"

namespace stepscope {

// A stretch of a thread's time that one operation stands for. Parts of a thread follow one another without gaps.
struct ThreadPart {
  OpId op{};
  Nanoseconds begin = 0, end = 0;
  SliceId owner = no_id<SliceId>;  // the call or operator whose time it is; no_id = between them
  OpId completion = no_id<OpId>;   // of a call that waits for the device operation that it launched: its second half
  bool handed_over = false;        // another thread started it
};

// Something that a device operation had to wait for, as the trace shows it. Lags are settled when all of them are known (delays.cpp).
struct DeviceWait {
  OpId operation{};
  Moment on;
  Nanoseconds time = 0;    // when it was over
  Nanoseconds offset = 0;  // from the moment to that time: a launch inside a longer part
  DependencyKind kind = DependencyKind::stream_order;
};

// A device slice and its launch.
struct StreamSlice {
  SliceId slice{};
  OpId op{};
  Nanoseconds start = 0, end = 0;
  SliceId launch = no_id<SliceId>;
  Nanoseconds launched = 0;  // start of the launch call; of slices without one, their own start
};

struct Stream {
  TrackId track{};
  std::vector<StreamSlice> slices;       // by start
  std::vector<Nanoseconds> launched_by;  // per slice: the latest launch of it and those before it: ascending
  // The last slice that was launched before this time; null = none.
  const StreamSlice* last_launched_before(Nanoseconds time) const;
};

// The longest gap of the device's own between queued operations, and the longest hand-over from one stream to another (METRICS.md).
inline constexpr Nanoseconds longest_scheduling_gap = 20'000;
// From the end of what an event stands for to the start of what waited for it, where it is known to have waited.
inline constexpr Nanoseconds longest_event_gap = 100'000;
// Before the end of the operation that it waited for: a programmatic launch, the last blocks of a kernel, the device's own clock.
inline constexpr Nanoseconds longest_early_start = 10'000;

// Before any time of a trace, and far enough from the ends of the type for differences.
inline constexpr Nanoseconds long_ago = std::numeric_limits<Nanoseconds>::min() / 4;

// What a device usually takes, ns: medians over its operations.
struct TypicalLags {
  Nanoseconds launch = 0;        // from the launch call to the start, where nothing else is waited for
  Nanoseconds graph_launch = 0;  // the same of CUDA graphs
  Nanoseconds gap = 0;           // between queued operations of a stream, of those up to 20 µs
};

// When a device operation was ready, by the waits known so far.
struct ReadyTime {
  Nanoseconds launched = long_ago, others = long_ago;
  Nanoseconds time() const { return launched > others ? launched : others; }
  // Whether it waited clearly longer than operations usually do, for its launch as well as for what it was queued behind.
  bool waited_longer(Nanoseconds start, const TypicalLags& typical) const {
    const Nanoseconds usual = typical.launch > typical.graph_launch ? typical.launch : typical.graph_launch, launch = 3 * usual > 20'000 ? 3 * usual : 20'000;
    const Nanoseconds gap = 3 * typical.gap > 5'000 ? 3 * typical.gap : 5'000;
    if (launched != long_ago && start - launched <= launch) return false;
    return launched > others || start - others > gap;
  }
};

struct Draft {
  Draft(const Timeline& the_timeline, const Facts& the_facts, Interval the_time) : timeline(the_timeline), facts(the_facts), when(the_time) {}

  const Timeline& timeline;
  const Facts& facts;
  const Interval when;  // slices that start in it are lifted
  GraphBuilder builder;
  Lifted lifted;                               // operation_of and windows by the builder's numbers until the end
  std::vector<std::vector<ThreadPart>> parts;  // per track
  std::vector<Stream> streams;                 // tracks with device slices
  std::vector<std::uint32_t> stream_of_track;  // row of streams; no_stream
  std::vector<DeviceWait> waits;
  std::vector<TypicalLags> typical;  // per device of the Timeline
  Column<Interval> measured;         // per operation of the builder

  OpId add(const Operation& operation, Interval time);
  // Of slices by start, those that are lifted.
  std::span<const SliceId> lifted_of(std::span<const SliceId> slices_by_start) const;
  // The part of a thread at a time; null where the thread has none.
  const ThreadPart* part_at(TrackId thread, Nanoseconds time) const;
  ThreadPart* part_at(TrackId thread, Nanoseconds time);
  // The moment at which a call begins: its part's start, and how much later than that the call itself begins (0 where it is a part of its own).
  struct Anchor {
    Moment moment;
    Nanoseconds offset = 0;
  };
  std::optional<Anchor> begin_of(SliceId call) const;
};
inline constexpr std::uint32_t no_stream = 0xFFFF'FFFFu;

Column<ReadyTime> ready_times(const Draft& draft);  // per operation

// The operations of each device by end.
struct EndedSlice {
  Nanoseconds end;
  const StreamSlice* slice;
  std::uint32_t stream;  // row of Draft::streams
};
std::unordered_map<DeviceId, std::vector<EndedSlice>> slices_by_end(const Draft& draft);

// Operations that may still have been running when the next one started: the last `most` of them.
class RecentSlices {
 public:
  explicit RecentSlices(std::size_t most) : most_(most) {}
  // Visits the one that ended last of those for which ended() holds, and those that ran beside it; then adds the slice. False where there was none.
  template <class Ended, class Visit>
  bool visit_and_add(const StreamSlice& slice, Ended ended, Visit visit) {
    const StreamSlice* last = nullptr;
    for (const StreamSlice* before : slices_)
      if (ended(*before) && (last == nullptr || before->end >= last->end)) last = before;
    if (last != nullptr)
      for (const StreamSlice* before : slices_)
        if (before == last || (ended(*before) && before->end > last->start)) visit(*before);
    if (slices_.size() == most_) slices_.erase(slices_.begin());
    slices_.push_back(&slice);
    return last != nullptr;
  }

 private:
  std::size_t most_;
  std::vector<const StreamSlice*> slices_;
};

// One step of lifting each, in this order:
void cut_threads(Draft& draft);                // thread_parts.cpp: operations of CPU threads
void add_device_operations(Draft& draft);      // device_operations.cpp: operations of streams
void wait_for_launches(Draft& draft);          // launch.cpp
void wait_for_streams(Draft& draft);           // stream_order.cpp
void wait_inside_graphs(Draft& draft);         // graph_order.cpp
void find_typical_lags(Draft& draft);          // delays.cpp: from the waits so far; again before they are settled
void wait_for_events(Draft& draft);            // event.cpp
void wait_for_device(Draft& draft);            // device.cpp
void settle_delays(Draft& draft);              // delays.cpp: the dependencies of device operations, with their lags
void synchronise_threads(Draft& draft);        // synchronise.cpp
void hand_over_between_threads(Draft& draft);  // hand_over.cpp
void follow_flows(Draft& draft);               // flow.cpp
void order_threads(Draft& draft);              // program_order.cpp
void mark_windows(Draft& draft);               // windows.cpp
void join_collectives(Draft& draft);           // collectives.cpp: collectives over ranks
// collectives.cpp: of the finished graph: from each rank's clock to the first rank's. measured: per operation.
void use_common_clock(Draft& draft, Column<Interval>& measured);

}  // namespace stepscope
