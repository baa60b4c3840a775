// Memory over time for drawing: per device, the allocator's reports thinned so that every peak stays.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/timeline.h"

namespace stepscope {

struct MemoryCurve {
  RankId rank{};
  std::int32_t device_type = 0, device = 0;  // as MemoryEvent
  bool relative = false;                     // totals were not reported: allocated is the change since the capture began, and may be negative
  std::uint64_t events = 0;
  std::vector<std::int64_t> time;       // ns, increasing
  std::vector<std::int64_t> allocated;  // bytes after the event
  std::vector<std::int64_t> reserved;   // bytes; -1 = not reported
};

// Each few reports keep their first and their highest: at most about most_points per curve. At most 64 curves. O(events log events).
std::vector<MemoryCurve> memory_curves(const Timeline& timeline, std::size_t most_points);

}  // namespace stepscope
