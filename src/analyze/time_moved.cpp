#include "analyze/time_moved.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/kernel_name.h"

namespace stepscope {

namespace {

struct Stretches {
  std::vector<Interval> before;  // by begin, disjoint
  bool contains(Nanoseconds time) const {
    const auto after = std::ranges::upper_bound(before, time, {}, &Interval::begin);
    return after != before.begin() && std::prev(after)->contains(time);
  }
};

using Busy = std::vector<Interval>;  // by begin, disjoint

Nanoseconds covered(const Busy& busy, Interval window) {
  Nanoseconds sum = 0;
  for (auto at = std::ranges::upper_bound(busy, window.begin, {}, &Interval::end); at != busy.end() && at->begin < window.end; ++at)
    sum += std::max<Nanoseconds>(0, std::min(at->end, window.end) - std::max(at->begin, window.begin));
  return sum;
}

std::map<DeviceId, Busy> busy_by_device(const Lifted& lifted, const Graph& graph, const ReplayTimes& times) {
  std::map<DeviceId, Busy> all;
  // A member of a collective keeps its device busy from its arrival on, while it waits and transfers.
  for (const MemberOperations& member : lifted.members) {
    const Interval kernel{times.start(member.arrival), times.end(member.completion)};
    if (kernel.length() > 0) all[graph.place_of(member.arrival).device].push_back(kernel);
  }
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const Place& place = graph.place_of(OpId{row});
    if (place.kind == PlaceKind::stream && times.end(OpId{row}) > times.start(OpId{row}))
      all[place.device].push_back({times.start(OpId{row}), times.end(OpId{row})});
  }
  for (auto& [device, busy] : all) {
    std::ranges::sort(busy, {}, &Interval::begin);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < busy.size(); ++i) {
      if (busy[i].begin <= busy[kept].end)
        busy[kept].end = std::max(busy[kept].end, busy[i].end);
      else
        busy[++kept] = busy[i];
    }
    busy.resize(std::min(busy.size(), kept + 1));
  }
  return all;
}

// The host's steps that stand beside the device windows; empty = none are marked.
std::vector<const GraphWindow*> host_windows(const Lifted& lifted, const std::vector<std::uint32_t>& windows) {
  std::vector<const GraphWindow*> found;
  for (const GraphWindow& host : lifted.windows) {
    if (host.device != no_id<DeviceId>) continue;
    for (const std::uint32_t row : windows)
      if (lifted.windows[row].rank == host.rank && lifted.windows[row].step == host.step) {
        found.push_back(&host);
        break;
      }
  }
  return found;
}

}  // namespace

TimeMoved time_moved(const Lifted& lifted, const Graph& edited, const ReplayTimes& before, const ReplayTimes& after,
                     const std::vector<std::uint32_t>& windows) {
  TimeMoved moved;
  const Graph& graph = lifted.graph;
  std::map<DeviceId, Stretches> devices;
  std::map<RankId, Stretches> hosts;
  double device_windows = 0, thread_windows = 0;
  for (const std::uint32_t row : windows) {
    const GraphWindow& window = lifted.windows[row];
    if (window.device == no_id<DeviceId>) continue;
    devices[window.device].before.push_back({before[window.begin], before[window.end]});
    ++device_windows;
  }
  for (const GraphWindow* host : host_windows(lifted, windows)) {
    hosts[host->rank].before.push_back({before[host->begin], before[host->end]});
    ++thread_windows;
  }
  for (auto& [device, stretches] : devices) std::ranges::sort(stretches.before, {}, &Interval::begin);
  for (auto& [rank, stretches] : hosts) std::ranges::sort(stretches.before, {}, &Interval::begin);
  const bool whole = thread_windows == 0;  // nothing marks steps: everything on threads counts, per window of a device
  if (whole) thread_windows = std::max(1.0, device_windows);

  std::array<MovedTime, operation_class_count> classes;
  std::map<NameId, MovedTime> names;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    const Place& place = graph.place_of(op);
    const OperationClass c = graph.operations.operation_class[op];
    const Nanoseconds start = before.start(op);
    bool counts = false;
    if (place.kind == PlaceKind::stream) {
      const auto mine = devices.find(place.device);
      counts = mine != devices.end() && mine->second.contains(start);
    } else if (place.kind == PlaceKind::thread) {
      const auto mine = hosts.find(place.rank);
      counts = whole || (mine != hosts.end() && mine->second.contains(start));
    } else if (c == OperationClass::transfer) {
      counts = !devices.empty() && devices.begin()->second.contains(start);
    }
    if (!counts) continue;
    // A transfer counts on the devices of all its members.
    const std::size_t on_devices =
        c == OperationClass::transfer ? std::min<std::size_t>(devices.size(), graph.end_dependency(op) - graph.first_dependency(op)) : 1;
    const double share = place.kind == PlaceKind::thread ? 1 / thread_windows : static_cast<double>(on_devices) / std::max(1.0, device_windows);
    const auto add = [&](MovedTime& sum) {
      sum.operations += share;
      sum.before_ns += share * static_cast<double>(graph.operations.duration[op]);
      sum.after_ns += share * static_cast<double>(edited.operations.duration[op]);
    };
    add(classes[static_cast<std::size_t>(c)]);
    if (place.kind == PlaceKind::thread) continue;
    const auto [found, fresh] = names.try_emplace(graph.operations.name[op]);
    if (fresh) {
      found->second.name = readable_kernel_name(graph.name_of(op));
      found->second.operation_class = c;
    }
    add(found->second);
  }
  for (std::size_t c = 0; c < operation_class_count; ++c) {
    if (classes[c].operations <= 0) continue;
    classes[c].operation_class = static_cast<OperationClass>(c);
    classes[c].name = operation_class_name(classes[c].operation_class);
    moved.by_class.push_back(classes[c]);
  }
  for (auto& [name, sum] : names) moved.by_name.push_back(std::move(sum));
  std::ranges::stable_sort(moved.by_name, [](const MovedTime& a, const MovedTime& b) {
    const double x = std::abs(a.after_ns - a.before_ns), y = std::abs(b.after_ns - b.before_ns);
    return x != y ? x > y : a.before_ns > b.before_ns;
  });

  const auto busy_before = busy_by_device(lifted, graph, before), busy_after = busy_by_device(lifted, edited, after);
  for (const std::uint32_t row : windows) {
    const GraphWindow& window = lifted.windows[row];
    if (window.device == no_id<DeviceId>) continue;
    const auto busy = [&](const auto& by_device, const ReplayTimes& times, double& busy_ns, double& idle_ns) {
      const Interval interval{times[window.begin], times[window.end]};
      const auto mine = by_device.find(window.device);
      const Nanoseconds length = std::max<Nanoseconds>(0, interval.length()), own = mine == by_device.end() ? 0 : covered(mine->second, interval);
      busy_ns += static_cast<double>(own) / device_windows;
      idle_ns += static_cast<double>(length - own) / device_windows;
    };
    busy(busy_before, before, moved.busy_before_ns, moved.idle_before_ns);
    busy(busy_after, after, moved.busy_after_ns, moved.idle_after_ns);
  }
  return moved;
}

}  // namespace stepscope
