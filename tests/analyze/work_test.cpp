#include <gtest/gtest.h>

#include "analyze/hand_built.h"
#include "analyze/operator_work.h"
#include "cost/recorded_call.h"

namespace stepscope {

extern const Question work_question;

namespace {

// 2·64·32·128 = 524288 FLOPs, (64·128 + 128·32 + 64·32)·2 = 28672 bytes
const std::string product = recorded_detail("[[64,128],[128,32]]", R"(["c10::BFloat16","c10::BFloat16"])");
const std::string product_fp32 = recorded_detail("[[64,128],[128,32]]", R"(["float","float"])");
constexpr double product_flops = 524288, product_bytes = 28672;

Gpu small_gpu() {
  Gpu gpu;
  gpu.name = "small";
  gpu.title = "Small GPU";
  gpu.matrix_bf16 = 100e9;  // the product takes 5242.88 ns
  gpu.matrix_tf32 = 50e9;
  gpu.vector_fp32 = 10e9;
  gpu.memory_bytes_per_second = 10e9;  // its bytes 2867.2 ns
  gpu.source = "made up";
  gpu.confidence = "unverified";
  return gpu;
}

class WorkTest : public testing::Test {
 protected:
  // An operator with one kernel launched directly in it, or around others.
  void operation(std::string_view name, double start, double duration, std::string_view detail = {}) { built.operation(thread, name, start, duration, detail); }
  void kernel(std::string_view name, double launched, double start, double duration) {
    ++correlation;
    built.call(thread, "cudaLaunchKernel", launched, 0.5, correlation);
    built.kernel(stream, name, start, duration, correlation);
  }
  Section section_of(std::string_view key) {
    built.finish();
    return answer(key);
  }
  Section answer(std::string_view key) {
    Scene scene = built.device_scene();
    scene.gpu = with_gpu ? &gpu : nullptr;
    const std::vector<Section> sections = work_question.answer(scene);
    const Section* section = find_section(sections, key);
    EXPECT_NE(section, nullptr);
    return section == nullptr ? Section{} : *section;
  }

