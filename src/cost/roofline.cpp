#include "cost/roofline.h"

#include <algorithm>

namespace stepscope {

std::optional<double> work_rate(const Gpu& gpu, const Work& work, DataType type) {
  if (work.matrix_units) return gpu.matrix_rate(type);
  // Ordinary units compute half precision in fp32 registers.
  return type == DataType::fp64 || type == DataType::complex128 ? gpu.vector_fp64 : gpu.vector_fp32;
}

std::optional<Bound> roofline_bound(const Gpu& gpu, const Work& work, DataType type) {
  const std::optional<double> rate = work.flops > 0 ? work_rate(gpu, work, type) : std::optional(1.0);
  if (!rate || !gpu.memory_bytes_per_second) return std::nullopt;
  const double compute = work.flops / *rate, memory = work.bytes / *gpu.memory_bytes_per_second;
  return Bound{std::max(compute, memory), compute > memory};
}

}  // namespace stepscope
