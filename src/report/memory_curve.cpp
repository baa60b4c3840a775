#include "report/memory_curve.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace stepscope {

namespace {

struct Report {
  Nanoseconds time;
  std::int64_t allocated, reserved;
};

void thin(const std::vector<Report>& reports, std::size_t most_points, MemoryCurve& curve) {
  const auto keep = [&](const Report& report) {
    curve.time.push_back(report.time);
    curve.allocated.push_back(report.allocated);
    curve.reserved.push_back(report.reserved);
  };
  if (reports.size() <= most_points) {
    for (const Report& report : reports) keep(report);
    return;
  }
  // Bins of equally many reports, not of equal time: where nothing is allocated nothing needs to be drawn.
  const std::size_t per_bin = (2 * reports.size() + most_points - 1) / most_points;
  for (std::size_t first = 0; first < reports.size(); first += per_bin) {
    const std::size_t next = std::min(first + per_bin, reports.size());
    std::size_t highest = first;
    for (std::size_t i = first; i < next; ++i) {
      if (reports[i].allocated > reports[highest].allocated) highest = i;
    }
    keep(reports[first]);
    if (highest != first) keep(reports[highest]);
  }
  if (curve.time.back() != reports.back().time) keep(reports.back());
}

}  // namespace

std::vector<MemoryCurve> memory_curves(const Timeline& timeline, std::size_t most_points) {
  using Key = std::tuple<std::uint32_t, std::int32_t, std::int32_t>;
  constexpr std::size_t most_curves = 64;
  std::map<Key, std::vector<const MemoryEvent*>> series;
  for (const MemoryEvent& event : timeline.memory) {
    const Key key{static_cast<std::uint32_t>(timeline.tracks[index(event.track)].rank), event.device_type, event.device};
    const auto found = series.find(key);
    if (found != series.end()) {
      found->second.push_back(&event);
    } else if (series.size() < most_curves) {
      series[key].push_back(&event);
    }
  }
  std::vector<MemoryCurve> curves;
  for (auto& [key, events] : series) {
    std::stable_sort(events.begin(), events.end(), [](const MemoryEvent* a, const MemoryEvent* b) { return a->time < b->time; });
    MemoryCurve curve;
    curve.rank = RankId{std::get<0>(key)};
    curve.device_type = std::get<1>(key);
    curve.device = std::get<2>(key);
    curve.events = events.size();
    curve.relative = std::any_of(events.begin(), events.end(), [](const MemoryEvent* event) { return event->total_allocated < 0; });
    std::vector<Report> reports;
    reports.reserve(events.size());
    std::int64_t change = 0;
    for (const MemoryEvent* event : events) {
      change += event->bytes;
      reports.push_back({event->time, curve.relative ? change : event->total_allocated, event->total_reserved});
    }
    thin(reports, most_points, curve);
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace stepscope
