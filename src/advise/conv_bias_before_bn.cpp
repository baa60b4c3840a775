// A convolution with a bias right before a batch normalisation, which takes any constant away again. Threshold: kernels of such biases take 0.5 % of the step
// (ours). Gain: the kernels that add the bias do not run; where it is part of the convolution's kernel, nothing is gained and nothing is said.
#include <fmt/core.h>

#include <set>

#include "advise/evidence_device.h"
#include "cost/arguments.h"

namespace stepscope {

namespace {

using namespace on_device;

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  const SliceColumns& s = scene.timeline.slices;
  // Convolutions with a bias whose next operator beside them is a batch normalisation.
  std::set<SliceId> needless;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (scene.timeline.tracks[track].kind != TrackKind::thread) continue;
    SliceId convolution = no_id<SliceId>;
    for (const SliceId id : scene.timeline.on_track(TrackId{track})) {
      if (s.kind[id] != SliceKind::operation) continue;
      if (convolution != no_id<SliceId> && s.start[id] < s.end(convolution)) continue;  // inside it
      const std::string_view name = e.name(id);
      if (convolution != no_id<SliceId> && has_text(name, "batch_norm")) needless.insert(convolution);
      convolution = no_id<SliceId>;
      if (name != "aten::conv2d" && name != "aten::conv1d" && name != "aten::conv3d") continue;
      const auto call = parse_operator_call(name, scene.timeline.detail_of(id));
      if (call && tensor_argument(*call, 2) != nullptr) convolution = id;
    }
  }
  if (needless.empty()) return {};
  Picked picked(e);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::compute || e.operator_name(one) != "aten::add_") continue;
    const SliceId around = e.around(one, [](std::string_view name) { return name == "aten::conv2d" || name == "aten::conv1d" || name == "aten::conv3d"; });
    if (around != no_id<SliceId> && needless.contains(around)) picked.add(row);
  }
  if (picked.share() < 0.005) return {};
  Finding f;
  f.title = "Biases that batch normalisation takes away";
  f.observation = fmt::format("{} kernels add biases to convolutions whose results are normalised right after: {}.", picked.count(), e.amount(picked.time()));
  f.evidence = picked.evidence();
  f.edits = {edit_of("remove", picked.operations())};
  f.changes = {code("PyTorch", "nn.Conv2d(..., bias=False) in front of nn.BatchNorm2d")};
  f.confidence = Confidence::high;
  f.would_settle = "The sums of the biases' gradients go too; they are not in this gain.";
  return {f};
}

}  // namespace

extern const Rule conv_bias_before_bn_rule{
    .name = "conv.bias_before_bn",
    .help = "A bias is added right before a batch normalisation.",
    .guard = "Biases that are part of the convolution kernel.",
    .source = "PyTorch performance tuning guide; 0.5 % ours",
    .detect = detect,
};

}  // namespace stepscope
