#include "analyze/question.h"

#include <algorithm>

namespace stepscope {

std::span<const SliceId> Scene::device_slices() const {
  if (device == nullptr) return {};
  const std::span<const SliceId> all = device->slices;
  if (whole_capture) return all;
  const auto start_of = [this](SliceId id) { return timeline.slices.start[id]; };
  const auto first = std::ranges::lower_bound(all, window.begin, {}, start_of);
  const auto last = std::ranges::lower_bound(first, all.end(), window.end, {}, start_of);
  return {first, last};
}

}  // namespace stepscope
