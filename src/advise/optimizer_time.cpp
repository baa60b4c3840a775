#include "advise/optimizer_time.h"

#include <algorithm>

namespace stepscope {

OptimizerTime::OptimizerTime(const AdviceScene& scene) : ranges_(scene.timeline.ranks.size()), updates_(scene.timeline.ranks.size()) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  const auto start_of = [&](SliceId id) { return s.start[id]; };
  std::vector<std::vector<Nanoseconds>> backward_ends(timeline.ranks.size());
  for (std::uint32_t track = 0; track < timeline.tracks.size(); ++track) {
    if (timeline.tracks[track].kind != TrackKind::thread) continue;
    const std::size_t rank = index(timeline.tracks[track].rank);
    const auto slices = timeline.on_track(TrackId{track});
    for (auto at = std::ranges::lower_bound(slices, scene.lifted.when.begin, {}, start_of); at != slices.end() && s.start[*at] < scene.lifted.when.end; ++at) {
      const SliceId id = *at, parent = scene.facts.parent[id];
      const bool outermost = parent == no_id<SliceId> || scene.facts.phase[parent] != scene.facts.phase[id];
      if (!outermost) continue;
      if (s.kind[id] == SliceKind::annotation && scene.facts.phase[id] == Phase::optimizer && !timeline.name_of(id).starts_with("Optimizer.zero_grad"))
        ranges_[rank].push_back(id);
      if (s.kind[id] == SliceKind::operation && scene.facts.phase[id] == Phase::backward) backward_ends[rank].push_back(s.end(id));
    }
  }
  for (std::size_t rank = 0; rank < ranges_.size(); ++rank) {
    std::ranges::sort(ranges_[rank], {}, start_of);
    std::ranges::sort(backward_ends[rank]);
    for (const SliceId range : ranges_[rank]) {
      const auto after = std::ranges::upper_bound(backward_ends[rank], s.start[range]);
      if (after != backward_ends[rank].begin()) updates_[rank].push_back({*(after - 1), s.end(range)});
    }
  }
  for (const DeviceFacts& device : scene.facts.devices) {
    auto at = std::ranges::lower_bound(device.slices, scene.lifted.when.begin, {}, start_of);
    for (; at != device.slices.end() && s.start[*at] < scene.lifted.when.end; ++at)
      if (s.kind[*at] == SliceKind::copy && scene.facts.operation[*at] != no_id<SliceId>) copies_[scene.facts.operation[*at]].push_back(*at);
  }
}

bool OptimizerTime::before_update(RankId rank, Nanoseconds time) const {
  // Updates of one step share their begin and are looked at together: the last that begins before.
  const std::vector<Interval>& updates = updates_[index(rank)];
  const auto at = std::ranges::upper_bound(updates, time, {}, &Interval::begin);
  return at != updates.begin() && (at - 1)->contains(time);
}

std::span<const SliceId> OptimizerTime::copies_of(SliceId operation) const {
  const auto found = copies_.find(operation);
  return found == copies_.end() ? std::span<const SliceId>() : std::span<const SliceId>(found->second);
}

}  // namespace stepscope
