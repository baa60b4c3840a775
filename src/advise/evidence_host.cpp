#include "advise/evidence_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "simulate/step_length.h"

namespace stepscope {

namespace {

constexpr std::size_t most_nested = 10'000;

void merge(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  intervals = merge_intervals(intervals);
}

bool inside(const std::vector<Interval>& merged, Nanoseconds time) {
  const auto at = std::ranges::upper_bound(merged, time, {}, &Interval::begin);
  return at != merged.begin() && (at - 1)->contains(time);
}

}  // namespace

SteadySteps::SteadySteps(const AdviceScene& scene) : scene_(scene), host_(scene.timeline.ranks.size()), device_(scene.facts.devices.size()) {
  const std::vector<GraphWindow>& windows = scene.lifted.windows;
  std::vector<std::size_t> steps(scene.timeline.ranks.size(), 0);
  for (const std::uint32_t row : representative_windows(scene.lifted)) {
    const GraphWindow& window = windows[row];
    ++count_;
    length_ += static_cast<double>(window.measured.length());
    if (window.step == no_step) {
      host_[index(window.rank)].push_back(scene.lifted.when);
    } else {
      const Step& step = scene.facts.steps[index(window.rank)].steps[window.step];
      host_[index(window.rank)].push_back({step.annotation.begin, step.annotation.begin + step.step_time});
    }
    for (std::size_t device = 0; device < device_.size(); ++device)
      if (scene.facts.devices[device].device == window.device) device_[device].push_back(window.measured);
  }
  for (std::size_t rank = 0; rank < host_.size(); ++rank) {
    std::ranges::sort(host_[rank], {}, &Interval::begin);
    const auto doubles = std::ranges::unique(host_[rank]);
    steps[rank] = static_cast<std::size_t>(doubles.begin() - host_[rank].begin());
    merge(host_[rank]);
  }
  for (std::vector<Interval>& device : device_) std::ranges::sort(device, {}, &Interval::begin);
  if (!steps.empty()) steps_ = std::ranges::max(steps);
}

bool SteadySteps::on_host(RankId rank, Nanoseconds time) const {
  return inside(host_[index(rank)], time);
}

std::vector<SliceId> SteadySteps::on_threads() const {
  const Timeline& timeline = scene_.timeline;
  const auto start_of = [&](SliceId id) { return timeline.slices.start[id]; };
  std::vector<SliceId> found;
  for (std::uint32_t track = 0; track < timeline.tracks.size(); ++track) {
    if (timeline.tracks[track].kind != TrackKind::thread) continue;
    const auto slices = timeline.on_track(TrackId{track});
    for (const Interval& step : host_[index(timeline.tracks[track].rank)]) {
      auto at = std::ranges::lower_bound(slices, step.begin, {}, start_of);
      for (; at != slices.end() && start_of(*at) < step.end; ++at) found.push_back(*at);
    }
  }
  return found;
}

std::vector<SliceId> SteadySteps::on_device(std::size_t device_row) const {
  const Column<SliceId>& slices = scene_.facts.devices[device_row].slices;
  const auto start_of = [&](SliceId id) { return scene_.timeline.slices.start[id]; };
  std::vector<SliceId> found;
  for (const Interval& window : device_[device_row]) {
    auto at = std::ranges::lower_bound(slices, window.begin, {}, start_of);
    for (; at != slices.end() && (start_of(*at) < window.end || window.length() == 0); ++at) found.push_back(*at);
  }
  return found;
}

std::vector<SliceId> SteadySteps::on_devices() const {
  std::vector<SliceId> found;
  for (std::size_t device = 0; device < device_.size(); ++device) {
    const std::vector<SliceId> own = on_device(device);
    found.insert(found.end(), own.begin(), own.end());
  }
  return found;
}

Nanoseconds overlap(const std::vector<Interval>& merged, Interval with) {
  Nanoseconds total = 0;
  auto at = std::ranges::lower_bound(merged, with.begin, {}, &Interval::end);
  for (; at != merged.end() && at->begin < with.end; ++at) total += std::max<Nanoseconds>(0, std::min(at->end, with.end) - std::max(at->begin, with.begin));
  return total;
}

Nanoseconds IdleTime::overlap(const AdviceScene& scene, RankId rank, Interval with) const {
  Nanoseconds total = 0;
  for (std::size_t device = 0; device < gaps.size(); ++device)
    if (scene.facts.devices[device].rank == rank) total += stepscope::overlap(gaps[device], with);
  return total;
}

namespace {

void add_idle(const AdviceScene& scene, std::size_t row, const std::vector<Interval>& windows, IdleTime& idle) {
  if (windows.empty()) return;
  // One slice more on either side, so that gaps at the windows' ends have theirs.
  const Column<SliceId>& all = scene.facts.devices[row].slices;
  const auto start_of = [&](SliceId id) { return scene.timeline.slices.start[id]; };
  auto first = std::ranges::lower_bound(all, windows.front().begin, {}, start_of);
  auto last = std::ranges::upper_bound(all, windows.back().end, {}, start_of);
  if (first != all.begin()) --first;
  if (last != all.end()) ++last;
  for (const IdlePart& part : IdleParts(scene.timeline, scene.facts, scene.facts.devices[row]).of(std::span<const SliceId>(first, last))) {
    auto window = std::ranges::upper_bound(windows, part.interval.begin, {}, &Interval::end);
    for (; window != windows.end() && window->begin < part.interval.end; ++window) {
      const Interval clipped{std::max(part.interval.begin, window->begin), std::min(part.interval.end, window->end)};
      if (clipped.end <= clipped.begin) continue;
      idle.parts.push_back({clipped, part.cause, part.next});
      idle.gaps[row].push_back(clipped);
    }
  }
  merge(idle.gaps[row]);
}

}  // namespace

IdleTime idle_time(const AdviceScene& scene, const SteadySteps& steps) {
  IdleTime idle;
  idle.gaps.resize(scene.facts.devices.size());
  for (std::size_t row = 0; row < scene.facts.devices.size(); ++row) add_idle(scene, row, steps.device(row), idle);
  return idle;
}

IdleTime idle_time_of_all(const AdviceScene& scene) {
  IdleTime idle;
  idle.gaps.resize(scene.facts.devices.size());
  for (std::size_t row = 0; row < scene.facts.devices.size(); ++row) add_idle(scene, row, {scene.lifted.when}, idle);
  return idle;
}

ThreadOperations::ThreadOperations(const AdviceScene& scene)
    : scene_(scene), by_track_(scene.timeline.tracks.size()), launches_(scene.timeline.tracks.size(), false) {
  const Graph& graph = scene.lifted.graph;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const Place& place = graph.place_of(OpId{row});
    if (place.kind != PlaceKind::thread || place.track == no_id<TrackId>) continue;
    by_track_[index(place.track)].push_back(OpId{row});
    if (graph.operations.operation_class[OpId{row}] == OperationClass::launch) launches_[index(place.track)] = true;
  }
}

