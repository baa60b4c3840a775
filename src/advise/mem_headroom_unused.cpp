// mem.headroom_unused: memory is left that a larger micro-batch or less recomputation could use.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"
#include "advise/memory_levels.h"

namespace stepscope {

namespace {

constexpr double least_free = 0.20;  // of the fullest device

std::vector<Finding> detect(const AdviceScene& scene) {
  const std::vector<MemoryPeak> peaks = memory_peaks(scene);
  if (peaks.empty() || std::ranges::any_of(peaks, [](const MemoryPeak& peak) { return peak.capacity <= 0; })) return {};
  const SteadySteps steps(scene);
  bool trains = false;
  for (const SliceId id : steps.on_devices()) trains |= scene.facts.phase[id] == Phase::backward;
  if (!trains) return {};  // of inference, requests decide
  const MemoryPeak fullest = *std::ranges::min_element(peaks, {}, &MemoryPeak::free_share);
  if (fullest.free_share() < least_free) return {};
  constexpr double gib = 1024.0 * 1024 * 1024;
  Finding found;
  found.title = "Memory is left unused";
  found.observation = fmt::format("Even the fullest device reserves at most {:.1f} of {:.1f} GiB in this capture: {} are free.",
                                  static_cast<double>(fullest.reserved) / gib, fullest.capacity / gib, percent(fullest.free_share()));
  found.changes = {{"Megatron-LM", Change::Form::flag, "--micro-batch-size, twice what it is"},
                   {"torchtitan", Change::Form::flag, "--training.local_batch_size, twice what it is"},
                   {"DeepSpeed", Change::Form::code, "\"train_micro_batch_size_per_gpu\", twice what it is"}};
  found.confidence = Confidence::medium;
  found.unknown = "What a larger micro-batch takes depends on kernels of shapes that did not run here.";
  found.would_settle = "A run with twice the micro-batch; memory outside of the allocator (nvidia-smi), of which communication and graphs need 5 to 10 %.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_headroom_unused_rule{
    .name = "mem.headroom_unused",
    .help = "A fifth or more of the memory is never used.",
    .guard = "Inference; devices whose memory is not known; 5 to 10 % that communication and graphs need.",
    .source = "Megatron Bridge performance guide; 80 % reserved: proposed",
    .detect = detect,
};

}  // namespace stepscope
