// mem.optimizer_unfused: the optimizer runs as many elementwise kernels, one tensor or one list at a time.
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"
#include "advise/optimizer_time.h"

namespace stepscope {

namespace {

constexpr std::size_t most_kernels = 50;  // per update and device

// Of the kinds that have a fused form in PyTorch: Adam, AdamW, SGD, Adagrad.
bool has_fused_form(std::string_view range) {
  return has_text(range, "Adam.") || has_text(range, "AdamW.") || has_text(range, "SGD.") || has_text(range, "Adagrad.") ||
         has_text(range, "AcceleratedOptimizer");
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const OptimizerTime optimizer(scene);
  std::vector<SliceId> kernels;
  bool fused = false;
  for (const SliceId id : steps.on_devices()) {
    if (scene.facts.phase[id] != Phase::optimizer || scene.facts.activity[id] != ActivityClass::compute) continue;
    kernels.push_back(id);
    const SliceId operation = scene.facts.operation[id];
    fused |= operation != no_id<SliceId> && has_text(scene.timeline.name_of(operation), "_fused_");
    fused |= has_text(scene.timeline.name_of(id), "FusedAdam") || has_text(scene.timeline.name_of(id), "FusedOptimizer") ||
             has_text(scene.timeline.name_of(id), "triton");
  }
  if (fused || steps.count() == 0 || kernels.size() <= most_kernels * steps.count()) return {};
  std::string_view kind;
  const ThreadOperations threads(scene);
  std::vector<OpId> host_operations;
  for (std::size_t rank = 0; rank < scene.timeline.ranks.size(); ++rank)
    for (const SliceId range : optimizer.ranges(RankId{static_cast<std::uint32_t>(rank)})) {
      kind = scene.timeline.name_of(range);
      for (const OpId op : threads.within(s.track[range], {s.start[range], s.end(range)})) {
        const OperationClass c = scene.lifted.graph.operations.operation_class[op];
        if (c == OperationClass::framework || c == OperationClass::python || c == OperationClass::api) host_operations.push_back(op);
      }
    }
  if (kind.empty()) return {};
  const Nanoseconds time = total_time(scene, kernels);
  Finding found;
  found.title = "The optimizer is not fused";
  found.observation =
      fmt::format("{} update the parameters per step: {} of device time ({}) in {}.", times_text(kernels.size() / steps.count(), "kernel", "kernels"),
                  format_duration(steps.per_step(time)), percent(steps.share(time)), kind);
  // The fused kernel's time by its bytes, where shapes and the GPU are known; else at least the host's work and the launches go.
  const std::vector<OpId> operations = operations_of(scene, everywhere(scene, steps, kernels));
  const EditScene edit_scene{.timeline = scene.timeline, .facts = scene.facts, .lifted = scene.lifted, .gpu = scene.gpu};
  const Edit by_bytes = edit_of("fused_optimizer", operations);
  Graph tried = scene.lifted.graph.copy();
  if (apply_edits(edit_scene, std::span(&by_bytes, 1), tried)) {
    found.edits.push_back(by_bytes);
  } else {
    std::vector<SliceId> launches;
    for (const SliceId id : kernels)
      if (scene.facts.launch[id] != no_id<SliceId>) launches.push_back(scene.facts.launch[id]);
    found.edits.push_back(edit_of("launch_cost", operations_of(scene, everywhere(scene, steps, launches))));
    found.observation += " What its kernels must move cannot be told here, so that only the host's part of the gain is counted.";
    found.would_settle = "Recorded shapes (record_shapes=True) and the GPU's name (--gpu): the time of a fused kernel by its bytes.";
  }
  if (!host_operations.empty()) found.edits.push_back(edit_of("free", std::move(host_operations)));
  found.evidence = most_telling(scene, std::move(kernels));
  if (has_fused_form(kind)) found.changes.push_back({"PyTorch", Change::Form::code, "torch.optim.AdamW(..., fused=True); Adam, SGD and Adagrad have it too"});
  found.changes.push_back({"PyTorch", Change::Form::code, "Compile the update: step = torch.compile(optimizer.step)"});
  found.changes.push_back({"Megatron-LM", Change::Form::code, "Install Transformer Engine or Apex: their FusedAdam is used then"});
  found.changes.push_back({"DeepSpeed", Change::Form::code, "deepspeed.ops.adam.FusedAdam"});
  found.confidence = has_fused_form(kind) ? Confidence::high : Confidence::medium;
  return {std::move(found)};
}

}  // namespace

extern const Rule mem_optimizer_unfused_rule{
    .name = "mem.optimizer_unfused",
    .help = "The optimizer runs as many small kernels.",
    .guard = "Optimizers that are fused or compiled; few parameters; kinds without a fused form (medium confidence).",
    .source = "PyTorch performance tuning guide; 50 kernels: proposed",
    .detect = detect,
};

}  // namespace stepscope
