// Memory over time, from the allocator's "[memory]" records: what was allocated and reserved, when most, at the end of each step, and by which operators.
//
// Allocated and reserved are the allocator's own totals after each event. Where it did not report them, allocated counts from the first record on and
// reserved is absent. Sizes are shown in GiB = 2^30 bytes; times are from the start of the capture.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyze/question.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

constexpr std::int64_t unknown = -1;

// The totals after an event.
struct Level {
  Nanoseconds time = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = unknown;
};

struct DeviceMemory {
  std::string label;
  bool accelerator = false;
  bool reports_totals = true;
  std::vector<const MemoryEvent*> events;  // by time
  std::vector<Level> levels;               // one per event
  Level before;                            // before the first event of the window
  std::size_t first = 0, last = 0;         // the events of the window: [first, last)
};

// c10::DeviceType
std::string device_label(std::int32_t type, std::int32_t number) {
  static constexpr std::pair<std::int32_t, std::string_view> names[] = {{0, "CPU"},  {1, "CUDA"}, {6, "HIP"},  {9, "XLA"},
                                                                        {12, "XPU"}, {13, "MPS"}, {15, "HPU"}, {19, "MTIA"}};
  const auto* known = std::ranges::find(names, type, &std::pair<std::int32_t, std::string_view>::first);
  std::string label = known == std::end(names) ? fmt::format("device type {}", type) : std::string(known->second);
  return number >= 0 ? fmt::format("{} {}", label, number) : label;
}

void find_levels(DeviceMemory& device) {
  device.reports_totals = std::ranges::all_of(device.events, [](const MemoryEvent* event) { return event->total_allocated >= 0; });
  std::int64_t allocated = 0;
  device.levels.reserve(device.events.size());
  for (const MemoryEvent* event : device.events) {
    allocated = device.reports_totals ? event->total_allocated : allocated + event->bytes;
    device.levels.push_back({event->time, allocated, event->total_reserved >= 0 ? event->total_reserved : unknown});
  }
  if (!device.levels.empty()) device.before = {device.levels[0].time, device.levels[0].allocated - device.events[0]->bytes, device.levels[0].reserved};
}

std::vector<DeviceMemory> devices_of(const Scene& scene) {
  std::map<std::pair<std::int32_t, std::int32_t>, DeviceMemory> devices;
  for (const MemoryEvent& event : scene.timeline.memory)
    if (scene.timeline.tracks[index(event.track)].rank == scene.rank) devices[{event.device_type, event.device}].events.push_back(&event);
  std::vector<DeviceMemory> result;
  for (auto& [key, device] : devices) {
    device.label = device_label(key.first, key.second);
    device.accelerator = key.first != 0;
    std::ranges::stable_sort(device.events, {}, [](const MemoryEvent* event) { return event->time; });
    find_levels(device);
    const auto place_of = [&](Nanoseconds time) {
      return static_cast<std::size_t>(std::ranges::lower_bound(device.levels, time, {}, &Level::time) - device.levels.begin());
    };
    device.last = device.levels.size();
    if (!scene.whole_capture) {
      device.first = place_of(scene.window.begin);
      device.last = std::max(device.first, place_of(scene.window.end));
      if (device.first > 0) device.before = device.levels[device.first - 1];
    }
    result.push_back(std::move(device));
  }
  // Accelerators first, the fullest of them first.
  const auto most = [](const DeviceMemory& device) { return device.levels.empty() ? 0 : std::ranges::max(device.levels, {}, &Level::allocated).allocated; };
  std::ranges::stable_sort(result,
                           [&](const DeviceMemory& a, const DeviceMemory& b) { return std::pair(a.accelerator, most(a)) > std::pair(b.accelerator, most(b)); });
  return result;
}

// The highest level within [first, last), where the level `before` holds at first; the earliest of equals.
template <class Field>
Level peak(const DeviceMemory& device, const Level& before, std::size_t first, std::size_t last, Field field) {
  Level highest = before;
  for (std::size_t i = first; i < last; ++i)
    if (device.levels[i].*field > highest.*field) highest = device.levels[i];
  return highest;
}

