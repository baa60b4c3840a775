// The rows of one rank: which device slices it launched in the window asked about, and columns of a question's own over the rank's slices only, so that
// asking every rank of a large run costs no more than its slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/question.h"
#include "base/column.h"

namespace stepscope {

// The tracks of the scene's rank.
inline std::vector<TrackId> tracks_of_rank(const Scene& scene) {
  std::vector<TrackId> tracks;
  for (std::size_t i = 0; i < scene.timeline.tracks.size(); ++i)
    if (scene.timeline.tracks[i].rank == scene.rank) tracks.push_back(TrackId{static_cast<std::uint32_t>(i)});
  return tracks;
}

// The rows [begin, end) among which all slices of the scene's rank are (a reader adds one rank after the other, so few others are).
struct RowRange {
  std::size_t begin = 0, end = 0;
};
inline RowRange rows_of_rank(const Scene& scene) {
  if (scene.timeline.ranks.size() == 1) return {0, scene.timeline.slices.size()};
  RowRange rows{scene.timeline.slices.size(), 0};
  for (const TrackId track : tracks_of_rank(scene)) {
    for (const SliceId id : scene.timeline.on_track(track)) {
      rows.begin = std::min(rows.begin, index(id));
      rows.end = std::max(rows.end, index(id) + 1);
    }
  }
  return rows.begin < rows.end ? rows : RowRange{};
}

// One value per slice of the scene's rank.
template <class T>
class RankColumn {
 public:
  explicit RankColumn(const Scene& scene, T value = T{}) {
    const RowRange rows = rows_of_rank(scene);
    begin_ = rows.begin;
    values_.resize(rows.end - rows.begin, value);
  }
  T& operator[](SliceId id) { return values_[index(id) - begin_]; }
  const T& operator[](SliceId id) const { return values_[index(id) - begin_]; }
  bool contains(SliceId id) const { return index(id) >= begin_ && index(id) - begin_ < values_.size(); }

 private:
  std::size_t begin_ = 0;
  Column<T> values_;
};

// In a question of scope rank the window is host time: a device slice belongs to it when its launch does, one without launch record when it starts in it.
inline bool belongs_to_window(const Scene& scene, SliceId device_slice) {
  if (scene.whole_capture) return true;
  const SliceId launch = scene.facts.launch[device_slice];
  return scene.window.contains(scene.timeline.slices.start[launch == no_id<SliceId> ? device_slice : launch]);
}

// Calls visit(slice) for each device slice of the rank's devices that belongs to the window.
template <class Visit>
void for_each_device_slice(const Scene& scene, Visit visit) {
  for (const DeviceFacts& device : scene.facts.devices) {
    if (device.rank != scene.rank) continue;
    for (const SliceId id : device.slices)
      if (belongs_to_window(scene, id)) visit(id);
  }
}

}  // namespace stepscope
