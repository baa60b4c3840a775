// Tiles that stick out of the result: the tiles of a matrix kernel (as its name tells) cover more than 1.15 times the result. Of the two ways round the tile
// can lie, the better one counts. Threshold: 1 % of the step could be saved (ours). Gain: the kernel's time times result / tiles.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

// Of the tiles one way round; absent where the result is narrower than a tile: there the tile is what is wrong, not the size.
std::optional<double> covered(const Product& product, double rows, double columns) {
  if (product.m < rows || product.n < columns) return std::nullopt;
  return std::ceil(product.m / rows) * std::ceil(product.n / columns) * rows * columns;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  double wasted = 0, worst = 0;
  std::string example;
  for (const DeviceCall& call : e.calls()) {
    const auto product = product_of(*call.arguments);
    if (!product || call.rows.empty()) continue;
    // Memory bounds what a few rows do, and their tile does not matter.
    const auto bound = bound_ns(scene.gpu, *call.work, call.type);
    if (bound && scene.gpu->memory_bytes_per_second && call.work->bytes / *scene.gpu->memory_bytes_per_second * 1e9 > 0.5 * static_cast<double>(call.time))
      continue;
    for (const std::uint32_t row : call.rows) {
      const auto tile = tile_of(e.name(e.slices[row]));
      if (!tile) continue;
      const auto one_way = covered(*product, tile->rows, tile->columns), other_way = covered(*product, tile->columns, tile->rows);
      if (!one_way && !other_way) continue;
      const double all = std::min(one_way.value_or(*(other_way ? other_way : one_way)), other_way.value_or(*(one_way ? one_way : other_way)));
      const double useful = product->m * product->n / all;
      if (useful > 1 / 1.15) continue;
      const double duration = static_cast<double>(e.slices[row].duration()), waste = duration * (1 - useful);
      picked.add(row, waste);
      edits.add(e.slices[row].op, useful);
      if (e.slices[row].counted) wasted += waste;
      if (waste > worst) {
        worst = waste;
        example = fmt::format("{} in tiles of {:.0f} x {:.0f}", call.work->description, tile->rows, tile->columns);
      }
    }
  }
  if (e.share(wasted) < 0.01) return {};
  Finding f;
  f.title = "Tiles that stick out of the matrices";
  f.observation = fmt::format("{} of matrix kernels compute {} outside of their results, for example {}.", e.amount(picked.time()),
                              percent(wasted / picked.time()), example);
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "Choose micro-batch x sequence length, and sizes of layers, as multiples of the tile (128 or 256)"),
               flag("Megatron-LM", "--micro-batch-size and --tensor-model-parallel-size such that the local sizes are multiples of 128"),
               code("PyTorch", "torch.compile(mode='max-autotune') chooses tiles by measuring")};
  f.would_settle = "A run at the next size that is a multiple of the tile.";
  return {f};
}

}  // namespace

extern const Rule gemm_tile_quantization_rule{
    .name = "gemm.tile_quantization",
    .help = "Tiles of matrix kernels stick out of their results.",
    .guard = "Kernels whose tile the name does not tell, results narrower than a tile, and products that memory bounds.",
    .source = "NVIDIA, Matrix Multiplication Background (DU-09799), tile quantisation; 1.15 and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
