// compile.graph_breaks: a compiled model runs as several regions, with Python and eager operators between them.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr Nanoseconds longest_break = 5'000'000;  // ours: what takes longer is another part of the step
constexpr double least_share = 0.01;              // of the step, idle time of the device between regions: ours
constexpr std::size_t least_breaks = 2;           // per step: ours; forward and loss may well be two regions

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const IdleTime idle = idle_time(scene, steps);
  const ThreadOperations threads(scene);
  const SliceColumns& s = scene.timeline.slices;
  const auto is_region = [&](SliceId id) { return scene.timeline.name_of(id).starts_with("Torch-Compiled Region"); };
  std::map<TrackId, std::vector<SliceId>> regions;
  for (const SliceId id : steps.on_threads()) {
    if (!is_region(id) || scene.facts.phase[id] == Phase::backward) continue;
    const SliceId parent = scene.facts.parent[id];
    if (parent == no_id<SliceId> || around(scene, parent, is_region) == no_id<SliceId>) regions[s.track[id]].push_back(id);
  }
  std::vector<OpId> between;
  std::vector<SliceId> evidence;
  std::map<std::string_view, std::size_t> eager;  // operators between
  std::size_t breaks = 0;
  Nanoseconds starved = 0;
  for (const auto& [track, own] : regions)
    for (std::size_t i = 0; i + 1 < own.size(); ++i) {
      const Interval gap{s.end(own[i]), s.start[own[i + 1]]};
      const RankId rank = scene.timeline.tracks[index(track)].rank;
      if (gap.length() <= 0 || gap.length() > longest_break) continue;
      bool crosses = false;  // a step's border, or backward or the optimizer between
      const auto slices = scene.timeline.on_track(track);
      auto at = std::ranges::lower_bound(slices, gap.begin, {}, [&](SliceId id) { return s.start[id]; });
      std::vector<std::string_view> names;
      for (; at != slices.end() && s.start[*at] < gap.end; ++at) {
        crosses |= scene.facts.phase[*at] == Phase::backward || scene.facts.phase[*at] == Phase::optimizer || scene.facts.phase[*at] == Phase::data;
        if (s.kind[*at] == SliceKind::operation) names.push_back(scene.timeline.name_of(*at));
      }
      for (const Step& step : scene.facts.steps[index(rank)].steps) crosses |= gap.begin < step.annotation.begin && step.annotation.begin <= gap.end;
      if (crosses) continue;
      ++breaks;
      for (const std::string_view name : names) ++eager[name];
      starved += idle.overlap(scene, rank, gap);
      append(between, threads.within(track, gap));
      evidence.push_back(own[i + 1]);
    }
  const std::size_t host_steps = std::max<std::size_t>(1, steps.count());
  if (breaks < least_breaks * host_steps || steps.share(starved) < least_share || between.empty()) return {};
  // Waiting and launching of eager kernels stays.
  std::erase_if(between, [&](OpId op) {
    const OperationClass c = scene.lifted.graph.operations.operation_class[op];
    return c != OperationClass::python && c != OperationClass::framework;
  });
  Finding found;
  found.title = "The compiled model is broken into pieces";
  found.observation = fmt::format("{} breaks per step lie between compiled regions, in which the device is idle for {} ({} of the step).", breaks / host_steps,
                                  format_duration(steps.per_step(starved)), percent(steps.share(starved)));
  if (!eager.empty()) {
    const auto most = std::ranges::max_element(eager, {}, [](const auto& one) { return one.second; });
    found.observation += fmt::format(" The operator that runs there most is {} ({}).", most->first, times_text(most->second, "time", "times"));
  }
  found.edits = {edit_of("free", std::move(between))};
  found.evidence = most_telling(scene, std::move(evidence));
  found.changes = {{"PyTorch", Change::Form::code, "torch.compile(model, fullgraph=True) names the first break as an error"},
                   {"environment", Change::Form::environment, "TORCH_LOGS=graph_breaks"},
                   {"PyTorch", Change::Form::code, "torch._dynamo.config.capture_scalar_outputs = True where .item() breaks the graph"}};
  found.confidence = Confidence::medium;
  found.would_settle = "TORCH_LOGS=graph_breaks: why each break is there. Breaks at the borders of FSDP or checkpointed layers are meant.";
  return {std::move(found)};
}

}  // namespace

extern const Rule compile_graph_breaks_rule{
    .name = "compile.graph_breaks",
    .help = "A compiled model runs as several regions with eager work between.",
    .guard = "Borders of steps, backward and the optimizer; breaks that the device's queue hides; less than two breaks per step.",
    .source = "PyTorch, troubleshooting of torch.compile; 1 % of the step, 5 ms: ours",
    .detect = detect,
};

}  // namespace stepscope
