#include "cost/recorded_call.h"

namespace stepscope {
namespace {

constexpr const char* two_bf16 = R"(["c10::BFloat16","c10::BFloat16"])";

TEST(GemmCost, MatrixProduct) {
  // 2·3·5·7 = 210; (3·7 + 7·5 + 3·5)·2 bytes = 142
  EXPECT_WORK(work_of("aten::mm", "[[3,7],[7,5]]", two_bf16), 210, 142);
  const auto work = work_of("aten::mm", "[[3,7],[7,5]]", two_bf16);
  EXPECT_EQ(work->type, DataType::bf16);
  EXPECT_TRUE(work->matrix_units);
  EXPECT_EQ(work->description, "m=3 n=5 k=7 bf16");
}

TEST(GemmCost, AddedBiasOrMatrixIsReadAndAdded) {
  // 2·141·512·512 + 141·512; (512 + 141·512 + 512·512 + 141·512)·2
  constexpr const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])";
  EXPECT_WORK(work_of("aten::addmm", "[[512],[141,512],[512,512],[],[]]", types), 73996800, 814080);
  // 3·5 = 15 more; the matrix that is added has 15 elements
  EXPECT_WORK(work_of("aten::addmm", "[[3,5],[3,7],[7,5],[],[]]", types), 225, 172);
  EXPECT_WORK(work_of("aten::baddbmm", "[[2,3,5],[2,3,7],[2,7,5],[],[]]", types), 450, 344);
  // an expanded bias (stride 0) is read once: 5 elements instead of 15
  EXPECT_WORK(work_of("aten::addmm", "[[3,5],[3,7],[7,5],[],[]]", types, {}, "[[0,1],[7,1],[5,1],[],[]]"), 225, 152);
}

TEST(GemmCost, BatchedProducts) {
  // 4 · 2·3·5·7; 4 · 142
  EXPECT_WORK(work_of("aten::bmm", "[[4,3,7],[4,7,5]]", two_bf16), 840, 568);
  // matmul broadcasts the batch: 4 products, but B only once: (4·21 + 35 + 4·15)·2
  EXPECT_WORK(work_of("aten::matmul", "[[4,3,7],[7,5]]", two_bf16), 840, 358);
  // vector times matrix: 2·5·7; (7 + 35 + 5)·2
  EXPECT_WORK(work_of("aten::matmul", "[[7],[7,5]]", two_bf16), 70, 94);
  EXPECT_WORK(work_of("aten::mv", "[[3,7],[7]]", two_bf16), 42, 62);
}

TEST(GemmCost, LinearTakesItsWeightTransposed) {
  constexpr const char* types = R"(["float","float","float"])";
  // rows 2·3 = 6, n 5, k 7: 2·6·5·7 + 30; (42 + 35 + 5 + 30)·4
  EXPECT_WORK(work_of("aten::linear", "[[2,3,7],[5,7],[5]]", types), 450, 448);
  EXPECT_WORK(work_of("aten::linear", "[[2,3,7],[5,7],[]]", R"(["float","float",""])"), 420, 428);
}

TEST(GemmCost, OutputTypes) {
  // 8-bit integers give 32-bit results: 21 + 35 + 15·4
  EXPECT_WORK(work_of("aten::_int_mm", "[[3,7],[7,5]]", R"(["signed char","signed char"])"), 210, 116);
  // mm(A, B, out_dtype = 6 = fp32): (21 + 35)·2 + 15·4
  EXPECT_WORK(work_of("aten::mm", "[[3,7],[7,5],[]]", R"(["c10::BFloat16","c10::BFloat16","Scalar"])", R"(["","","6"])"), 210, 172);
}

TEST(GemmCost, WhatDoesNotFitHasNoFormula) {
  EXPECT_FALSE(work_of("aten::mm", "[[3,7],[8,5]]", two_bf16));
  EXPECT_FALSE(work_of("aten::mm", "[[3,7]]", two_bf16));
  EXPECT_FALSE(work_of("aten::mm", "[[3,7],[7,5]]", R"(["mystery","mystery"])"));
  EXPECT_FALSE(work_of("aten::bmm", "[[4,3,7],[3,7,5]]", two_bf16));
  EXPECT_FALSE(work_of("aten::addmm", "[[],[3,7],[7,5]]", R"(["","float","float"])"));
}

