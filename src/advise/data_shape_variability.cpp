// data.shape_variability: shapes change from step to step, and caches that are keyed by shape (allocator, choice of kernels, compiled code) miss.
#include <fmt/core.h>

#include <map>
#include <set>

#include "advise/evidence_host.h"
#include "cost/operator_cost.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

constexpr std::size_t least_steps = 3;        // of different shapes: ours (proposed were more than 8 shapes, which captures of few steps cannot show)
constexpr std::size_t least_allocations = 1;  // per step: what shows that the change costs something

bool allocates(std::string_view call) {
  return call == "cudaMalloc" || call == "cudaFree" || call == "hipMalloc" || call == "hipFree" || call == "cuMemCreate" || call == "cuMemMap" ||
         call == "cuMemUnmap";
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  if (steps.steps_of_each() < least_steps) return {};
  // Per step: the shapes of its first matrix product, convolution or embedding, which all others follow.
  std::map<std::pair<RankId, Nanoseconds>, std::pair<SliceId, std::string_view>> first;
  std::vector<SliceId> calls;
  for (const SliceId id : steps.on_threads()) {
    const RankId rank = scene.timeline.track_of(id).rank;
    if (is_api_call(s.kind[id]) && allocates(scene.timeline.name_of(id))) calls.push_back(id);
    if (s.kind[id] != SliceKind::operation || scene.facts.phase[id] == Phase::backward) continue;
    const OperatorCategory category = operator_category(scene.timeline.name_of(id));
    if (category != OperatorCategory::gemm && category != OperatorCategory::convolution && category != OperatorCategory::embedding) continue;
    const auto shapes = recorded_argument(scene.timeline.detail_of(id), "Input Dims");
    if (!shapes) continue;
    for (const Step& step : scene.facts.steps[index(rank)].steps)
      if (step.annotation.contains(s.start[id])) first.try_emplace({rank, step.annotation.begin}, id, *shapes);
  }
  std::set<std::string_view> distinct;
  std::vector<SliceId> evidence;
  for (const auto& [step, shape] : first)
    if (distinct.insert(shape.second).second) evidence.push_back(shape.first);
  if (distinct.size() < least_steps || calls.size() < least_allocations * first.size()) return {};
  Finding found;
  found.title = "Shapes change from step to step";
  found.observation =
      fmt::format("{} steps begin with {} different shapes, and {} of device memory happen in them ({} per step): what is kept by shape is made anew.",
                  first.size(), distinct.size(), times_text(calls.size(), "allocation or release", "allocations and releases"),
                  format_duration(steps.per_step(total_time(scene, calls))));
  found.edits = {edit_of("remove", operations_of(scene, everywhere(scene, steps, calls)))};
  found.evidence = most_telling(scene, std::move(calls));
  for (const SliceId id : evidence)
    if (found.evidence.size() < 10) found.evidence.push_back(id);
  found.changes = {
      {"PyTorch", Change::Form::code, "Sort samples into a few lengths and pad to these, or pack them to one fixed length"},
      {"PyTorch", Change::Form::code, "torch._dynamo.mark_dynamic(tensor, 0) for the dimension that changes; torch.backends.cudnn.benchmark = False"},
      {"environment", Change::Form::environment, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}};
  found.confidence = Confidence::medium;
  found.would_settle = "Padding per batch, and what the choice of kernels costs per new shape (steps before and after it).";
  return {std::move(found)};
}

}  // namespace

extern const Rule data_shape_variability_rule{
    .name = "data.shape_variability",
    .help = "Shapes change from step to step and defeat caches.",
    .guard = "Different shapes that cost nothing; shapes that were not recorded.",
    .source = "PyTorch performance tuning guide; three shapes with allocations in the steps: ours",
    .detect = detect,
};

}  // namespace stepscope
