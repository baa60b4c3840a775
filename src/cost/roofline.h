// Roofline: how fast a GPU could do an operator's work at best.
#pragma once

#include <optional>

#include "cost/operator_cost.h"
#include "machine/gpu.h"

namespace stepscope {

// Operations per second that a work's units reach; absent where the GPU's description lacks it.
std::optional<double> work_rate(const Gpu& gpu, const Work& work, DataType type);
// Roofline bound of one call, seconds: max(FLOPs / rate, bytes / bandwidth); absent where a figure that matters is unknown.
struct Bound {
  double seconds = 0;
  bool by_compute = false;  // else by memory
};
std::optional<Bound> roofline_bound(const Gpu& gpu, const Work& work, DataType type);

}  // namespace stepscope
