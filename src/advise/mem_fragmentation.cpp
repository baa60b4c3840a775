// mem.fragmentation: the allocator holds much more memory than is in use, on a device that is nearly full.
#include <fmt/core.h>

#include "advise/evidence_host.h"
#include "advise/memory_levels.h"

namespace stepscope {

namespace {

constexpr double least_unused = 0.20;  // of what is reserved
constexpr double least_filled = 0.70;  // of the device: ours; on an empty device it costs nothing

std::vector<Finding> detect(const AdviceScene& scene) {
  const MemoryPeak* worst = nullptr;
  const std::vector<MemoryPeak> peaks = memory_peaks(scene);
  const auto unused = [](const MemoryPeak& peak) { return 1 - static_cast<double>(peak.allocated) / static_cast<double>(peak.reserved); };
  for (const MemoryPeak& peak : peaks) {
    if (peak.reserved <= 0 || peak.capacity <= 0 || static_cast<double>(peak.reserved) < least_filled * peak.capacity || unused(peak) < least_unused) continue;
    if (worst == nullptr || unused(peak) > unused(*worst)) worst = &peak;
  }
  if (worst == nullptr) return {};
  constexpr double gib = 1024.0 * 1024 * 1024;
  Finding found;
  found.title = "The allocator holds memory that it cannot use";
  found.observation = fmt::format("Rank {} reserves {:.1f} GiB of {:.1f} GiB, but at most {:.1f} GiB are ever in use: {} lie in pieces.",
                                  scene.timeline.ranks[index(worst->rank)].number, static_cast<double>(worst->reserved) / gib, worst->capacity / gib,
                                  static_cast<double>(worst->allocated) / gib, percent(unused(*worst)));
  found.changes = {{"environment", Change::Form::environment, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                   {"PyTorch", Change::Form::code, "Batches of the same shapes, so that blocks are used again"}};
  found.confidence = Confidence::medium;
  found.unknown = "It costs no time as it is: it takes room that a larger micro-batch or less recomputation could use.";
  found.would_settle = "A snapshot of the allocator (torch.cuda.memory._dump_snapshot): which blocks lie between.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_fragmentation_rule{
    .name = "mem.fragmentation",
    .help = "Far more memory is reserved than used on a nearly full device.",
    .guard = "Devices that are not nearly full.",
    .source = "PyTorch notes on CUDA memory management; 20 %: proposed; 70 % of the device: ours",
    .detect = detect,
};

}  // namespace stepscope
