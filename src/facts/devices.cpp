// The devices that ran something, their slices in one order, and the windows of the steps on them (METRICS.md, window).
#include <algorithm>
#include <limits>

#include "facts/derive.h"

namespace stepscope {

namespace {

constexpr Nanoseconds not_launched = std::numeric_limits<Nanoseconds>::min();

struct Ordered {
  Nanoseconds start;
  Nanoseconds launched;
  SliceId id;
};

bool before(const Ordered& a, const Ordered& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.launched != b.launched) return a.launched > b.launched;
  return a.id < b.id;
}

// Which steps a moment lies in. Steps may overlap where several threads mark them.
class StepsByTime {
 public:
  explicit StepsByTime(const std::vector<Step>& steps) : steps_(steps) {
    Nanoseconds latest = not_launched;
    for (const Step& step : steps) latest_end_.push_back(latest = std::max(latest, step.annotation.end));
  }
  template <class Visit>
  void for_each_at(Nanoseconds time, Visit visit) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, [](const Step& step) { return step.annotation.begin; });
    for (auto i = static_cast<std::size_t>(after - steps_.begin()); i > 0 && latest_end_[i - 1] > time; --i)
      if (steps_[i - 1].annotation.contains(time)) visit(i - 1);
  }

 private:
  const std::vector<Step>& steps_;       // by begin
  std::vector<Nanoseconds> latest_end_;  // of the steps up to each
};

std::vector<StepWindow> step_windows(const Timeline& timeline, const Facts& facts, const DeviceFacts& device) {
  const SliceColumns& s = timeline.slices;
  const std::vector<Step>& steps = facts.steps[index(device.rank)].steps;
  if (steps.empty()) return {};
  struct Extent {
    Nanoseconds first_start = std::numeric_limits<Nanoseconds>::max(), last_end = not_launched;
  };
  std::vector<Extent> extents(steps.size());
  const StepsByTime by_time(steps);
  for (const SliceId id : device.slices) {
    const SliceId launch = facts.launch[id];
    if (facts.activity[id] != ActivityClass::compute || launch == no_id<SliceId>) continue;
    by_time.for_each_at(s.start[launch], [&](std::size_t step) {
      extents[step].first_start = std::min(extents[step].first_start, s.start[id]);
      extents[step].last_end = std::max(extents[step].last_end, s.end(id));
    });
  }
  std::vector<std::uint32_t> active;
  for (std::uint32_t step = 0; step < steps.size(); ++step)
    if (extents[step].last_end != not_launched) active.push_back(step);
  std::vector<StepWindow> windows;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const Extent& mine = extents[active[i]];
    const Interval window{mine.first_start, i + 1 < active.size() ? extents[active[i + 1]].first_start : mine.last_end};
    if (window.end > window.begin) windows.push_back({steps[active[i]].number, active[i], window});
  }
  std::ranges::stable_sort(windows, {}, [](const StepWindow& window) { return window.window.begin; });
  return windows;
}

}  // namespace

void find_devices(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  std::vector<std::vector<Ordered>> slices(timeline.devices.size());
  std::vector<std::size_t> counts(timeline.devices.size(), 0);
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t)
    if (timeline.tracks[t].device != no_id<DeviceId>)
      counts[index(timeline.tracks[t].device)] += timeline.on_track(TrackId{static_cast<std::uint32_t>(t)}).size();
  for (std::size_t device = 0; device < slices.size(); ++device) slices[device].reserve(counts[device]);
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (!is_device_activity(s.kind[row])) continue;
    const DeviceId device = timeline.tracks[index(s.track[row])].device;
    if (device == no_id<DeviceId>) continue;
    const SliceId launch = facts.launch[row];
    slices[index(device)].push_back({s.start[row], launch == no_id<SliceId> ? not_launched : s.start[launch], SliceId{static_cast<std::uint32_t>(row)}});
  }
  for (std::size_t device = 0; device < slices.size(); ++device) {
    std::vector<Ordered>& mine = slices[device];
    if (mine.empty()) continue;
    if (!std::ranges::is_sorted(mine, before)) std::ranges::sort(mine, before);
    DeviceFacts& found = facts.devices.emplace_back();
    found.device = DeviceId{static_cast<std::uint32_t>(device)};
    found.rank = timeline.devices[device].rank;
    SliceId* target = found.slices.append_uninitialised(mine.size());
    for (const Ordered& slice : mine) *target++ = slice.id;
    std::vector<Ordered>().swap(mine);
  }
  // "10" after "9": labels that are numbers are compared as such.
  std::ranges::stable_sort(facts.devices, [&](const DeviceFacts& a, const DeviceFacts& b) {
    const Device &x = timeline.devices[index(a.device)], &y = timeline.devices[index(b.device)];
    if (a.rank != b.rank) return a.rank < b.rank;
    if (x.number && y.number && *x.number != *y.number) return *x.number < *y.number;
    return x.label < y.label;
  });
}

void find_step_windows(const Timeline& timeline, Facts& facts) {
  for (DeviceFacts& device : facts.devices) device.windows = step_windows(timeline, facts, device);
}

}  // namespace stepscope