Interval ThreadOperations::time(OpId op) const {
  const RankId rank = scene_.lifted.graph.place_of(op).rank;
  return {scene_.lifted.on_clock_of(rank, scene_.times.start(op)), scene_.lifted.on_clock_of(rank, scene_.times.end(op))};
}

std::vector<OpId> ThreadOperations::within(TrackId track, Interval interval) const {
  const std::vector<OpId>& all = by_track_[index(track)];
  std::vector<OpId> found;
  auto at = std::ranges::lower_bound(all, interval.begin, {}, [&](OpId op) { return time(op).end; });
  for (; at != all.end() && time(*at).begin <= interval.end; ++at) {
    const Interval own = time(*at);
    const Nanoseconds inside = std::min(own.end, interval.end) - std::max(own.begin, interval.begin);
    if (own.length() == 0 ? interval.contains(own.begin) : inside * 10 >= own.length() * 9) found.push_back(*at);
  }
  return found;
}

Nanoseconds ThreadOperations::total(std::span<const OpId> operations) const {
  Nanoseconds sum = 0;
  for (const OpId op : operations) sum += scene_.lifted.graph.operations.duration[op];
  return sum;
}

std::vector<SliceId> everywhere(const AdviceScene& scene, const SteadySteps& steps, std::span<const SliceId> slices) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  const auto likeness = [&](SliceId id) {
    const SliceId operation = scene.facts.operation[id];
    return std::tuple(s.kind[id], s.name[id], operation == no_id<SliceId> ? NameId{0} : s.name[operation], scene.facts.phase[id]);
  };
  std::set<std::tuple<SliceKind, NameId, NameId, Phase>> wanted;
  for (const SliceId id : slices) wanted.insert(likeness(id));
  std::vector<SliceId> found(slices.begin(), slices.end());
  std::vector<bool> in_steps(timeline.slices.size(), false);
  for (const SliceId id : steps.on_threads()) in_steps[index(id)] = true;
  // Of a device's window the end belongs to the next step: what that one launched there is looked at like the rest of it.
  for (const SliceId id : steps.on_devices()) {
    const SliceId launch = scene.facts.launch[id];
    in_steps[index(id)] = launch == no_id<SliceId> || steps.on_host(timeline.track_of(launch).rank, s.start[launch]);
  }
  const Interval when = scene.lifted.when;
  for (std::uint32_t track = 0; track < timeline.tracks.size(); ++track) {
    const auto all = timeline.on_track(TrackId{track});
    auto at = std::ranges::lower_bound(all, when.begin, {}, [&](SliceId id) { return s.start[id]; });
    for (; at != all.end() && s.start[*at] < when.end; ++at)
      if (!in_steps[index(*at)] && wanted.contains(likeness(*at))) found.push_back(*at);
  }
  return found;
}

std::vector<OpId> operations_of(const AdviceScene& scene, std::span<const SliceId> slices) {
  std::vector<bool> chosen(scene.timeline.slices.size(), false);
  for (const SliceId id : slices) chosen[index(id)] = true;
  return operations_where(scene, [&](OpId op) {
    const SliceId origin = scene.lifted.graph.operations.origin[op];
    return origin != no_id<SliceId> && chosen[index(origin)];
  });
}

