// The delays of device operations: each operation's waits become dependencies with lags, so that the latest of them gives the start that the trace shows.
//
//   launched last (the call came when all else was over): the time from the call to the start is the launch's (METRICS.md, idle: launch);
//   queued: the launch's lag is the typical one of the device, and the operation it waited for longest is followed by the device's own gap (scheduling, up to
//   20 µs), by a hand-over from another stream, by a gap inside a CUDA graph, or by a delay that nothing explains.
// What did not decide the start gets the typical lag of its kind, as far as that fits: it decides when an edit moves the others.
#include <algorithm>
#include <limits>

#include "lift/draft.h"

namespace stepscope {

namespace {

// A launch that takes longer than this, and than so many typical ones, is not explained by being a launch.
constexpr Nanoseconds longest_launch = 50'000;
constexpr Nanoseconds unusual = 10;

Nanoseconds median(std::vector<Nanoseconds>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Delays {
 public:
  explicit Delays(Draft& draft) : draft_(draft) { std::ranges::stable_sort(draft.waits, {}, &DeviceWait::operation); }

  void find_typical() {
    draft_.typical.assign(draft_.timeline.devices.size(), {});
    std::vector<std::vector<Nanoseconds>> launches(draft_.typical.size()), graph_launches(draft_.typical.size());
    std::vector<std::vector<Nanoseconds>> calls(draft_.typical.size()), graph_calls(draft_.typical.size());  // how long they take on their threads
    std::vector<Nanoseconds> longest_of_graph(draft_.typical.size(), std::numeric_limits<Nanoseconds>::max());
    for_each_operation([&](OpId op, std::span<const DeviceWait> waits) {
      const Latest found = latest(waits);
      if (found.launch == nullptr) return;
      if (const SliceId call = draft_.facts.launch[draft_.builder.operations().origin[op]]; call != no_id<SliceId>)
        (of_graph(op) ? graph_calls : calls)[device_of(op)].push_back(draft_.timeline.slices.duration[call]);
      if (of_graph(op)) longest_of_graph[device_of(op)] = std::min(longest_of_graph[device_of(op)], draft_.measured[op].begin - found.launch->time);
      if (found.launch->time < found.others) return;
      const Nanoseconds launch = draft_.measured[op].begin - found.launch->time;
      if (launch <= longest_launch) (of_graph(op) ? graph_launches : launches)[device_of(op)].push_back(launch);
    });
    for (std::size_t device = 0; device < draft_.typical.size(); ++device) {
      TypicalLags& typical = draft_.typical[device];
      typical.launch = std::max<Nanoseconds>(0, median(launches[device]));
      if (graph_launches[device].empty()) {
        // None was seen to be the last that its graph waited for. Then it is taken to need longer by what its call does, and no longer than any that waited.
        const Nanoseconds longer = std::max<Nanoseconds>(0, median(graph_calls[device]) - median(calls[device]));
        typical.graph_launch = graph_calls[device].empty() ? typical.launch : std::min(typical.launch + longer, longest_of_graph[device]);
      } else {
        typical.graph_launch = median(graph_launches[device]);
      }
      typical.graph_launch = std::max<Nanoseconds>(0, typical.graph_launch);
    }
    std::vector<std::vector<Nanoseconds>> gaps(draft_.typical.size()), longer_gaps(draft_.typical.size());
    for_each_operation([&](OpId op, std::span<const DeviceWait> waits) {
      const std::size_t device = device_of(op);
      const Latest found = latest(waits);
      const Nanoseconds gap = draft_.measured[op].begin - found.others;
      if (found.launch == nullptr || found.launch->time >= found.others || gap > longest_scheduling_gap) return;
      // A launch that was still in flight when the device fell free may have ended the gap: then the device's own gap is shorter. What a launch of a graph
      // takes is not known where none was seen.
      const bool in_flight = found.launch->time + launch_of(op) > found.others || (of_graph(op) && graph_launches[device].empty());
      (in_flight ? longer_gaps : gaps)[device].push_back(gap);
    });
    for (std::size_t device = 0; device < draft_.typical.size(); ++device) {
      Nanoseconds gap = median(gaps[device]);
      if (!longer_gaps[device].empty()) {
        const Nanoseconds bound = std::ranges::min(longer_gaps[device]);
        if (gaps[device].empty() || bound < gap) gap = bound;
      }
      draft_.typical[device].gap = std::max<Nanoseconds>(0, gap);
    }
  }

  void settle() {
    for_each_operation([&](OpId op, std::span<const DeviceWait> waits) { settle(op, waits); });
  }

 private:
  template <class Visit>
  void for_each_operation(Visit visit) const {
    const std::vector<DeviceWait>& waits = draft_.waits;
    for (std::size_t first = 0; first < waits.size();) {
      std::size_t last = first;
      while (last < waits.size() && waits[last].operation == waits[first].operation) ++last;
      visit(waits[first].operation, std::span(waits).subspan(first, last - first));
      first = last;
    }
  }

  struct Latest {
    const DeviceWait* launch = nullptr;
    Nanoseconds others = long_ago;  // when all but the launch was over
  };
  static Latest latest(std::span<const DeviceWait> waits) {
    Latest found;
    for (const DeviceWait& wait : waits) {
      if (wait.kind == DependencyKind::launch)
        found.launch = &wait;
      else
        found.others = std::max(found.others, wait.time);
    }
    return found;
  }

  bool of_graph(OpId op) const {
    const SliceId launch = draft_.facts.launch[draft_.builder.operations().origin[op]];
    return launch != no_id<SliceId> && draft_.facts.graph_launch[launch] != 0;
  }
  Nanoseconds launch_of(OpId op) const { return of_graph(op) ? draft_.typical[device_of(op)].graph_launch : draft_.typical[device_of(op)].launch; }
  std::size_t device_of(OpId op) const { return index(draft_.timeline.track_of(draft_.builder.operations().origin[op]).device); }

  void settle(OpId op, std::span<const DeviceWait> waits) {
    const Nanoseconds start = draft_.measured[op].begin;
    const TypicalLags& typical = draft_.typical[device_of(op)];
    const Nanoseconds typical_launch = launch_of(op);
    const Latest found = latest(waits);
    const bool alone = waits.size() == 1 && found.launch != nullptr;
    const bool launched_last = found.launch != nullptr && (alone || found.launch->time >= found.others ||
                                                           // In flight when the device fell free.
                                                           found.launch->time + typical_launch >= found.others + typical.gap);
    for (const DeviceWait& wait : waits) {
      const Nanoseconds passed = start - wait.time;
      Nanoseconds lag = 0;
      LagKind kind = LagKind::none;
      if (wait.kind == DependencyKind::launch) {
        kind = launched_last && passed > longest_launch && passed > unusual * typical_launch ? LagKind::unexplained : LagKind::launch;
        lag = launched_last ? passed : std::min(typical_launch, passed);
      } else if (!launched_last && wait.time == found.others) {
        lag = passed;
        kind = kind_of_gap(wait, passed);
      } else {
        lag = std::min(typical.gap, passed);
        kind = wait.kind == DependencyKind::graph_order ? LagKind::graph : wait.kind == DependencyKind::event ? LagKind::hand_over : LagKind::scheduling;
      }
      lag += wait.offset;
      draft_.builder.depend(op, wait.on, wait.kind, lag, lag == 0 ? LagKind::none : kind);
    }
  }

  static LagKind kind_of_gap(const DeviceWait& wait, Nanoseconds gap) {
    if (wait.kind == DependencyKind::graph_order) return LagKind::graph;
    if (gap == 0 || wait.kind == DependencyKind::device) return LagKind::scheduling;
    if (wait.kind == DependencyKind::event && gap <= longest_event_gap) return LagKind::hand_over;
    if (gap > longest_scheduling_gap) return LagKind::unexplained;
    return wait.kind == DependencyKind::event ? LagKind::hand_over : LagKind::scheduling;
  }

  Draft& draft_;
};

}  // namespace

void find_typical_lags(Draft& draft) {
  Delays(draft).find_typical();
}

void settle_delays(Draft& draft) {
  Delays(draft).settle();
}

}  // namespace stepscope
