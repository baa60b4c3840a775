// compile.recompiles: the compiler runs again within the capture.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.005;  // of the step's time: ours

bool compiles(std::string_view name) {
  return has_text(name, "(dynamo_timed)") || (has_text(name, "torch/_dynamo/convert_frame.py") && has_text(name, "compile")) ||
         has_text(name, "torch/_inductor/compile_fx.py");
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const ThreadOperations threads(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> found_ones;
  std::vector<OpId> operations;
  Nanoseconds total = 0;
  bool in_steady = false, first_only = true;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (!threads.launches(TrackId{track})) continue;
    const RankId rank = scene.timeline.tracks[track].rank;
    const std::vector<Step>& own = scene.facts.steps[index(rank)].steps;
    const auto slices = scene.timeline.on_track(TrackId{track});
    Nanoseconds until = scene.lifted.when.begin;
    for (auto at = std::ranges::lower_bound(slices, until, {}, [&](SliceId id) { return s.start[id]; });
         at != slices.end() && s.start[*at] < scene.lifted.when.end; ++at) {
      const SliceId id = *at;
      const SliceKind kind = s.kind[id];
      if (s.start[id] < until || (kind != SliceKind::annotation && kind != SliceKind::python_function && kind != SliceKind::operation) ||
          !compiles(scene.timeline.name_of(id)))
        continue;
      until = s.end(id);  // outermost only
      found_ones.push_back(id);
      total += s.duration[id];
      in_steady |= steps.on_host(rank, s.start[id]);
      first_only &= !own.empty() && s.start[id] < own.front().annotation.begin + own.front().step_time;
      append(operations, threads.within(TrackId{track}, {s.start[id], s.end(id)}));
    }
  }
  if (found_ones.empty() || first_only || steps.share(total) < least_share) return {};
  Finding found;
  found.title = "The model is compiled again";
  found.observation = fmt::format("{} in the capture take {} of the launching thread: {}.", times_text(found_ones.size(), "compilation", "compilations"),
                                  format_duration(total), scene.timeline.name_of(most_telling(scene, found_ones).front()));
  if (in_steady && !operations.empty())
    found.edits = {edit_of("free", std::move(operations))};
  else
    found.unknown = "It happens in steps that are left out of means: how often must be known to spread it over all steps.";
  found.evidence = most_telling(scene, std::move(found_ones));
  found.changes = {
      {"environment", Change::Form::environment, "TORCH_LOGS=recompiles"},
      {"PyTorch", Change::Form::code, "torch._dynamo.mark_dynamic(tensor, dimension), or torch.compile(model, dynamic=True); or pad to few shapes"}};
  found.confidence = Confidence::high;
  found.would_settle = "TORCH_LOGS=recompiles: which guard failed.";
  return {std::move(found)};
}

}  // namespace

extern const Rule compile_recompiles_rule{
    .name = "compile.recompiles",
    .help = "torch.compile compiles again within the capture.",
    .guard = "Compilation in the first step of a capture.",
    .source = "PyTorch, troubleshooting of torch.compile; 0.5 %: ours",
    .detect = detect,
};

}  // namespace stepscope
