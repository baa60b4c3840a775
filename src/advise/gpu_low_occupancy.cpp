// Kernels with fewer blocks than the device has multiprocessors, of 20 µs or more, not bound by memory. Threshold: 5 % of the step. Gain: time x blocks /
// multiprocessors, if the work can be divided further.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_device.h"
#include "base/kernel_name.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  std::map<std::string, double> by_name;
  std::map<std::uint32_t, bool> fast;  // reaches half of its roofline
  for (const DeviceCall& call : e.calls()) {
    const auto bound = bound_ns(scene.gpu, *call.work, call.type);
    for (const std::uint32_t row : call.rows) fast[row] = bound && *bound > 0.5 * static_cast<double>(call.time);
  }
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::compute || one.duration() < 20'000) continue;
    const auto blocks = e.blocks(one), multiprocessors = e.multiprocessors(one);
    if (!blocks || !multiprocessors || *blocks >= *multiprocessors) continue;
    // A persistent kernel chooses a number of blocks near that of multiprocessors.
    if (*blocks > 0.8 * *multiprocessors || has_any_text(e.name(one), {"ersistent", "nvjet", "spin"})) continue;
    if (const auto found = fast.find(row); found != fast.end() && found->second) continue;
    picked.add(row);
    edits.add(one.op, *blocks / *multiprocessors);
    if (one.counted) by_name[short_kernel_name(e.name(one))] += static_cast<double>(one.duration());
  }
  if (picked.share() < 0.05) return {};
  const auto most = std::ranges::max_element(by_name, {}, [](const auto& entry) { return entry.second; });
  Finding f;
  f.title = "Kernels that use a part of the device";
  f.observation = fmt::format(
      "{} kernels have fewer blocks than the device has multiprocessors: {}; most of it in {} ({}). The gain holds where their work can be divided further.",
      picked.count(), e.amount(picked.time()), most->first, e.amount(most->second));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "A larger batch, or several small operations as one (stacked tensors, torch._foreach_*, grouped products)"),
               code("PyTorch", "torch.compile(mode='max-autotune') for split-K products and split reductions"),
               code("PyTorch", "Independent branches on streams of their own (torch.cuda.Stream), captured in a CUDA graph")};
  f.confidence = Confidence::low;
  f.would_settle = "Whether the kernel's work can be divided: a profile of it with Nsight Compute.";
  return {f};
}

}  // namespace

extern const Rule gpu_low_occupancy_rule{
    .name = "gpu.low_occupancy",
    .help = "Kernels have fewer blocks than the device has multiprocessors.",
    .guard = "Persistent kernels, communication, kernels that memory bounds anyway.",
    .source = "NVIDIA, Matrix Multiplication Background (DU-09799); 5 % and 20 µs ours",
    .detect = detect,
};

}  // namespace stepscope