Table devices_table(const std::vector<DeviceMemory>& devices) {
  Table table{.key = "devices",
              .title = "By device",
              .columns = {{"device", "Device"},
                          {"peak_allocated_bytes", "Peak allocated", Unit::memory_bytes},
                          {"peak_allocated_at_ns", "at", Unit::nanoseconds},
                          {"peak_reserved_bytes", "Peak reserved", Unit::memory_bytes},
                          {"peak_reserved_at_ns", "at", Unit::nanoseconds, false},
                          {"start_allocated_bytes", "At the start", Unit::memory_bytes},
                          {"end_allocated_bytes", "At the end", Unit::memory_bytes},
                          {"allocations", "Allocations", Unit::count},
                          {"allocated_bytes", "of", Unit::memory_bytes, false},
                          {"releases", "Releases", Unit::count, false},
                          {"released_bytes", "of", Unit::memory_bytes, false}},
              .rows = {}};
  for (const DeviceMemory& device : devices) {
    std::int64_t allocations = 0, allocated = 0, releases = 0, released = 0;
    for (std::size_t i = device.first; i < device.last; ++i) {
      const std::int64_t bytes = device.events[i]->bytes;
      if (bytes > 0) ++allocations, allocated += bytes;
      if (bytes < 0) ++releases, released -= bytes;
    }
    const Level top = peak(device, device.before, device.first, device.last, &Level::allocated);
    const Level reserved = peak(device, device.before, device.first, device.last, &Level::reserved);
    const Level& end = device.last > device.first ? device.levels[device.last - 1] : device.before;
    table.rows.push_back({text(device.label), whole(top.allocated), whole(top.time), whole_if(reserved.reserved != unknown, reserved.reserved),
                          whole_if(reserved.reserved != unknown, reserved.time), whole_if(device.reports_totals, device.before.allocated), whole(end.allocated),
                          whole(allocations), whole(allocated), whole(releases), whole(released)});
  }
  return table;
}

Table steps_table(const Scene& scene, const std::vector<DeviceMemory>& devices) {
  Table table{.key = "steps",
              .title = "At the end of each step",
              .columns = {{"step", "Step"},
                          {"device", "Device"},
                          {"peak_allocated_bytes", "Peak allocated", Unit::memory_bytes},
                          {"end_allocated_bytes", "Allocated", Unit::memory_bytes},
                          {"end_reserved_bytes", "Reserved", Unit::memory_bytes}},
              .rows = {}};
  if (index(scene.rank) >= scene.facts.steps.size()) return table;
  for (const Step& step : scene.facts.steps[index(scene.rank)].steps) {
    if (!scene.whole_capture && !scene.window.contains(step.annotation.begin)) continue;
    for (const DeviceMemory& device : devices) {
      if (!device.accelerator) continue;
      const auto place_of = [&](Nanoseconds time) {
        return static_cast<std::size_t>(std::ranges::lower_bound(device.levels, time, {}, &Level::time) - device.levels.begin());
      };
      const std::size_t first = place_of(step.annotation.begin), last = place_of(step.annotation.end);
      if (last == 0) continue;  // before the first record nothing is known
      const Level before = first > 0 ? device.levels[first - 1] : device.levels[0];
      const Level& end = device.levels[last - 1];
      table.rows.push_back({whole(step.number), text(device.label), whole(peak(device, before, first, last, &Level::allocated).allocated), whole(end.allocated),
                            whole_if(end.reserved != unknown, end.reserved)});
    }
  }
  return table;
}

// The innermost operator on the event's thread at its time; no_id where none is open.
SliceId operator_at(const Scene& scene, const MemoryEvent& event) {
  const SliceColumns& s = scene.timeline.slices;
  const std::span<const SliceId> slices = scene.timeline.on_track(event.track);
  const auto after = std::ranges::upper_bound(slices, event.time, {}, [&](SliceId id) { return s.start[id]; });
  if (after == slices.begin()) return no_id<SliceId>;
  SliceId innermost = *(after - 1);
  while (innermost != no_id<SliceId> && s.end(innermost) < event.time) innermost = scene.facts.parent[innermost];
  if (innermost == no_id<SliceId> || s.kind[innermost] == SliceKind::operation) return innermost;
  return scene.facts.operation[innermost];
}

