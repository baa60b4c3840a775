#include "analyze/device_names.h"

#include <algorithm>

namespace stepscope {

std::vector<NameSpread> spread_by_name(const Scene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  const std::span<const SliceId> slices = scene.device_slices();
  // Counting sort of the durations by name.
  constexpr std::uint32_t no_row = 0xFFFF'FFFFu;
  Column<std::uint32_t> row_of_name;
  row_of_name.resize(scene.timeline.names.size(), no_row);
  std::vector<NameSpread> names;
  std::vector<std::size_t> place;  // of each row's next duration
  for (const SliceId id : slices) {
    std::uint32_t& row = row_of_name[s.name[id]];
    if (row == no_row) {
      row = static_cast<std::uint32_t>(names.size());
      names.push_back({s.name[id], scene.facts.activity[id], {}});
      place.push_back(0);
    }
    ++place[row];
  }
  std::size_t before = 0;
  std::vector<std::size_t> first;
  for (std::size_t& count : place) {
    first.push_back(before);
    before += std::exchange(count, before);
  }
  std::vector<Nanoseconds> durations(slices.size());
  for (const SliceId id : slices) durations[place[row_of_name[s.name[id]]]++] = s.duration[id];
  for (std::size_t row = 0; row < names.size(); ++row) names[row].spread = spread(std::span(durations).subspan(first[row], place[row] - first[row]));
  std::ranges::sort(names, [&](const NameSpread& a, const NameSpread& b) {
    if (a.spread.total != b.spread.total) return a.spread.total > b.spread.total;
    return scene.timeline.names[a.name] < scene.timeline.names[b.name];
  });
  return names;
}

}  // namespace stepscope
