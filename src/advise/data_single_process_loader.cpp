// data.single_process_loader: num_workers=0: batches are made on the training thread, while nothing is launched.
#include <fmt/core.h>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.01;  // of the step: loading on the training thread
constexpr std::string_view workers = "4";

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::vector<SliceId> loads;
  for (const SliceId id : steps.on_threads())
    if (s.kind[id] == SliceKind::annotation && has_text(scene.timeline.name_of(id), "_SingleProcessDataLoaderIter")) loads.push_back(id);
  const Nanoseconds time = total_time(scene, loads);
  if (loads.empty() || steps.share(time) < least_share) return {};
  Finding found;
  found.title = "Batches are made on the training thread";
  found.observation = fmt::format(
      "The data loader has no worker processes: the training thread makes its batches itself, {} per step ({} of it), and launches nothing meanwhile.",
      format_duration(steps.per_step(time)), percent(steps.share(time)));
  found.edits = {edit_of("data_loading",
                         operations_where(scene, [&](OpId op) { return scene.lifted.graph.operations.operation_class[op] == OperationClass::data_loading; }),
                         {{"workers", std::string(workers)}})};
  found.evidence = most_telling(scene, std::move(loads));
  found.changes = {{"PyTorch", Change::Form::code, "DataLoader(..., num_workers=4, persistent_workers=True, pin_memory=True)"},
                   {"Megatron-LM", Change::Form::flag, "--num-workers 4"}};
  found.confidence = Confidence::high;
  found.would_settle = "How many free cores each process has.";
  return {std::move(found)};
}

}  // namespace

extern const Rule data_single_process_loader_rule{
    .name = "data.single_process_loader",
    .help = "Batches are made in the training process (num_workers=0).",
    .guard = "Loaders whose batches cost nothing.",
    .source = "PyTorch performance tuning guide; 1 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
