// Which description of a GPU a device of a trace is held against.
#pragma once

#include "facts/facts.h"
#include "machine/gpu.h"
#include "timeline/timeline.h"

namespace stepscope {

// By the name and memory that the trace reports; null where it does not say, or no description is known.
const Gpu* gpu_of_device(const Timeline& timeline, const DeviceFacts& device);

}  // namespace stepscope
