#include "verbs/device_gpu.h"

namespace stepscope {

const Gpu* gpu_of_device(const Timeline& timeline, const DeviceFacts& device) {
  const Device& described = timeline.devices[index(device.device)];
  if (!described.gpu_name.empty()) return match_gpu(described.gpu_name, static_cast<double>(described.memory_bytes));
  // ROCm numbers slices' devices after the processors, so that a slice's device may have no description: where all described ones are alike, it is one of
  // them.
  const Device* alike = nullptr;
  for (const Device& other : timeline.devices) {
    if (other.rank != device.rank || other.gpu_name.empty()) continue;
    if (alike != nullptr && (alike->gpu_name != other.gpu_name || alike->memory_bytes != other.memory_bytes)) return nullptr;
    alike = &other;
  }
  return alike == nullptr ? nullptr : match_gpu(alike->gpu_name, static_cast<double>(alike->memory_bytes));
}

}  // namespace stepscope
