// graph.capture_broken: some steps launch CUDA graphs and others launch the same work kernel by kernel.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double in_graphs = 0.5;     // of a step's kernels at least, where graphs are used as meant: ours
constexpr double mostly_eager = 0.1;  // of a step's kernels at most: ours

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const Graph& graph = scene.lifted.graph;
  struct Counts {
    std::size_t kernels = 0, graph_kernels = 0;
    Interval host;
    RankId rank{};
  };
  std::vector<Counts> counts;  // per steady step and rank
  for (std::size_t rank = 0; rank < scene.facts.steps.size(); ++rank)
    for (const Step& step : scene.facts.steps[rank].steps)
      if (steps.on_host(RankId{static_cast<std::uint32_t>(rank)}, step.annotation.begin))
        counts.push_back({.host = {step.annotation.begin, step.annotation.begin + step.step_time}, .rank = RankId{static_cast<std::uint32_t>(rank)}});
  std::map<std::pair<RankId, Nanoseconds>, std::size_t> row_of;
  for (std::size_t i = 0; i < counts.size(); ++i) row_of[{counts[i].rank, counts[i].host.begin}] = i;
  const auto step_of = [&](SliceId call) -> Counts* {
    const RankId rank = scene.timeline.track_of(call).rank;
    auto at = row_of.upper_bound({rank, s.start[call]});
    if (at == row_of.begin()) return nullptr;
    --at;
    Counts& step = counts[at->second];
    return step.rank == rank && step.host.contains(s.start[call]) ? &step : nullptr;
  };
  std::vector<SliceId> eager;
  for (const SliceId id : steps.on_devices()) {
    const SliceId launch = scene.facts.launch[id];
    if (s.kind[id] != SliceKind::kernel || launch == no_id<SliceId>) continue;
    Counts* step = step_of(launch);
    if (step == nullptr) continue;
    ++step->kernels;
    if (scene.facts.graph_launch[launch] != 0)
      ++step->graph_kernels;
    else
      eager.push_back(launch);
  }
  const auto share = [](const Counts& step) { return step.kernels == 0 ? 0.0 : static_cast<double>(step.graph_kernels) / static_cast<double>(step.kernels); };
  const auto good = static_cast<std::size_t>(std::ranges::count_if(counts, [&](const Counts& step) { return step.kernels > 0 && share(step) >= in_graphs; }));
  const auto broken =
      static_cast<std::size_t>(std::ranges::count_if(counts, [&](const Counts& step) { return step.kernels > 0 && share(step) <= mostly_eager; }));
  if (good == 0 || broken == 0) return {};
  std::erase_if(eager, [&](SliceId launch) {
    const Counts* step = step_of(launch);
    return share(*step) > mostly_eager;
  });
  const ThreadOperations threads(scene);
  std::vector<OpId> host;
  for (const Counts& step : counts) {
    if (step.kernels == 0 || share(step) > mostly_eager) continue;
    for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track)
      if (scene.timeline.tracks[track].rank == step.rank && threads.launches(TrackId{track}))
        for (const OpId op : threads.within(TrackId{track}, step.host))
          if (const OperationClass c = graph.operations.operation_class[op]; c == OperationClass::framework || c == OperationClass::python) host.push_back(op);
  }
  Finding found;
  found.title = "CUDA graphs are not used in all steps";
  found.observation = fmt::format("Of the steady steps, {} launch their work as CUDA graphs and {} launch it kernel by kernel ({}).", good, broken,
                                  times_text(eager.size() / broken, "launch each", "launches each"));
  found.edits = {edit_of("launch_cost", operations_of(scene, eager)), edit_of("free", std::move(host))};
  found.evidence = most_telling(scene, std::move(eager));
  found.changes = {{"environment", Change::Form::environment, "TORCH_LOGS=cudagraphs"},
                   {"PyTorch", Change::Form::code, "Fixed shapes, and no synchronisation or allocation inside what is captured"}};
  found.confidence = Confidence::medium;
  found.would_settle = "TORCH_LOGS=cudagraphs: why a step was not captured.";
  return {std::move(found)};
}

}  // namespace

extern const Rule graph_capture_broken_rule{
    .name = "graph.capture_broken",
    .help = "Some steps run as CUDA graphs and others kernel by kernel.",
    .guard = "First steps; steps of which a part is meant to run outside of graphs.",
    .source = "Megatron Bridge performance guide; half of the kernels in graphs, at most a tenth: ours",
    .detect = detect,
};

}  // namespace stepscope
