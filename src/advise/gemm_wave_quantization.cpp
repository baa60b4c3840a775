// A last wave of tiles that leaves most of the device idle: blocks / (multiprocessors x blocks that fit one) is above 1 and below 4 waves, of which less than
// 0.8 is used. How many blocks fit one multiprocessor comes from the recorded registers (65,536) and shared memory (as much as the architecture has).
// Threshold: 1 % of the step (ours). Gain: the kernel's time times waves / whole waves.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "advise/evidence_device.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

using namespace on_device;

double blocks_per_multiprocessor(const DeviceEvidence& e, const DeviceSlice& one) {
  const std::string_view detail = e.scene.timeline.detail_of(one.slice);
  const auto registers = recorded_number(detail, "registers per thread"), shared = recorded_number(detail, "shared memory");
  const auto block = recorded_argument(detail, "block");
  double threads = 1;
  if (block)
    for (const char* at = block->data(); at < block->data() + block->size();) {
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(at, block->data() + block->size(), number);
      if (error == std::errc{})
        threads *= number, at = end;
      else
        ++at;
    }
  double fit = 32;
  if (registers && *registers > 0 && threads > 0) fit = std::min(fit, std::floor(65'536 / (static_cast<double>(*registers) * threads)));
  const double shared_per_multiprocessor = e.capability(one) == 80 ? 164e3 : e.capability(one) >= 90 ? 228e3 : 100e3;
  if (shared && *shared > 0) fit = std::min(fit, std::floor(shared_per_multiprocessor / static_cast<double>(*shared)));
  return std::max(1.0, fit);
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  double wasted = 0, worst = 0;
  std::string example;
  for (const DeviceCall& call : e.calls()) {
    if (!call.work->matrix_units || call.cost->category != OperatorCategory::gemm) continue;
    for (const std::uint32_t row : call.rows) {
      const DeviceSlice& one = e.slices[row];
      const std::string_view name = e.name(one);
      if (!has_text(name, "gemm") || has_any_text(name, {"splitK", "split_k", "streamk", "stream_k", "StreamK", "nvjet", "ersistent"}) ||
          e.capability(one) == 0)
        continue;
      const auto blocks = e.blocks(one), multiprocessors = e.multiprocessors(one);
      if (!blocks || !multiprocessors) continue;
      const double waves = *blocks / (*multiprocessors * blocks_per_multiprocessor(e, one));
      const double used = waves / std::ceil(waves);
      if (waves <= 1 || waves >= 4 || used >= 0.8) continue;
      const double waste = static_cast<double>(one.duration()) * (1 - used);
      picked.add(row, waste);
      edits.add(one.op, used);
      if (one.counted) wasted += waste;
      if (waste > worst) worst = waste, example = fmt::format("{}: {:.0f} blocks make {:.2f} waves", call.work->description, *blocks, waves);
    }
  }
  if (e.share(wasted) < 0.01) return {};
  Finding f;
  f.title = "Last wave of matrix kernels mostly empty";
  f.observation = fmt::format("{} matrix kernels ({}) end in a wave that few multiprocessors take part in, for example {}.", picked.count(),
                              e.amount(picked.time()), example);
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "Choose micro-batch x sequence length so that the tiles fill whole waves of the multiprocessors"),
               code("PyTorch", "torch.compile(mode='max-autotune') tries split-K and other tiles"),
               code("NCCL", "NCCL_MAX_CTAS (fewer multiprocessors for communication) where it runs beside these kernels")};
  f.confidence = Confidence::low;
  f.would_settle = "A run with a slightly smaller or larger batch; the kernels' true occupancy (Nsight Compute).";
  return {f};
}

}  // namespace

extern const Rule gemm_wave_quantization_rule{
    .name = "gemm.wave_quantization",
    .help = "The last wave of a matrix kernel uses few multiprocessors.",
    .guard = "Split-K, stream-K and persistent kernels, and GPUs whose waves are not known.",
    .source = "NVIDIA, Matrix Multiplication Background (DU-09799), wave quantisation; 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
