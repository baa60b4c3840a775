// Matrix products on ordinary cores although the matrix units could do them. Threshold: 2 % of the step. Gain: the roofline of the matrix units (TF32 of fp32
// inputs) at the efficiency that other products of the trace reach.
#include <fmt/core.h>

#include "advise/evidence_device.h"

namespace stepscope {

namespace {

using namespace on_device;

bool on_ordinary_cores(std::string_view kernel) {
  return has_any_text(kernel, {"sgemm", "simt", "gemmSN", "dgemm", "gemv"}) && !has_any_text(kernel, {"tensorop", "s1688", "tf32", "s16816", "Cijk"});
}

std::vector<Finding> detect(const AdviceScene& scene) {
  DeviceEvidence e(scene);
  const std::vector<DeviceCall> calls = e.calls();
  const double efficiency = usual_efficiency(scene.gpu, calls);
  Picked picked(e);
  ScaleEdits edits;
  bool single = false;
  for (const DeviceCall& call : calls) {
    if (!call.work->matrix_units || call.time <= 0 || call.type == DataType::fp64) continue;
    bool ordinary = false;
    for (const std::uint32_t row : call.rows) ordinary |= on_ordinary_cores(e.name(e.slices[row]));
    if (!ordinary) continue;
    // GPUs before Ampere have no TF32: there the way is fp16, with half of the bytes.
    const bool has_tf32 = scene.gpu == nullptr || scene.gpu->matrix_tf32;
    const DataType type = call.type != DataType::fp32 ? call.type : has_tf32 ? DataType::tf32 : DataType::fp16;
    Work work = *call.work;
    if (type == DataType::fp16 && call.type == DataType::fp32) work.bytes /= 2;
    // What memory bounds anyway (a matrix times a vector) gains nothing from matrix units.
    const auto bound = bound_ns(scene.gpu, work, type);
    const double factor = bound ? *bound / efficiency / static_cast<double>(call.time) : 1;
    if (bound && factor > 0.8) continue;
    single |= call.type == DataType::fp32;
    picked.add(call);
    if (bound) edits.add(e, call, factor);
  }
  if (picked.share() < 0.02) return {};
  Finding f;
  f.title = "Matrix products without matrix units";
  f.observation = fmt::format("{} kernels of matrix products ran on ordinary cores: {}.", picked.count(), e.amount(picked.time()));
  if (single)
    f.observation += scene.gpu == nullptr || scene.gpu->matrix_tf32 ? " Their inputs are fp32; as TF32 or bf16 the matrix units would take them."
                                                                    : " Their inputs are fp32; the matrix units of this GPU take fp16.";
  f.evidence = picked.evidence();
  f.edits = edits.edits();
  if (scene.gpu == nullptr || scene.gpu->matrix_tf32)
    f.changes = {code("PyTorch", "torch.set_float32_matmul_precision('high')"), code("PyTorch", "with torch.autocast('cuda', dtype=torch.bfloat16): ..."),
                 code("environment", "unset NVIDIA_TF32_OVERRIDE (0 forbids TF32)")};
  else
    f.changes = {code("PyTorch", "with torch.autocast('cuda', dtype=torch.float16): ... and torch.amp.GradScaler")};
  f.confidence = f.edits.empty() ? Confidence::low : Confidence::medium;
  f.would_settle = "Whether the model needs full fp32 in these products.";
  if (f.edits.empty()) f.unknown = "The GPU's rates are not known: name it with --gpu.";
  return {f};
}

}  // namespace

extern const Rule gemm_no_tensor_core_rule{
    .name = "gemm.no_tensor_core",
    .help = "Matrix products run on ordinary cores.",
    .guard = "Products in fp64, and those that memory bounds (a matrix times a vector).",
    .source = "NVIDIA, Matrix Multiplication Background (DU-09799); 2 % ours",
    .detect = detect,
};

}  // namespace stepscope
