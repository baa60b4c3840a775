#include "report/path_view.h"

#include <algorithm>

#include "simulate/critical_path.h"

namespace stepscope {

namespace {

constexpr Nanoseconds seen_in_a_window = 2000;  // a part of 1/2000 of a window is half a pixel of a wide screen

std::vector<PathStretch> stretches_of(const Graph& graph, const CriticalPath& path, const std::vector<std::uint32_t>& row_of_track) {
  std::vector<PathStretch> stretches;
  const Nanoseconds least_wait = path.window.length() / seen_in_a_window;
  for (const PathPart& part : path.parts) {
    const TrackId track = graph.place_of(part.operation).track;
    const std::uint32_t row = track == no_id<TrackId> || index(track) >= row_of_track.size() ? no_item : row_of_track[index(track)];
    if (row == no_item) continue;
    const bool waits = part.dependency != no_dependency && part.interval.length() >= least_wait;
    if (!stretches.empty() && stretches.back().track == row && stretches.back().waits == waits && stretches.back().interval.end == part.interval.begin) {
      stretches.back().interval.end = part.interval.end;
    } else {
      stretches.push_back({row, part.interval, waits});
    }
  }
  return stretches;
}

}  // namespace

std::vector<ViewPath> view_paths(const Lifted& lifted, const ReplayTimes& times, const TimelineView& view, std::size_t most_stretches) {
  std::vector<std::uint32_t> row_of_track;
  for (std::uint32_t row = 0; row < view.tracks.size(); ++row) {
    const TrackId track = view.tracks[row].track;
    if (track == no_id<TrackId>) continue;
    if (index(track) >= row_of_track.size()) row_of_track.resize(index(track) + 1, no_item);
    row_of_track[index(track)] = row;
  }
  std::vector<const GraphWindow*> windows;
  for (const GraphWindow& window : lifted.windows)
    if (window.device != no_id<DeviceId>) windows.push_back(&window);
  std::ranges::stable_sort(windows, {}, [](const GraphWindow* window) { return std::pair(window->outlier, window->step); });
  std::vector<ViewPath> paths;
  std::size_t stretches = 0;
  for (const GraphWindow* window : windows) {
    const CriticalPath path = critical_path(lifted.graph, times, window->begin, window->end);
    ViewPath shown{.rank = window->rank,
                   .device = window->device,
                   .step = window->step == no_step ? std::nullopt : std::optional(window->number),
                   .window = path.window,
                   .stretches = stretches_of(lifted.graph, path, row_of_track)};
    stretches += shown.stretches.size();
    if (stretches > most_stretches) break;
    if (!shown.stretches.empty()) paths.push_back(std::move(shown));
  }
  return paths;
}

}  // namespace stepscope