  HandBuilt built;
  TrackId thread = built.thread("1"), stream = built.stream(7);
  Gpu gpu = small_gpu();
  bool with_gpu = true;
  std::uint64_t correlation = 0;
};

TEST_F(WorkTest, CountsEachCallOnceAtTheInnermostOperatorWithAFormula) {
  operation("aten::matmul", 0, 50, product);
  operation("aten::mm", 10, 30, product);
  kernel("gemm", 20, 100, 10);
  operation("aten::mm", 60, 30, product);
  kernel("gemm", 65, 120, 11);
  kernel("splitKreduce", 70, 131, 3);
  const Section work = section_of("work");
  const Table* rows = work.table("work");
  ASSERT_NE(rows, nullptr);
  ASSERT_EQ(rows->rows.size(), 1u);
  EXPECT_EQ(text_of(cell(*rows, "aten::mm", "shape")), "m=64 n=32 k=128 bf16");
  EXPECT_EQ(whole_of(cell(*rows, "aten::mm", "calls")), 2);
  EXPECT_EQ(whole_of(cell(*rows, "aten::mm", "kernels")), 3);
  EXPECT_EQ(whole_of(cell(*rows, "aten::mm", "device_ns")), 24'000);
  EXPECT_EQ(real_of(cell(*rows, "aten::mm", "flops")), 2 * product_flops);
  EXPECT_EQ(real_of(cell(*rows, "aten::mm", "bytes")), 2 * product_bytes);
  EXPECT_DOUBLE_EQ(real_of(cell(*rows, "aten::mm", "achieved_flops_per_s")), 2 * product_flops / 24e-6);
  EXPECT_DOUBLE_EQ(real_of(cell(*rows, "aten::mm", "achieved_bytes_per_s")), 2 * product_bytes / 24e-6);
  EXPECT_DOUBLE_EQ(real_of(cell(*rows, "aten::mm", "intensity")), product_flops / product_bytes);
  EXPECT_EQ(whole_of(cell(*rows, "aten::mm", "bound_ns")), 10'486);
  EXPECT_EQ(text_of(cell(*rows, "aten::mm", "bound_by")), "compute");
  EXPECT_DOUBLE_EQ(real_of(cell(*rows, "aten::mm", "efficiency")), 2 * product_flops / 100e9 / 24e-6);
  EXPECT_EQ(whole_of(work.figure("covered_ns")->value), 24'000);
  EXPECT_EQ(real_of(work.figure("coverage")->value), 1.0);
  EXPECT_EQ(work.table("without_formula"), nullptr);
}

TEST_F(WorkTest, MemoryBoundOperators) {
  operation("aten::add", 0, 20, recorded_detail("[[1000],[1000],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"));
  kernel("add_kernel", 5, 30, 2);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  // 12000 bytes at 10 GB/s: 1200 ns; 1000 FLOPs at 10 GFLOP/s: 100 ns
  EXPECT_EQ(whole_of(cell(rows, "aten::add", "bound_ns")), 1'200);
  EXPECT_EQ(whole_of(cell(rows, "aten::add", "above_bound_ns")), 800);
  EXPECT_EQ(text_of(cell(rows, "aten::add", "bound_by")), "memory");
  EXPECT_DOUBLE_EQ(real_of(cell(rows, "aten::add", "efficiency")), 0.6);
  const Table& categories = *work.table("by_category");
  EXPECT_EQ(whole_of(cell(categories, "elementwise", "device_ns")), 2'000);
}

TEST_F(WorkTest, HelpersWithoutAFormulaCountForTheOperatorAroundThem) {
  const std::string embedding =
      recorded_detail("[[3,2,5],[3,2],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])", R"(["","","100","-1","False"])");
  operation("aten::embedding_dense_backward", 0, 40, embedding);
  operation("aten::fill_", 5, 5, "");
  kernel("fill", 6, 50, 2);
  kernel("embedding_backward", 20, 60, 3);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(whole_of(cell(rows, "aten::embedding_dense_backward", "device_ns")), 5'000);
  EXPECT_EQ(whole_of(cell(rows, "aten::embedding_dense_backward", "calls")), 1);
}

TEST_F(WorkTest, AWrapperIsNotCountedForAHelperOfItsParts) {
  // scaled_dot_product_attention made of products: what fills a mask beside them is nobody's attention.
  const std::string attention = recorded_detail("[[1,2,8,16],[1,2,8,16],[1,2,8,16],[],[],[],[],[]]",
                                                R"(["float","float","float","","Scalar","Scalar","","Scalar"])", R"(["","","","","0.","True","","False"])");
  operation("aten::scaled_dot_product_attention", 0, 90, attention);
  operation("aten::ones_like", 5, 5);
  kernel("fill", 6, 100, 2);
  operation("aten::bmm", 20, 20, recorded_detail("[[2,8,16],[2,16,8]]", R"(["float","float"])"));
  kernel("gemm", 25, 110, 4);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(real_of(cell(rows, "aten::bmm", "flops")), 2 * 2 * 8 * 8 * 16);
  const Table& without = *work.table("without_formula");
  EXPECT_EQ(whole_of(cell(without, "aten::ones_like", "device_ns")), 2'000);
  EXPECT_EQ(text_of(cell(without, "aten::ones_like", "reason")), "no formula");
}

TEST_F(WorkTest, BiasAddedBesideAConvolutionIsARowOfItsOwn) {
  const std::string convolution = recorded_detail("[[1,2,4,4],[3,2,3,3],[3],[],[],[],[],[],[]]",
                                                  R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])",
                                                  R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
  const std::string cudnn = recorded_detail("[[1,2,4,4],[3,2,3,3],[],[],[],[],[],[],[]]",
                                            R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
                                            R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"])");
  operation("aten::convolution", 0, 90, convolution);
  operation("aten::_convolution", 1, 88, convolution);
  operation("aten::cudnn_convolution", 5, 30, cudnn);
  kernel("nchwToNhwc", 10, 100, 1);
  kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 15, 110, 4);
  operation("aten::add_", 50, 20, recorded_detail("[[1,3,4,4],[1,3,1,1],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"));
  kernel("add", 55, 120, 2);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(real_of(cell(rows, "aten::cudnn_convolution", "flops")), 2 * 48 * 18);
  EXPECT_EQ(whole_of(cell(rows, "aten::cudnn_convolution", "device_ns")), 5'000);
  EXPECT_EQ(text_of(cell(rows, "aten::cudnn_convolution", "type")), "tf32");
  EXPECT_EQ(real_of(cell(rows, "aten::add_", "flops")), 48);
}

TEST_F(WorkTest, Fp32ProductsAreHeldAgainstWhatTheyRanIn) {
  operation("aten::mm", 0, 20, product_fp32);
  kernel("ampere_sgemm_128x64_nn", 5, 100, 60);
  operation("aten::mm", 30, 20, product_fp32);
  kernel("cutlass_80_tensorop_s1688gemm_128x64_nn", 35, 200, 20);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(text_of(rows.rows[0][column_of(rows, "type")]), "fp32");
  EXPECT_DOUBLE_EQ(real_of(rows.rows[0][column_of(rows, "efficiency")]), product_flops / 10e9 / 60e-6);
  EXPECT_EQ(text_of(rows.rows[1][column_of(rows, "type")]), "tf32");
  EXPECT_DOUBLE_EQ(real_of(rows.rows[1][column_of(rows, "efficiency")]), product_flops / 50e9 / 20e-6);
}

TEST_F(WorkTest, WithoutShapesItSaysWhichOptionTells) {
  operation("aten::mm", 0, 20);
  kernel("gemm", 5, 100, 10);
  const Section work = section_of("work");
  EXPECT_EQ(work.table("work"), nullptr);
  ASSERT_FALSE(work.caveats.empty());
  EXPECT_NE(work.caveats[0].find("record_shapes=True"), std::string::npos);
  EXPECT_EQ(work.figure("flops"), nullptr);
  EXPECT_EQ(real_of(work.figure("coverage")->value), 0.0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(answer("mfu").figure("mfu")->value));
}

TEST_F(WorkTest, AnUnknownGpuHasNoBounds) {
  with_gpu = false;
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  const Section work = section_of("work");
  const Table& rows = *work.table("work");
  EXPECT_EQ(real_of(cell(rows, "aten::mm", "flops")), product_flops);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell(rows, "aten::mm", "efficiency")));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell(rows, "aten::mm", "bound_ns")));
  EXPECT_NE(work.caveats[0].find("--gpu"), std::string::npos);
}

TEST_F(WorkTest, CommunicationAndCopiesAreNoComputeTime) {
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  kernel("ncclDevKernel_AllReduce", 30, 100, 50);
  built.call(thread, "cudaMemcpyAsync", 40, 1, 99);
  built.copy(stream, "Memcpy HtoD", 160, 7, 99);
  EXPECT_EQ(whole_of(section_of("work").figure("compute_ns")->value), 10'000);
}

TEST_F(WorkTest, MfuLeavesOutWhatIsRecomputed) {
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  operation("aten::mm", 30, 20, product);
  kernel("gemm", 35, 110, 10);
  built.finish();
  built.facts.recomputed[3] = 1;  // the second operator (after the first, its launch and its kernel)
  built.facts.devices[0].windows = {{.number = 7, .step = 0, .window = {100'000, 200'000}}};
  built.facts.steps[0].steps.push_back({.number = 7, .annotation = {0, 50'000}, .step_time = 50'000, .outlier = false});
  const Section mfu = answer("mfu");
  // 2 products in 100 µs at 100 GFLOP/s
  EXPECT_DOUBLE_EQ(real_of(mfu.figure("mfu")->value), product_flops / 100e9 / 100e-6);
  EXPECT_DOUBLE_EQ(real_of(mfu.figure("hfu")->value), 2 * product_flops / 100e9 / 100e-6);
  EXPECT_EQ(text_of(mfu.figure("precision")->value), "bf16");
  EXPECT_EQ(real_of(mfu.figure("peak_flops_per_s")->value), 100e9);
  EXPECT_EQ(real_of(mfu.figure("coverage")->value), 1.0);
  ASSERT_NE(mfu.table("by_step"), nullptr);
  EXPECT_EQ(real_of(mfu.table("by_step")->rows[0][column_of(*mfu.table("by_step"), "model_flops")]), product_flops);
}

TEST_F(WorkTest, MfuCountsScoresOfFlashAttentionBackwardOnce) {
  operation(
      "aten::_scaled_dot_product_flash_attention_backward", 0, 20,
      recorded_detail(
          "[[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5],[],[],[],[],[],[],[],[],[]]",
          R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","","","Scalar","Scalar","Scalar","Scalar","long","long","Scalar"])",
          R"(["","","","","","","","","5","5","0.","False","","","0.25"])"));
  kernel("flash_bwd", 5, 100, 10);
  const Section mfu = section_of("mfu");
  const double one_product = 2 * 6 * 25 * 16;
  EXPECT_EQ(real_of(mfu.figure("hardware_flops")->value), 5 * one_product);
  EXPECT_EQ(real_of(mfu.figure("model_flops")->value), 4 * one_product);
  // no steps: from the first slice's start to the last one's end
  EXPECT_EQ(whole_of(mfu.figure("time_ns")->value), 10'000);
}

TEST_F(WorkTest, OutlyingStepsAreShownButNotInTheMean) {
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  operation("aten::mm", 30, 20, product);
  kernel("gemm", 35, 200, 10);
  built.finish();
  built.facts.devices[0].windows = {{.number = 1, .step = 0, .window = {100'000, 200'000}}, {.number = 2, .step = 1, .window = {200'000, 210'000}}};
  built.facts.steps[0].steps = {{.number = 1, .annotation = {0, 25'000}, .step_time = 25'000, .outlier = true},
                                {.number = 2, .annotation = {25'000, 50'000}, .step_time = 25'000, .outlier = false}};
  const Section mfu = answer("mfu");
  EXPECT_DOUBLE_EQ(real_of(mfu.figure("mfu")->value), product_flops / 100e9 / 10e-6);
  EXPECT_EQ(mfu.table("by_step")->rows.size(), 2u);
}

// A description that is too small for what ran: the figure stands, and is called impossible.
TEST_F(WorkTest, AUtilisationAboveTheRateIsCalledImpossible) {
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 1);
  const Section mfu = section_of("mfu");
  EXPECT_DOUBLE_EQ(real_of(mfu.figure("mfu")->value), product_flops / 100e9 / 1e-6);
  EXPECT_TRUE(std::ranges::any_of(mfu.caveats, [](const std::string& caveat) { return caveat.starts_with("More than the rate is not possible"); }));
}

TEST_F(WorkTest, MfuIsAbsentWhereTooLittleIsCovered) {
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  operation("my::custom", 30, 20);
  kernel("custom", 35, 110, 11);
  const Section mfu = section_of("mfu");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(mfu.figure("mfu")->value));
  EXPECT_NEAR(real_of(mfu.figure("coverage")->value), 10.0 / 21, 1e-12);
  EXPECT_NE(mfu.caveats[0].find("less than half"), std::string::npos);
}

TEST_F(WorkTest, MfuOfAnUnknownGpuIsAbsentAndSaysWhy) {
  with_gpu = false;
  operation("aten::mm", 0, 20, product);
  kernel("gemm", 5, 100, 10);
  const Section mfu = section_of("mfu");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(mfu.figure("mfu")->value));
  EXPECT_EQ(real_of(mfu.figure("model_flops")->value), product_flops);
  EXPECT_NE(mfu.caveats[0].find("--gpu"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
