// Conversions of images between channels-first and channels-last. Threshold: 2 % of the step. Gain: they do not run.
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row)
    if (e.slices[row].activity == ActivityClass::compute &&
        has_any_text(e.name(e.slices[row]),
                     {"nchwToNhwc", "nhwcToNchw", "convertTensor_kernel", "tensorTransformGeneric", "SubTensorOpWithCastTensor", "batched_transpose"}))
      picked.add(row);
  if (picked.share() < 0.02 || picked.count() < 3) return {};
  Finding f;
  f.title = "Images change their memory layout";
  f.observation = fmt::format("{} kernels convert between channels-first and channels-last: {}.", picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "model = model.to(memory_format=torch.channels_last); images = images.to(memory_format=torch.channels_last)"),
               code("PyTorch", "Replace operators that fall back to channels-first (look for .contiguous() and views between convolutions)")};
  f.confidence = Confidence::high;
  f.would_settle = "";
  return {f};
}

}  // namespace

extern const Rule pw_layout_transpose_rule{
    .name = "pw.layout_transpose",
    .help = "Images are converted between memory layouts.",
    .guard = "One or two conversions, as of a first layer.",
    .source = "PyTorch performance tuning guide (channels last); 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
