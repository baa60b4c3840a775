// mem.offload_bound: compute waits for copies between host and device on streams of their own: offloaded activations, parameters or optimizer states.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.03;           // of the step, waited for copies
constexpr std::int64_t least_bytes = 1 << 20;  // ours: a layer's tensors, not scalars

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const Graph& graph = scene.lifted.graph;
  const SliceColumns& s = scene.timeline.slices;
  std::set<SliceId> copies;
  std::vector<SliceId> waiting;
  Nanoseconds waited = 0;
  for (const SliceId id : steps.on_devices()) {
    const OpId op = scene.lifted.operation_of[id];
    if (op == no_id<OpId> || scene.facts.activity[id] != ActivityClass::compute) continue;
    // When it could have started but for copies of other streams.
    Nanoseconds with = 0, without = 0;
    SliceId cause = no_id<SliceId>;
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) {
      const OpId on = graph.dependencies.moment[i].operation();
      const Nanoseconds time = scene.times[graph.dependencies.moment[i]] + graph.dependencies.lag[i];
      const SliceId origin = graph.operations.origin[on];
      const bool copy = graph.dependencies.kind[i] == DependencyKind::event && graph.operations.operation_class[on] == OperationClass::copy &&
                        origin != no_id<SliceId> && graph.operations.place[on] != graph.operations.place[op] &&
                        bytes_moved(scene, origin).value_or(0) >= least_bytes &&
                        (has_text(scene.timeline.name_of(origin), "HtoD") || has_text(scene.timeline.name_of(origin), "DtoH"));
      if (copy && time > with) cause = origin;
      (copy ? with : without) = std::max(copy ? with : without, time);
    }
    if (cause == no_id<SliceId> || with <= without) continue;
    waited += with - without;
    waiting.push_back(id);
    copies.insert(cause);
  }
  if (copies.empty() || steps.share(waited) < least_share) return {};
  std::int64_t bytes = 0;
  Nanoseconds time = 0;
  std::set<TrackId> streams;
  for (const SliceId id : copies) {
    bytes += bytes_moved(scene, id).value_or(0);
    time += s.duration[id];
    streams.insert(s.track[id]);
  }
  // Without the offload none of the large copies on these streams are made.
  std::vector<SliceId> all;
  for (const SliceId id : steps.on_devices())
    if (s.kind[id] == SliceKind::copy && streams.contains(s.track[id]) && bytes_moved(scene, id).value_or(0) >= least_bytes) all.push_back(id);
  Finding found;
  found.title = "Compute waits for offloaded data";
  found.observation = fmt::format("{} wait {} per step ({}) for copies between host and device on streams of their own, which run at {:.1f} GB/s.",
                                  times_text(waiting.size(), "kernel", "kernels"), format_duration(steps.per_step(waited)), percent(steps.share(waited)),
                                  static_cast<double>(bytes) / static_cast<double>(std::max<Nanoseconds>(1, time)));
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, all)))};
  found.evidence = most_telling(scene, std::vector<SliceId>(copies.begin(), copies.end()));
  found.changes = {{"PyTorch", Change::Form::code, "Offload fewer layers, into pinned memory; compute some of them again instead"},
                   {"DeepSpeed", Change::Form::code, "\"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true, \"ratio\": 0.5}"},
                   {"Megatron-LM", Change::Form::flag, "--optimizer-offload-fraction 0.5"}};
  found.confidence = Confidence::medium;
  found.would_settle = "Whether what is offloaded would fit on the device (profile_memory=True): the gain is that of no offload at all.";
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_offload_bound_rule{
    .name = "mem.offload_bound",
    .help = "Compute waits for copies of offloaded data.",
    .guard = "Copies that are hidden behind compute; copies below 1 MiB; copies in the computing stream.",
    .source = "Megatron Bridge performance guide; 3 % of the step: proposed; 1 MiB: ours",
    .detect = detect,
};

}  // namespace stepscope