Table operators_table(const Scene& scene, const std::vector<DeviceMemory>& devices) {
  struct Allocated {
    std::int64_t count = 0, bytes = 0, largest = 0;
  };
  constexpr NameId none{0};
  Table table{.key = "operators",
              .title = "What allocates",
              .columns = {{"operator", "Operator"},
                          {"device", "Device"},
                          {"allocations", "Allocations", Unit::count},
                          {"allocated_bytes", "Allocated", Unit::memory_bytes},
                          {"largest_bytes", "Largest", Unit::memory_bytes},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  for (const DeviceMemory& device : devices) {
    std::map<NameId, Allocated> by_name;
    std::int64_t all = 0;
    for (std::size_t i = device.first; i < device.last; ++i) {
      const MemoryEvent& event = *device.events[i];
      if (event.bytes <= 0) continue;
      const SliceId cause = operator_at(scene, event);
      Allocated& sums = by_name[cause == no_id<SliceId> ? none : scene.timeline.slices.name[cause]];
      ++sums.count;
      sums.bytes += event.bytes;
      sums.largest = std::max(sums.largest, event.bytes);
      all += event.bytes;
    }
    std::vector<std::pair<NameId, Allocated>> rows(by_name.begin(), by_name.end());
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    for (const auto& [name, sums] : rows)
      table.rows.push_back({text(name == none ? "(no operator)" : scene.timeline.names[name]), text(device.label), whole(sums.count), whole(sums.bytes),
                            whole(sums.largest), share(sums.bytes, all)});
  }
  return table;
}

// Points that draw the same picture: all of them, or of each of 200 stretches the first and last and the extremes between.
std::vector<std::size_t> points_of(const DeviceMemory& device) {
  constexpr std::size_t most_points = 1'000, stretches = 200;
  std::vector<std::size_t> points;
  const std::size_t count = device.last - device.first;
  if (count <= most_points) {
    for (std::size_t i = device.first; i < device.last; ++i) points.push_back(i);
    return points;
  }
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t first = device.first + count * stretch / stretches, last = device.first + count * (stretch + 1) / stretches;
    const auto level = [&](std::size_t i) -> const Level& { return device.levels[i]; };
    std::size_t chosen[] = {first, first, first, first, last - 1};
    for (std::size_t i = first; i < last; ++i) {
      if (level(i).allocated < level(chosen[1]).allocated) chosen[1] = i;
      if (level(i).allocated > level(chosen[2]).allocated) chosen[2] = i;
      if (level(i).reserved > level(chosen[3]).reserved) chosen[3] = i;
    }
    std::ranges::sort(chosen);
    for (const std::size_t i : chosen)
      if (points.empty() || points.back() != i) points.push_back(i);
  }
  return points;
}

Table series_table(const std::vector<DeviceMemory>& devices) {
  Table table{.key = "series",
              .title = "Over time",
              .columns = {{"device", "Device", Unit::none, false},
                          {"time_ns", "Time", Unit::nanoseconds, false},
                          {"allocated_bytes", "Allocated", Unit::memory_bytes, false},
                          {"reserved_bytes", "Reserved", Unit::memory_bytes, false}},
              .rows = {}};
  for (const DeviceMemory& device : devices)
    for (const std::size_t i : points_of(device)) {
      const Level& level = device.levels[i];
      table.rows.push_back({text(device.label), whole(level.time), whole(level.allocated), whole_if(level.reserved != unknown, level.reserved)});
    }
  return table;
}

std::vector<Section> answer_memory(const Scene& scene) {
  std::vector<DeviceMemory> devices = devices_of(scene);
  if (devices.empty()) return {};
  Section section{.key = "memory", .title = "Memory", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 52};
  const DeviceMemory& fullest = devices.front();
  const Level top = peak(fullest, fullest.before, fullest.first, fullest.last, &Level::allocated);
  const Level reserved = peak(fullest, fullest.before, fullest.first, fullest.last, &Level::reserved);
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  section.figures = {
      {"device", "Device", Unit::none, text(fullest.label)},
      {"peak_allocated_bytes", "Peak allocated", Unit::memory_bytes, whole(top.allocated)},
      {"peak_allocated_at_ns", "at", Unit::nanoseconds, whole(top.time)},
      {"peak_reserved_bytes", "Peak reserved", Unit::memory_bytes, whole_if(reserved.reserved != unknown, reserved.reserved)},
      {"unused_at_peak_bytes", "Reserved but unused at that time", Unit::memory_bytes, whole_if(top.reserved != unknown, top.reserved - top.allocated)}};
  section.summary = fmt::format("{}: at most {:.2f} GiB allocated", fullest.label, static_cast<double>(top.allocated) / gib);
  if (reserved.reserved != unknown) section.summary += fmt::format(", {:.2f} GiB reserved", static_cast<double>(reserved.reserved) / gib);
  section.summary += ".";
  section.tables.push_back(devices_table(devices));
  if (Table steps = steps_table(scene, devices); !steps.rows.empty()) section.tables.push_back(std::move(steps));
  section.tables.push_back(operators_table(scene, devices));
  section.tables.push_back(series_table(devices));
  for (const DeviceMemory& device : devices)
    if (!device.reports_totals)
      section.caveats.push_back(device.label + ": the allocator's totals were not recorded; allocated memory counts from the first record on.");
  return {std::move(section)};
}

}  // namespace

extern const Question memory_question;
const Question memory_question{"memory", "How much memory was allocated and reserved over time, and by what?", Scope::rank, answer_memory};

}  // namespace stepscope
