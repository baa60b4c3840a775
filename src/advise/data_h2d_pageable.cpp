// data.h2d_pageable: copies to the device from pageable memory: the driver stages them, and the calling thread waits until they are done.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr std::int64_t least_bytes = 64 * 1024;  // smaller ones are staged at little cost
constexpr double slow = 0.5;                     // of what the link does: then pinned memory makes the copy itself shorter
constexpr double pinned = 0.8;                   // of the link's rate is what copies from pinned memory reach: ours

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> copies;
  std::int64_t bytes = 0;
  double best_pinned = 0;  // bytes per ns
  for (const SliceId id : steps.on_devices()) {
    if (s.kind[id] != SliceKind::copy || s.duration[id] <= 0) continue;
    const std::string_view name = scene.timeline.name_of(id);
    const std::optional<std::int64_t> moved = bytes_moved(scene, id);
    if (!moved || *moved < least_bytes || !has_text(name, "HtoD")) continue;
    if (has_text(name, "Pinned")) best_pinned = std::max(best_pinned, static_cast<double>(*moved) / static_cast<double>(s.duration[id]));
    if (!has_text(name, "Pageable")) continue;
    copies.push_back(id);
    bytes += *moved;
  }
  if (copies.empty()) return {};
  const Nanoseconds time = total_time(scene, copies);
  // The copy's own call waits, or a synchronisation behind it in the same operator.
  std::set<SliceId> calls, operations;
  for (const SliceId id : copies) {
    calls.insert(scene.facts.launch[id]);
    operations.insert(scene.facts.operation[id]);
  }
  std::vector<HostWait> waits;
  Nanoseconds blocked = 0;
  for (const HostWait& wait : host_waits(scene, steps)) {
    if (!calls.contains(wait.call) && (wait.operation == no_id<SliceId> || !operations.contains(wait.operation))) continue;
    waits.push_back(wait);
    blocked += wait.blocked.length();
  }
  const double rate = static_cast<double>(bytes) / static_cast<double>(time);
  const double reachable = best_pinned > 0 ? best_pinned
                           : scene.gpu != nullptr && scene.gpu->host_link_bytes_per_second_each_way
                               ? pinned * *scene.gpu->host_link_bytes_per_second_each_way / 1e9
                               : 0;
  Finding found;
  found.title = "Copies to the device from pageable memory";
  found.observation =
      fmt::format("{} to the device, {} per step, come from pageable memory at {:.1f} GB/s; the calling thread waits {} per step for them.",
                  times_text(copies.size(), "copy", "copies"), format_duration(steps.per_step(time)), rate, format_duration(steps.per_step(blocked)));
  std::vector<OpId> waiting = waiting_operations(scene, steps, waits);
  if (!waiting.empty()) found.edits.push_back(edit_of("no_sync", std::move(waiting)));
  if (reachable > 0 && rate < slow * reachable) {
    found.edits.push_back(edit_of("scale", operations_of(scene, everywhere(scene, steps, copies)), {{"by", fmt::format("{:.6f}", rate / reachable)}}));
    found.observation +=
        fmt::format(" Pinned memory reaches {:.1f} GB/s {}.", reachable, best_pinned > 0 ? "in this trace" : "on this link (80 % of its rate)");
  }
  if (found.edits.empty()) {
    found.unknown = "No thread waits for these copies, and what the link could do is not known: name the GPU.";
    if (steps.share(time) < 0.005) return {};
  }
  found.evidence = most_telling(scene, std::move(copies));
  found.changes = {{"PyTorch", Change::Form::code, "DataLoader(..., pin_memory=True) and batch.to(device, non_blocking=True)"},
                   {"PyTorch", Change::Form::code, "A batch of a class of your own needs a method pin_memory() that pins its tensors and returns it"}};
  found.confidence = Confidence::high;
  return {std::move(found)};
}

}  // namespace

extern const Rule data_h2d_pageable_rule{
    .name = "data.h2d_pageable",
    .help = "Copies to the device come from pageable memory and hold the thread up.",
    .guard = "Copies below 64 KiB.",
    .source = "PyTorch performance tuning guide; 80 % of the link's rate from pinned memory: ours",
    .detect = detect,
};

}  // namespace stepscope
