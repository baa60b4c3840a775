// What the allocator reported of devices' memory: the moment at which most was reserved.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/rule.h"

namespace stepscope {

struct MemoryPeak {
  RankId rank{};
  std::int32_t device = -1;
  std::int64_t reserved = 0;   // the most at any time
  std::int64_t allocated = 0;  // the most at any time
  double capacity = 0;         // of the device; 0 = not known
  double free_share() const { return capacity > 0 ? 1 - static_cast<double>(reserved) / capacity : 0; }
};

// Of devices whose allocator reported both totals, by rank and device.
std::vector<MemoryPeak> memory_peaks(const AdviceScene& scene);

}  // namespace stepscope
