// host.small_kernels: many kernels are shorter than what their launch costs; elementwise ones that follow one another could be one.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/evidence_host.h"
#include "cost/operator_cost.h"

namespace stepscope {

namespace {

constexpr Nanoseconds small = 10'000;
constexpr double least_count = 0.5;         // of the kernels are small
constexpr std::size_t least_per_step = 10;  // ours: of fewer kernels no share says anything
constexpr double least_share = 0.10;        // of the step passes in them and in the host's gaps before them

// That the operators of these categories can be fused with their neighbours by a compiler.
bool can_fuse(OperatorCategory category) {
  return category == OperatorCategory::elementwise || category == OperatorCategory::reduction || category == OperatorCategory::normalisation ||
         category == OperatorCategory::copy || category == OperatorCategory::loss;
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  std::size_t kernels = 0, short_ones = 0;
  Nanoseconds held = 0;
  std::set<SliceId> shorts;
  std::map<TrackId, std::vector<SliceId>> by_stream;
  for (const SliceId id : steps.on_devices()) {
    if (s.kind[id] != SliceKind::kernel) continue;
    ++kernels;
    by_stream[s.track[id]].push_back(id);
    const SliceId launch = scene.facts.launch[id];
    if (launch == no_id<SliceId> || scene.facts.graph_launch[launch] != 0 || scene.facts.activity[id] != ActivityClass::compute) continue;
    if (s.duration[id] >= small && s.duration[id] >= s.duration[launch]) continue;
    ++short_ones;
    held += s.duration[id];
    shorts.insert(id);
  }
  if (kernels < least_per_step * steps.count() || static_cast<double>(short_ones) < least_count * static_cast<double>(kernels)) return {};
  std::vector<SliceId> before_idle;
  for (const IdlePart& part : idle_time(scene, steps).parts)
    if ((part.cause == IdleCause::host || part.cause == IdleCause::launch) && shorts.contains(part.next)) {
      held += part.interval.length();
      before_idle.push_back(part.next);
    }
  if (steps.share(held) < least_share) return {};
  // Runs of two and more that a compiler could make one of. The operators of all but the first are then not called.
  std::vector<SliceId> fused, spared;
  for (const auto& [track, slices] : by_stream) {
    std::vector<SliceId> run;
    const auto close = [&] {
      if (run.size() > 1) {
        fused.insert(fused.end(), run.begin(), run.end());
        for (std::size_t i = 1; i < run.size(); ++i)
          if (const SliceId operation = scene.facts.operation[run[i]]; operation != no_id<SliceId> && operation != scene.facts.operation[run[0]])
            spared.push_back(operation);
      }
      run.clear();
    };
    for (const SliceId id : slices) {
      const SliceId operation = scene.facts.operation[id];
      const bool fits = shorts.contains(id) && operation != no_id<SliceId> && can_fuse(operator_category(scene.timeline.name_of(operation)));
      if (!fits || (!run.empty() && scene.facts.phase[id] != scene.facts.phase[run.back()])) close();
      if (fits) run.push_back(id);
    }
    close();
  }
  Finding found;
  found.title = "Kernels too short to hide their launches";
  found.observation =
      fmt::format("{} of {} kernels run shorter than 10 µs or than their own launch; they and the waits for their launches hold {} of each step ({}).",
                  short_ones, kernels, format_duration(steps.per_step(held)), percent(steps.share(held)));
  if (fused.empty()) {
    const bool operators = std::ranges::any_of(shorts, [&](SliceId id) { return scene.facts.operation[id] != no_id<SliceId>; });
    found.unknown = operators ? "None of them follow one another in a way that a compiler is known to fuse."
                              : "Their operators were not recorded: which of them could be one is not known.";
  } else {
    found.observation += fmt::format(" {} of them stand in runs that could be one kernel each.", fused.size());
    found.edits = {edit_of("fuse", operations_of(scene, everywhere(scene, steps, fused)))};
    std::ranges::sort(spared);
    const auto doubles = std::ranges::unique(spared);
    spared.erase(doubles.begin(), doubles.end());
    std::vector<OpId> host = operations_of(scene, spared);
    if (!host.empty()) found.edits.push_back(edit_of("free", std::move(host)));
  }
  found.evidence = most_telling(scene, before_idle.empty() ? std::vector<SliceId>(shorts.begin(), shorts.end()) : std::move(before_idle));
  found.changes = {
      {"PyTorch", Change::Form::code, "model = torch.compile(model)"},
      {"PyTorch", Change::Form::code, "Fused modules for normalisation, rotary embedding, SwiGLU and cross entropy (Transformer Engine, Liger Kernel, Apex)"},
      {"torchtitan", Change::Form::flag, "--compile.enable"}};
  found.confidence = Confidence::medium;
  found.would_settle = "Recorded shapes (record_shapes=True), and which results backward needs.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_small_kernels_rule{
    .name = "host.small_kernels",
    .help = "Many kernels are shorter than their launches.",
    .guard = "Kernels inside CUDA graphs; short kernels that hold little of the step.",
    .source = "Holistic Trace Analysis, kernel launch statistics; 10 µs, half of the kernels, 10 % of the step: proposed; ten kernels per step: ours",
    .detect = detect,
};

}  // namespace stepscope
