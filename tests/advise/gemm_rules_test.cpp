// Rules about matrix products: a trace that must fire with the gain worked out by hand, and one that must not.
#include "advise/rule_case.h"

namespace stepscope {

extern const Rule gemm_no_tensor_core_rule, gemm_fp32_leftover_rule, gemm_misaligned_rule, gemm_tile_quantization_rule, gemm_wave_quantization_rule,
    gemm_skinny_rule, gemm_fp8_not_used_rule;

namespace {

using GemmRules = RuleCase;
constexpr std::string_view tensor_kernel = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn";

// 2·1024³ FLOPs at 50 TFLOP/s (TF32) take 42.95 µs, at the usual 0.6 of it 71.6: 0.072 of 1 ms.
TEST_F(GemmRules, OrdinaryCores) {
  kernel("aten::mm", product(1024, 1024, 1024, "float"), "ampere_sgemm_128x64_nn", 1'000'000);
  EXPECT_EQ(gain(gemm_no_tensor_core_rule), 928'000);
}
TEST_F(GemmRules, OrdinaryCoresAreRightForDoublePrecisionAndVectors) {
  kernel("aten::mm", product(1024, 1024, 1024, "double"), "cutlass_80_simt_dgemm", 1'000'000);
  // 4.2 MB at 1 TB/s: 4.2 µs, at 0.6 of it 7: the vector product's 8 µs are nearly there.
  for (int i = 0; i < 50; ++i) kernel("aten::mm", product(1, 1024, 1024, "float"), "gemvNSP_kernel", 8'000);
  EXPECT_TRUE(ask(gemm_no_tensor_core_rule).empty());
}
TEST_F(GemmRules, OrdinaryCoresOfAnUnknownGpuHaveNoGain) {
  with_gpu = false;
  kernel("aten::mm", product(1024, 1024, 1024, "float"), "ampere_sgemm_128x64_nn", 1'000'000);
  const auto found = ask(gemm_no_tensor_core_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].edits.empty());
}

// TF32 to bf16 doubles the rate: half of 100 µs.
TEST_F(GemmRules, LeftInFp32) {
  kernel("aten::mm", product(4096, 4096, 4096), tensor_kernel, 2'000'000);
  kernel("aten::mm", product(1024, 1024, 1024, "float"), "cutlass_80_tensorop_s1688gemm_128x64_nn", 100'000);
  EXPECT_EQ(gain(gemm_fp32_leftover_rule), 50'000);
}
TEST_F(GemmRules, AModelInFp32HasNothingLeftOver) {
  kernel("aten::mm", product(4096, 4096, 4096, "float"), "cutlass_80_tensorop_s1688gemm_128x64_nn", 2'000'000);
  kernel("aten::mm", product(1024, 1024, 1024), tensor_kernel, 100'000);
  EXPECT_TRUE(ask(gemm_fp32_leftover_rule).empty());
}

// The aligned product reaches half of its bound (1,374.4 of 2,748.8 µs), so the padded one takes 2,748.8 µs: 0.550 of 5 ms.
TEST_F(GemmRules, Misaligned) {
  kernel("aten::mm", product(4096, 4096, 4096), tensor_kernel, 2'748'780);
  kernel("aten::mm", product(4096, 4095, 4096), tensor_kernel, 5'000'000);
  EXPECT_EQ(gain(gemm_misaligned_rule), 2'250'000);
}
TEST_F(GemmRules, AlignedSizesAndOddRowsAreFine) {
  kernel("aten::mm", product(4095, 4096, 4096), tensor_kernel, 5'000'000);
  EXPECT_TRUE(ask(gemm_misaligned_rule).empty());
}

// Tiles of 256 x 128 on 257 x 256: the better way round is 3 · 128 rows by 256, 98,304 for 65,792 results: 0.669.
TEST_F(GemmRules, TilesStickOut) {
  kernel("aten::mm", product(257, 256, 8192), "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", 1'000'000);
  EXPECT_EQ(gain(gemm_tile_quantization_rule), 331'000);
}
TEST_F(GemmRules, TilesThatFit) {
  kernel("aten::mm", product(512, 256, 8192), "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", 1'000'000);
  kernel("aten::mm", product(257, 256, 8192), "some_product_without_a_tile", 1'000'000);
  EXPECT_TRUE(ask(gemm_tile_quantization_rule).empty());
}

std::string waves(int blocks) {
  return grid(blocks) + ", \"registers per thread\": 255";
}
// 255 registers of 256 threads let one block into a multiprocessor: 120 blocks on 100 are 1.2 waves of 2.
TEST_F(GemmRules, LastWaveMostlyEmpty) {
  built.builder().device(DeviceId{0}).compute_major = 8;
  kernel("aten::mm", product(1024, 1024, 1024), tensor_kernel, 1'000'000, waves(120));
  EXPECT_EQ(gain(gemm_wave_quantization_rule), 400'000);
}
TEST_F(GemmRules, FullWavesAndSplitProducts) {
  built.builder().device(DeviceId{0}).compute_major = 8;
  kernel("aten::mm", product(1024, 1024, 1024), tensor_kernel, 1'000'000, waves(200));
  kernel("aten::mm", product(1024, 1024, 1024), "ampere_bf16_s16816gemm_bf16_128x64_splitK_nn", 1'000'000, waves(120));
  EXPECT_TRUE(ask(gemm_wave_quantization_rule).empty());
}

// 32 rows: (2·32·4096 + 4096²)·2 = 34,078,720 bytes decide. Twice the rows move 34,603,008 more than the weights once: 0.508 of two products.
TEST_F(GemmRules, Skinny) {
  backward_kernel("aten::mm", product(32, 4096, 4096), tensor_kernel, 100'000);
  EXPECT_EQ(gain(gemm_skinny_rule), 49'200);
}
TEST_F(GemmRules, SkinnyIsTheNatureOfInference) {
  kernel("aten::mm", product(32, 4096, 4096), tensor_kernel, 100'000);
  EXPECT_TRUE(ask(gemm_skinny_rule).empty());
}

// Half of 2 ms, and 3 · 2 · 4096² bytes to convert: 100.7 µs. 0.550 in all.
TEST_F(GemmRules, Fp8) {
  backward_kernel("aten::mm", product(4096, 4096, 4096), tensor_kernel, 2'000'000);
  EXPECT_EQ(gain(gemm_fp8_not_used_rule), 900'000);
}
TEST_F(GemmRules, NoFp8OnAGpuWithoutIt) {
  gpu.matrix_fp8.reset();
  backward_kernel("aten::mm", product(4096, 4096, 4096), tensor_kernel, 2'000'000);
  EXPECT_TRUE(ask(gemm_fp8_not_used_rule).empty());
}

}  // namespace
}  // namespace stepscope
