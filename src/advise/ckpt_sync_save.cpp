// ckpt.sync_save: training stands still while a checkpoint is copied off the device and written.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.01;  // of the time of the steps it happens in

bool names_saving(std::string_view name) {
  for (const std::string_view part :
       {"save_checkpoint", "checkpoint_save", "save-checkpoint", "torch/serialization.py", "state_dict_saver.py", "dcp.save", "dcp_save", "torch.save"})
    if (has_text(name, part) && !has_text(name, "load") && !has_text(name, "async")) return true;
  return false;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  const SteadySteps steps(scene);
  const ThreadOperations threads(scene);
  const Graph& graph = scene.lifted.graph;
  std::vector<SliceId> saves;
  Nanoseconds total = 0;
  bool in_steady = false;
  std::vector<OpId> operations;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (!threads.launches(TrackId{track})) continue;  // a thread that only saves holds nothing up
    const auto slices = scene.timeline.on_track(TrackId{track});
    Nanoseconds until = scene.lifted.when.begin;
    for (auto at = std::ranges::lower_bound(slices, until, {}, [&](SliceId id) { return s.start[id]; });
         at != slices.end() && s.start[*at] < scene.lifted.when.end; ++at) {
      const SliceId id = *at;
      if (s.start[id] < until || (s.kind[id] != SliceKind::annotation && s.kind[id] != SliceKind::python_function) || !names_saving(scene.timeline.name_of(id)))
        continue;
      until = s.end(id);  // outermost only
      saves.push_back(id);
      total += s.duration[id];
      in_steady |= steps.on_host(scene.timeline.tracks[track].rank, s.start[id]);
      // Copies off the device, and waiting for them, must be done in any case.
      for (const OpId op : threads.within(TrackId{track}, {s.start[id], s.end(id)})) {
        const OperationClass c = graph.operations.operation_class[op];
        if (c != OperationClass::launch && c != OperationClass::synchronisation) operations.push_back(op);
      }
    }
  }
  if (saves.empty() || steps.share(total) < least_share) return {};
  std::int64_t bytes = 0;
  for (const DeviceFacts& device : scene.facts.devices)
    for (const SliceId save : saves) {
      auto at = std::ranges::lower_bound(device.slices, s.start[save], {}, [&](SliceId id) { return s.start[id]; });
      for (; at != device.slices.end() && s.start[*at] < s.end(save); ++at)
        if (has_text(scene.timeline.name_of(*at), "DtoH")) bytes += bytes_moved(scene, *at).value_or(0);
    }
  Finding found;
  found.title = "Saving a checkpoint holds training up";
  found.observation =
      fmt::format("{} ({}) keep the launching thread for {}; {:.1f} MB are copied off the device in it.", times_text(saves.size(), "save", "saves"),
                  scene.timeline.name_of(saves.front()), format_duration(total), static_cast<double>(bytes) / 1e6);
  if (in_steady && !operations.empty())
    found.edits = {edit_of("free", std::move(operations))};
  else
    found.unknown = "It happens in steps that are left out of means: how often it is saved must be known to spread it over all steps.";
  found.evidence = most_telling(scene, std::move(saves));
  found.changes = {{"PyTorch", Change::Form::code, "torch.distributed.checkpoint.async_save(...): only the copies off the device hold the step up"},
                   {"Megatron-LM", Change::Form::flag, "--async-save --ckpt-assume-constant-structure"},
                   {"torchtitan", Change::Form::flag, "--checkpoint.async_mode async_with_pinned_mem"}};
  found.confidence = Confidence::high;
  found.would_settle = "How often it is saved (marks of many steps).";
  return {std::move(found)};
}

}  // namespace

extern const Rule ckpt_sync_save_rule{
    .name = "ckpt.sync_save",
    .help = "Saving a checkpoint holds training up.",
    .guard = "Asynchronous saves; saving on a thread that launches nothing.",
    .source = "PyTorch, torch.distributed.checkpoint.async_save; 1 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
