// The host waits for the numbers of tokens before each exchange: a copy of at most 4 KiB to the host, waited for, then an all-to-all launched by the same
// thread. Threshold: half of the all-to-alls, and at least two (ours). Gain: the waits are gone.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/evidence_collective.h"
#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  const CollectiveEvidence c(scene);
  const SliceColumns& s = scene.timeline.slices;
  // Launches of small copies to the host, by thread and time.
  std::map<SliceId, std::int64_t> small;
  for (const TransferFact& transfer : scene.timeline.transfers)
    if (transfer.bytes <= 4'096 && has_text(c.e.name(transfer.slice), "DtoH")) small[transfer.slice] = transfer.bytes;
  std::vector<std::pair<TrackId, std::pair<Nanoseconds, SliceId>>> copies;
  for (const auto& [slice, bytes] : small)
    if (const SliceId launch = scene.facts.launch[slice]; launch != no_id<SliceId>) copies.push_back({s.track[launch], {s.start[launch], launch}});
  std::ranges::sort(copies);
  std::set<SliceId> waits;
  std::size_t exchanges = 0, waited = 0;
  std::map<TrackId, Nanoseconds> previous;
  std::vector<const DeviceCollective*> by_launch;
  for (const DeviceCollective& one : c.all)
    if (one.call.function == CollectiveFunction::all_to_all && scene.facts.launch[c.slice(one).slice] != no_id<SliceId>) by_launch.push_back(&one);
  const auto launch_of = [&](const DeviceCollective* one) { return scene.facts.launch[c.slice(*one).slice]; };
  std::ranges::sort(by_launch, {}, [&](const DeviceCollective* one) { return s.start[launch_of(one)]; });
  Finding f;
  for (const DeviceCollective* one : by_launch) {
    const SliceId launch = launch_of(one);
    const TrackId thread = s.track[launch];
    const Nanoseconds from = previous.try_emplace(thread, s.start[launch] - 10'000'000).first->second, to = s.start[launch];
    previous[thread] = to;
    ++exchanges;
    bool found = false;
    for (auto copy = std::ranges::lower_bound(copies, std::pair{thread, std::pair{from, SliceId{0}}});
         copy != copies.end() && copy->first == thread && copy->second.first < to; ++copy) {
      // The wait: the next synchronising call of the thread after the copy's launch.
      for (const SliceId id : scene.timeline.on_track(thread)) {
        if (s.start[id] < copy->second.first || s.start[id] >= to || !is_api_call(s.kind[id])) continue;
        if (!has_any_text(c.e.name(id), {"StreamSynchronize", "EventSynchronize", "DeviceSynchronize"})) continue;
        waits.insert(id);
        found = true;
        break;
      }
    }
    waited += found;
  }
  // Without experts an exchange's sizes are known before.
  if (waited < 2 || 2 * waited < exchanges) return {};
  std::vector<OpId> operations;
  double time = 0;
  for (const SliceId id : waits) {
    if (scene.lifted.operation_of[id] != no_id<OpId>) operations.push_back(scene.lifted.operation_of[id]);
    time += static_cast<double>(s.duration[id]);
    if (f.evidence.size() < 10) f.evidence.push_back(id);
  }
  std::ranges::sort(operations);
  const bool experts = c.has_experts();
  f.title = experts ? "The host waits for the number of tokens per expert" : "The host waits for the sizes of exchanges";
  f.observation = fmt::format("Before {} of {} all-to-alls the host waits for a copy of at most 4 KiB: {} in all.", waited, exchanges, time_text(time));
  if (!operations.empty()) f.edits = {edit_of("no_sync", std::move(operations))};
  if (experts)
    f.changes = {flag("Megatron-LM", "--moe-token-dispatcher-type flex with DeepEP, which counts on the device"),
                 flag("Megatron-LM", "--moe-pad-expert-input-to-capacity with --moe-expert-capacity-factor: fixed sizes"),
                 code("PyTorch", "Symmetric-memory all-to-all with splits on the device (torch.ops.symm_mem.all_to_all_vdev)")};
  else
    f.changes = {code("PyTorch", "TorchRec: TrainPipelineSparseDist, which exchanges sizes of the next batch while this one runs"),
                 code("PyTorch", "Sizes from the data loader or fixed by padding, instead of a copy to the host before each exchange")};
  f.confidence = Confidence::medium;
  f.would_settle = "";
  return {f};
}

}  // namespace

extern const Rule moe_host_sync_splits_rule{
    .name = "moe.host_sync_splits",
    .help = "The host waits for token counts before each exchange.",
    .guard = "Copies to the host that no all-to-all follows.",
    .source = "Megatron-LM MoE documentation; half ours",
    .detect = detect,
};

}  // namespace stepscope
