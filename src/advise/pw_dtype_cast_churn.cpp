// Kernels that only convert types: aten::_to_copy and aten::copy_ between different types. Threshold: 3 % of the compute time and 1 % of the step (ours). Gain,
// at most: the conversions do not run (repeated ones go, the others move into what produces their input); which are repeated a trace does not tell.
#include <fmt/core.h>

#include "advise/evidence_device.h"
#include "cost/arguments.h"

namespace stepscope {

namespace {

using namespace on_device;

bool converts(std::string_view kernel) {
  return has_any_text(kernel, {"LoadWithCast", "bfloat16_copy_kernel", "float8_copy_kernel", "float16_copy_kernel"}) && has_text(kernel, "copy");
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::compute || e.operator_name(one) != "aten::copy_") continue;
    // aten::copy_(to, from): their types differ.
    const SliceId copy = scene.facts.operation[one.slice];
    const auto call = parse_operator_call(e.name(copy), scene.timeline.detail_of(copy));
    const Argument* to = call ? tensor_argument(*call, 0) : nullptr;
    const Argument* from = call ? tensor_argument(*call, 1) : nullptr;
    if (to != nullptr && from != nullptr ? to->type == from->type : !converts(e.name(one))) continue;
    picked.add(row);
  }
  const double compute = e.counted(ActivityClass::compute);
  if (compute <= 0 || picked.time() < 0.03 * compute || picked.share() < 0.01) return {};
  Finding f;
  f.title = "Conversions between types";
  f.observation = fmt::format("{} kernels only convert data types: {}, {} of the compute time. The gain is what all of them cost: an upper limit.",
                              picked.count(), e.amount(picked.time()), percent(picked.time() / compute));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "One torch.autocast region around the whole forward pass, so that its cache keeps converted weights"),
               code("PyTorch", "Weights in bf16 with fp32 masters in the optimizer, instead of conversion at each use"),
               code("PyTorch", "torch.compile fuses conversions into the kernels around them"), flag("Megatron-LM", "--bf16 with the distributed optimizer")};
  f.confidence = Confidence::low;
  f.would_settle = "Which tensors are converted more than once in a step: their addresses (Python stacks show where).";
  return {f};
}

}  // namespace

extern const Rule pw_dtype_cast_churn_rule{
    .name = "pw.dtype_cast_churn",
    .help = "Kernels only convert data types.",
    .guard = "Conversions below 3 % of the compute time: master weights are converted once a step by need.",
    .source = "PyTorch performance tuning guide (mixed precision); 3 % and 1 % ours",
    .detect = detect,
};

}  // namespace stepscope
