#include "advise/memory_levels.h"

#include <algorithm>
#include <map>

namespace stepscope {

std::vector<MemoryPeak> memory_peaks(const AdviceScene& scene) {
  std::map<std::pair<RankId, std::int32_t>, MemoryPeak> peaks;
  for (const MemoryEvent& event : scene.timeline.memory) {
    if (event.device_type == 0 || event.total_reserved < 0 || event.total_allocated < 0) continue;
    const RankId rank = scene.timeline.tracks[index(event.track)].rank;
    MemoryPeak& peak = peaks[{rank, event.device}];
    peak.rank = rank;
    peak.device = event.device;
    peak.reserved = std::max(peak.reserved, event.total_reserved);
    peak.allocated = std::max(peak.allocated, event.total_allocated);
  }
  std::vector<MemoryPeak> found;
  for (auto& [key, peak] : peaks) {
    for (const Device& device : scene.timeline.devices)
      if (device.rank == peak.rank && device.number == peak.device && device.memory_bytes > 0) peak.capacity = static_cast<double>(device.memory_bytes);
    if (peak.capacity == 0 && scene.gpu != nullptr) peak.capacity = scene.gpu->memory_bytes.value_or(0);
    found.push_back(peak);
  }
  return found;
}

}  // namespace stepscope
