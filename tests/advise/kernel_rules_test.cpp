// Rules about attention, element-wise kernels, convolutions, losses and other kernels: a trace that must fire with the gain worked out by hand, and one that
// must not.
#include "advise/rule_case.h"

namespace stepscope {

extern const Rule attn_math_fallback_rule, attn_slow_backend_rule, attn_mask_materialised_rule, pw_unfused_elementwise_rule, pw_dtype_cast_churn_rule,
    pw_layout_transpose_rule, pw_noncontiguous_copy_rule, conv_no_autotune_rule, conv_bias_before_bn_rule, loss_logits_fp32_rule, emb_sparse_grad_rule,
    norm_sm_margin_rule, gpu_low_occupancy_rule;

namespace {

using KernelRules = RuleCase;
constexpr std::string_view bf16_pair = R"(["c10::BFloat16","c10::BFloat16"])";
constexpr std::string_view elementwise = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>";

void attention(auto& add, int keys) {
  const std::string k = std::to_string(keys);
  add("aten::bmm", recorded_detail("[[8," + k + ",64],[8,64," + k + "]]", bf16_pair), "gemm_scores");
  add("aten::_softmax", recorded_detail("[[8," + k + "," + k + "],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])", R"(["","-1","False"])"),
      "softmax_warp_forward");
  add("aten::bmm", recorded_detail("[[8," + k + "," + k + "],[8," + k + ",64]]", bf16_pair), "gemm_values");
}
// Two products of 2·8·1024²·64 FLOPs at half of 100 TFLOP/s: 42.95 µs instead of 300.
TEST_F(KernelRules, AttentionOfParts) {
  const auto add_kernel = [&](std::string_view operation, const std::string& detail, std::string_view name) { kernel(operation, detail, name, 100'000); };
  attention(add_kernel, 1024);
  EXPECT_NEAR(gain(attn_math_fallback_rule), 300'000 - 42'950, 1);
}
TEST_F(KernelRules, ShortAttentionMayBeOfParts) {
  const auto add_kernel = [&](std::string_view operation, const std::string& detail, std::string_view name) { kernel(operation, detail, name, 100'000); };
  attention(add_kernel, 128);
  EXPECT_TRUE(ask(attn_math_fallback_rule).empty());
}

std::string flash() {
  return recorded_detail("[[2,16,2048,64],[2,16,2048,64],[2,16,2048,64],[],[],[],[]]",
                         R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar",""])", R"(["","","","0.","False","False",""])");
}
// 4·2·16·2048²·64 FLOPs take 343.6 µs at the full rate: 1,718 µs are 0.2 of it, and 0.2 / 0.55 = 0.364.
TEST_F(KernelRules, AttentionOfAnOlderGeneration) {
  built.builder().device(DeviceId{0}).compute_major = 9;
  kernel("aten::_scaled_dot_product_flash_attention", flash(), "void pytorch_flash::flash_fwd_kernel<…>", 1'718'000);
  EXPECT_EQ(gain(attn_slow_backend_rule), 1'718'000 - 625'352);
}
TEST_F(KernelRules, ItIsTheRightOneBeforeHopper) {
  built.builder().device(DeviceId{0}).compute_major = 8;
  kernel("aten::_scaled_dot_product_flash_attention", flash(), "void pytorch_flash::flash_fwd_kernel<…>", 1'718'000);
  EXPECT_TRUE(ask(attn_slow_backend_rule).empty());
}

std::string masked(int size) {
  const std::string n = std::to_string(size);
  return recorded_detail("[[8," + n + "," + n + "],[" + n + "," + n + "],[]]", R"(["float","bool","Scalar"])", R"(["","","-inf"])");
}
TEST_F(KernelRules, MaskOfWholeScores) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  kernel("aten::masked_fill_", masked(1024), elementwise, 100'000);
  EXPECT_EQ(gain(attn_mask_materialised_rule), 100'000);
}
TEST_F(KernelRules, SmallMasksDoNotMatter) {
  kernel("aten::masked_fill_", masked(128), elementwise, 100'000);
  EXPECT_TRUE(ask(attn_mask_materialised_rule).empty());
}

std::string sum_of_two() {
  return recorded_detail("[[1000000],[1000000],[]]", R"(["float","float","Scalar"])", R"(["","","1"])");
}
// Each adds two tensors of 4 MB into a third: 48 MB. What three of them write and the next one reads, 24 MB, need not move.
TEST_F(KernelRules, RunOfElementwiseKernels) {
  for (int i = 0; i < 4; ++i) kernel("aten::add", sum_of_two(), elementwise, 100'000);
  EXPECT_EQ(gain(pw_unfused_elementwise_rule), 200'000);
}
TEST_F(KernelRules, TwoInARowOrCompiledOnesAreNoRun) {
  for (int i = 0; i < 2; ++i) {
    kernel("aten::add", sum_of_two(), elementwise, 100'000);
    kernel("aten::add", sum_of_two(), elementwise, 100'000);
    kernel("aten::mm", product(64, 64, 64), "gemm", 1'000);
    for (int j = 0; j < 4; ++j) kernel("", "", "triton_poi_fused_elementwise_kernel_add_0", 100'000);
  }
  EXPECT_TRUE(ask(pw_unfused_elementwise_rule).empty());
}

std::string copied(std::string_view to, std::string_view from) {
  return recorded_detail("[[1000000],[1000000],[]]", "[\"" + std::string(to) + "\",\"" + std::string(from) + "\",\"Scalar\"]", R"(["","","False"])");
}
TEST_F(KernelRules, Conversions) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  kernel("aten::copy_", copied("c10::BFloat16", "float"), elementwise, 100'000);
  EXPECT_EQ(gain(pw_dtype_cast_churn_rule), 100'000);
  EXPECT_TRUE(ask(pw_noncontiguous_copy_rule).empty());
}
TEST_F(KernelRules, Rearrangements) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  kernel_in("aten::contiguous", "aten::copy_", copied("float", "float"), elementwise, 100'000);
  EXPECT_EQ(gain(pw_noncontiguous_copy_rule), 100'000);
  EXPECT_TRUE(ask(pw_dtype_cast_churn_rule).empty());
}
TEST_F(KernelRules, BuffersOfCollectivesAreNeeded) {
  kernel_in("fsdp::all_gather_copy_in", "aten::copy_", copied("float", "float"), elementwise, 100'000);
  EXPECT_TRUE(ask(pw_noncontiguous_copy_rule).empty());
}

TEST_F(KernelRules, LayoutsOfImages) {
  kernel("aten::cudnn_convolution", "", "sm80_xmma_fprop", 500'000);
  for (int i = 0; i < 3; ++i) kernel("aten::cudnn_convolution", "", "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", 50'000);
  EXPECT_EQ(gain(pw_layout_transpose_rule), 150'000);
}
TEST_F(KernelRules, TheFirstLayerMayConvert) {
  for (int i = 0; i < 2; ++i) kernel("aten::cudnn_convolution", "", "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", 50'000);
  EXPECT_TRUE(ask(pw_layout_transpose_rule).empty());
}

std::string convolution() {
  return recorded_detail("[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[]]",
                         R"(["c10::BFloat16","c10::BFloat16","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar"])",
                         R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False"])");
}
// 2·32·64·56²·576 FLOPs take 74 µs at the full rate, 148 at half of it: more than three times as fast is not claimed.
TEST_F(KernelRules, SlowConvolution) {
  kernel("aten::cudnn_convolution", convolution(), "implicit_convolve_sgemm", 1'000'000);
  EXPECT_EQ(gain(conv_no_autotune_rule), 667'000);
}
TEST_F(KernelRules, AConvolutionAtAThirdOfItsBound) {
  kernel("aten::cudnn_convolution", convolution(), "sm80_xmma_fprop", 200'000);
  EXPECT_TRUE(ask(conv_no_autotune_rule).empty());
}

class BiasRules : public RuleCase {
 protected:
  void convolve(std::string_view next) {
    kernel_in("aten::conv2d", "aten::add_", "", elementwise, 100'000, {}, no_id<TrackId>, -1,
              recorded_detail("[[1,2,4,4],[3,2,3,3],[3],[],[],[],[]]", R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar"])"));
    kernel(next, "", "next_kernel", 900'000);
  }
};
TEST_F(BiasRules, BeforeANormalisation) {
  kernel("aten::mm", product(64, 64, 64), "gemm", 10'000);
  convolve("aten::batch_norm");
  EXPECT_EQ(gain(conv_bias_before_bn_rule), 100'000);
}
TEST_F(BiasRules, BeforeAnythingElse) {
  convolve("aten::relu");
  EXPECT_TRUE(ask(conv_bias_before_bn_rule).empty());
}

void loss(auto& add, int vocabulary) {
  const std::string v = std::to_string(vocabulary);
  add("aten::_log_softmax", recorded_detail("[[4096," + v + "],[],[]]", R"(["float","Scalar","Scalar"])", R"(["","1","False"])"), 1'000'000);
  add("aten::_log_softmax_backward_data",
      recorded_detail("[[4096," + v + "],[4096," + v + "],[],[]]", R"(["float","float","Scalar","Scalar"])", R"(["","","1","6"])"), 1'500'000);
}
// 8 bytes of each logit forward, 12 backward; 4 would do.
TEST_F(KernelRules, LossOverWholeLogits) {
  const auto add_kernel = [&](std::string_view operation, const std::string& detail, Nanoseconds duration) { kernel(operation, detail, "softmax", duration); };
  loss(add_kernel, 32768);
  EXPECT_EQ(gain(loss_logits_fp32_rule), 2'000'000);
}
TEST_F(KernelRules, FewClasses) {
  const auto add_kernel = [&](std::string_view operation, const std::string& detail, Nanoseconds duration) { kernel(operation, detail, "softmax", duration); };
  loss(add_kernel, 1000);
  EXPECT_TRUE(ask(loss_logits_fp32_rule).empty());
}

std::string embedding() {
  return recorded_detail("[[8,1024,1024],[8,1024],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])", R"(["","","50000","-1","False"])");
}
// 33.6 MB of gradients, 65.5 KB of indices and 204.8 MB of result take 238.4 µs, 477 at half of the bandwidth.
TEST_F(KernelRules, GradientOfAnEmbedding) {
  kernel("aten::embedding_dense_backward", embedding(), "sort", 400'000);
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  kernel("aten::embedding_dense_backward", embedding(), "scatter", 1'000'000);
  EXPECT_NEAR(gain(emb_sparse_grad_rule), 523'000, 1'000);
}
TEST_F(KernelRules, ASmallEmbedding) {
  kernel("aten::embedding_dense_backward", embedding(), "sort", 10'000);
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  EXPECT_TRUE(ask(emb_sparse_grad_rule).empty());
}

// Alone 50 µs, beside communication 200.
TEST_F(KernelRules, NormalisationBesideCommunication) {
  for (int i = 0; i < 3; ++i) kernel("", "", "ln_fwd_tuned_kernel", 50'000, grid(200));
  kernel("", "", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 150'000, {}, comm, now);
  kernel("", "", "ln_fwd_tuned_kernel", 200'000, grid(200));
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 500'000);
  EXPECT_EQ(gain(norm_sm_margin_rule), 150'000);
}
TEST_F(KernelRules, NormalisationThatIsSlowAlone) {
  for (int i = 0; i < 3; ++i) kernel("", "", "ln_fwd_tuned_kernel", 200'000, grid(200));
  kernel("", "", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 150'000, {}, comm, now);
  kernel("", "", "ln_fwd_tuned_kernel", 200'000, grid(200));
  EXPECT_TRUE(ask(norm_sm_margin_rule).empty());
}

TEST_F(KernelRules, AKernelOnATenthOfTheDevice) {
  kernel("my::operator", "", "narrow_kernel", 1'000'000, grid(10));
  EXPECT_EQ(gain(gpu_low_occupancy_rule), 900'000);
}
TEST_F(KernelRules, PersistentAndFullKernels) {
  kernel("my::operator", "", "wide_kernel", 1'000'000, grid(100));
  kernel("my::operator", "", "my_persistent_kernel", 1'000'000, grid(90));
  EXPECT_TRUE(ask(gpu_low_occupancy_rule).empty());
}

}  // namespace
}  // namespace stepscope
