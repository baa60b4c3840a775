// mem.cudamalloc_retry: the allocator asks the driver for memory, or gives some back, in steady steps. Giving back waits for the whole device.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.001;  // of the step, blocked: ours (any at all was proposed, which reports what costs nothing)

bool asks_driver(std::string_view call) {
  for (const std::string_view one :
       {"cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease", "cuMemSetAccess", "cuMemAddressReserve"})
    if (call == one) return true;
  return false;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const ThreadOperations threads(scene);
  std::vector<SliceId> calls;
  std::map<std::string_view, std::size_t> by_name;
  for (const SliceId id : steps.on_threads()) {
    if (!is_api_call(s.kind[id]) || !asks_driver(scene.timeline.name_of(id)) || !threads.launches(s.track[id])) continue;
    const SliceId parent = scene.facts.parent[id];
    if (parent != no_id<SliceId> && is_api_call(s.kind[parent])) continue;
    calls.push_back(id);
    ++by_name[scene.timeline.name_of(id)];
  }
  const Nanoseconds time = total_time(scene, calls);
  if (calls.empty() || steps.share(time) < least_share) return {};
  // A capture of one step may be the first of its run, in which all memory is new.
  const bool warmed = steps.steps_of_each() >= 2;
  std::string counts;
  for (const auto& [name, count] : by_name) counts += fmt::format("{}{} × {}", counts.empty() ? "" : ", ", count, name);
  Finding found;
  found.title = "The allocator asks the driver for memory in the step";
  found.observation = fmt::format("{} take {} per step ({}) on launching threads.", counts, format_duration(steps.per_step(time)), percent(steps.share(time)));
  if (!warmed) found.observation += " This capture holds one step only: in a first step all memory is new.";
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, calls)))};
  found.evidence = most_telling(scene, std::move(calls));
  found.changes = {{"environment", Change::Form::environment, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                   {"PyTorch", Change::Form::code, "No torch.cuda.empty_cache() in the loop; a smaller micro-batch or recomputation where memory is full"}};
  found.confidence = !warmed ? Confidence::low : by_name.size() > 1 ? Confidence::high : Confidence::medium;
  found.would_settle = warmed ? "torch.cuda.memory_stats(): num_alloc_retries, num_device_alloc."
                              : "A capture of several steps after the first few: in a first step all memory is new.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_cudamalloc_retry_rule{
    .name = "mem.cudamalloc_retry",
    .help = "Device memory is allocated from or returned to the driver in steady steps.",
    .guard = "The first and last steps; a capture of one step only (low confidence); threads that launch nothing.",
    .source = "PyTorch notes on CUDA memory management; 0.1 % of the step: ours",
    .detect = detect,
};

}  // namespace stepscope