TEST(ScaledGemmCost, BothOrdersOfArguments) {
  // 2·16·32·64; A 16·64 + B 64·32 + two scales of 4 + bias 32·2 + output 16·32·2 (type 15 = bf16)
  EXPECT_WORK(
      work_of("aten::_scaled_mm", "[[16,64],[64,32],[],[],[32],[],[],[]]",
              R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","c10::BFloat16","","Scalar","Scalar"])", R"(["","","","","","","15","False"])"),
      2 * 16 * 32 * 64 + 16 * 32, 1024 + 2048 + 8 + 64 + 1024);
  EXPECT_WORK(work_of("aten::_scaled_mm", "[[16,64],[64,32],[],[],[],[],[],[]]",
                      R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","","Scalar","float","float","","Scalar"])", R"(["","","","15","","","","False"])"),
              2 * 16 * 32 * 64, 1024 + 2048 + 8 + 1024);
}

TEST(ScaledGemmCost, PackedFp4HoldsTwoValuesPerElement) {
  // recorded k 32 means 64; A 16·32 bytes, B 32·32 bytes, scales 1 byte per 16 values
  EXPECT_WORK(work_of("aten::_scaled_mm", "[[16,32],[32,32],[16,4],[32,4],[],[],[],[]]",
                      R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"])",
                      R"(["","","","","","","15","False"])"),
              2 * 16 * 32 * 64, 512 + 1024 + 64 + 128 + 1024);
}

TEST(ScaledGemmCost, AnUnknownOutputTypeHasNoFormula) {
  EXPECT_FALSE(work_of("aten::_scaled_mm", "[[16,64],[64,32],[],[],[],[],[],[]]",
                       R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])", R"(["","","","","","","29","False"])"));
}

TEST(GroupedGemmCost, TheFourForms) {
  constexpr const char* types = R"(["c10::BFloat16","c10::BFloat16","int","",""])";
  // rows in groups: 2·12·5·7; (84 + 4·35 + 60)·2 + 4 offsets of 4
  EXPECT_WORK(work_of("aten::_grouped_mm", "[[12,7],[4,7,5],[4],[],[]]", types), 840, (84 + 140 + 60) * 2 + 16);
  // columns in groups: A[4,3,7]·B[7,20]: 2·3·20·7; output [3,20]
  EXPECT_WORK(work_of("aten::_grouped_mm", "[[4,3,7],[7,20],[4],[],[]]", types), 840, (84 + 140 + 60) * 2 + 16);
  // inner dimension in groups: A[3,28]·B[28,5]: 2·3·5·28; output [4,3,5]
  EXPECT_WORK(work_of("aten::_grouped_mm", "[[3,28],[28,5],[4],[],[]]", types), 840, (84 + 140 + 60) * 2 + 16);
  // batched
  EXPECT_WORK(work_of("aten::_grouped_mm", "[[4,3,7],[4,7,5],[],[],[]]", R"(["c10::BFloat16","c10::BFloat16","","",""])"), 840, (84 + 140 + 60) * 2);
  EXPECT_FALSE(work_of("aten::_grouped_mm", "[[3,28],[28,5],[],[],[]]", R"(["c10::BFloat16","c10::BFloat16","","",""])")) << "how many groups is not recorded";
}

TEST(GroupedGemmCost, ScaledForm) {
  EXPECT_WORK(work_of("aten::_scaled_grouped_mm", "[[16,32],[2,32,16],[16],[2,16],[2],[],[],[],[]]",
                      R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","int","","","Scalar","Scalar"])", R"(["","","","","","","","15","True"])"),
              2 * 16 * 32 * 16, 512 + 1024 + 64 + 128 + 8 + 512);
}

}  // namespace
}  // namespace stepscope
