// Convolutions of unchanging shapes at less than 30 % of their roofline. Threshold: such convolutions take 5 % of the step (ours). Gain: half of the roofline,
// but no more than three times as fast (ours).
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  Picked picked(e);
  ScaleEdits edits;
  double bounds = 0, times = 0;
  std::map<const Work*, std::size_t> distinct;
  std::size_t count = 0;
  for (const DeviceCall& call : e.calls()) {
    if (call.cost->category != OperatorCategory::convolution || call.time <= 0) continue;
    ++distinct[call.work], ++count;
    const auto bound = bound_ns(scene.gpu, *call.work, call.type);
    if (!bound || *bound >= 0.3 * static_cast<double>(call.time) || call.time < 10'000) continue;
    picked.add(call);
    edits.add(e, call, std::max(2 * *bound / static_cast<double>(call.time), 1.0 / 3));
    bounds += *bound, times += static_cast<double>(call.time);
  }
  // Shapes that nearly never repeat are not worth the search.
  if (picked.share() < 0.05 || (e.windows >= 2 && distinct.size() * 5 > count * 4)) return {};
  Finding f;
  f.title = "Slow convolutions";
  f.observation = fmt::format("Convolutions that reach {} of what the GPU could take {}.", percent(bounds / times), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  f.changes = {code("PyTorch", "torch.backends.cudnn.benchmark = True"), code("PyTorch", "model.to(memory_format=torch.channels_last)"),
               code("PyTorch", "with torch.autocast('cuda', dtype=torch.bfloat16): ...")};
  f.confidence = Confidence::low;
  f.would_settle = "The step with cudnn.benchmark: whether cuDNN has a faster kernel for these shapes only measuring tells.";
  return {f};
}

}  // namespace

extern const Rule conv_no_autotune_rule{
    .name = "conv.no_autotune",
    .help = "Convolutions run far below what the GPU can do.",
    .guard = "Shapes that change all the time, convolutions below 10 µs.",
    .source = "PyTorch performance tuning guide (cuDNN auto-tuner); 5 % and three times ours",
    .detect = detect,
};

}  // namespace stepscope