std::vector<OpId> operations_where(const AdviceScene& scene, const std::function<bool(OpId)>& wanted) {
  std::vector<OpId> found;
  for (std::uint32_t row = 1; row < scene.lifted.graph.size(); ++row)
    if (wanted(OpId{row})) found.push_back(OpId{row});
  return found;
}

void append(std::vector<OpId>& to, const std::vector<OpId>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<SliceId> most_telling(const AdviceScene& scene, std::vector<SliceId> slices) {
  constexpr std::size_t most = 10;
  std::ranges::sort(slices);
  const auto doubles = std::ranges::unique(slices);
  slices.erase(doubles.begin(), doubles.end());
  std::ranges::stable_sort(slices, std::ranges::greater{}, [&](SliceId id) { return scene.timeline.slices.duration[id]; });
  if (slices.size() > most) slices.resize(most);
  return slices;
}

Nanoseconds total_time(const AdviceScene& scene, std::span<const SliceId> slices) {
  Nanoseconds sum = 0;
  for (const SliceId id : slices) sum += scene.timeline.slices.duration[id];
  return sum;
}

SliceId around(const AdviceScene& scene, SliceId slice, const std::function<bool(SliceId)>& wanted) {
  std::size_t level = 0;
  for (SliceId at = slice; at != no_id<SliceId> && level < most_nested; at = scene.facts.parent[at], ++level)
    if (wanted(at)) return at;
  return no_id<SliceId>;
}

std::string_view users_function(const AdviceScene& scene, SliceId slice) {
  const SliceId frame = around(scene, slice, [&](SliceId id) {
    if (scene.timeline.slices.kind[id] != SliceKind::python_function) return false;
    const std::string_view name = scene.timeline.name_of(id);
    return !name.starts_with("<") && !name.starts_with("torch/") && !has_text(name, "-packages/torch/") && !name.starts_with("nn.Module: ");
  });
  return frame == no_id<SliceId> ? std::string_view() : scene.timeline.name_of(frame);
}

bool any_python_frames(const AdviceScene& scene) {
  return scene.timeline.python.size() > 0;
}

std::optional<std::int64_t> bytes_moved(const AdviceScene& scene, SliceId slice) {
  const auto& transfers = scene.timeline.transfers;
  const auto at = std::ranges::lower_bound(transfers, slice, {}, &TransferFact::slice);
  if (at == transfers.end() || at->slice != slice) return std::nullopt;
  return at->bytes;
}

std::vector<HostWait> host_waits(const AdviceScene& scene, const SteadySteps& steps) {
  const Graph& graph = scene.lifted.graph;
  const SliceColumns& s = scene.timeline.slices;
  const ThreadOperations threads(scene);
  // Idle time that the host caused, by the thread that launched what ended it.
  std::vector<std::vector<Interval>> starved(scene.timeline.tracks.size());
  for (const IdlePart& part : idle_time(scene, steps).parts)
    if (part.cause == IdleCause::host || part.cause == IdleCause::launch) starved[index(s.track[scene.facts.launch[part.next]])].push_back(part.interval);
  for (std::vector<Interval>& intervals : starved) merge(intervals);

  std::vector<HostWait> waits;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (!threads.launches(TrackId{track})) continue;
    const RankId rank = scene.timeline.tracks[track].rank;
    const std::size_t first = waits.size();
    for (const OpId op : threads.of(TrackId{track})) {
      const SliceId call = graph.operations.origin[op];
      if (call == no_id<SliceId> || !is_api_call(s.kind[call]) || !steps.on_host(rank, s.start[call])) continue;
      const auto dependencies = [&](std::uint32_t i) { return graph.dependencies.kind[i] == DependencyKind::synchronise; };
      bool waited = false;
      for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) waited |= dependencies(i);
      if (!waited || (waits.size() > first && waits.back().call == call)) continue;
      waits.push_back({.call = call, .operation = scene.facts.operation[call], .blocked = {s.start[call], s.end(call)}});
    }
    // The device runs dry within the wait, and stays so until this thread has launched again.
    for (std::size_t i = first; i < waits.size(); ++i) {
      const auto after = std::ranges::upper_bound(starved[track], waits[i].blocked.end, {}, &Interval::begin);
      if (after == starved[track].begin()) continue;
      const Interval dry = *(after - 1);
      if (dry.begin >= waits[i].blocked.begin && dry.end > waits[i].blocked.end) waits[i].idle_after = std::min(dry.length(), waits[i].blocked.length());
    }
  }
  return waits;
}

std::vector<OpId> waiting_operations(const AdviceScene& scene, const SteadySteps& steps, std::span<const HostWait> waits) {
  std::vector<SliceId> calls;
  for (const HostWait& wait : waits) calls.push_back(wait.call);
  const Graph& graph = scene.lifted.graph;
  std::vector<OpId> found;
  for (const OpId op : operations_of(scene, everywhere(scene, steps, calls)))
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i)
      if (graph.dependencies.kind[i] == DependencyKind::synchronise) {
        found.push_back(op);
        break;
      }
  return found;
}

}  // namespace stepscope
