#include "cost/recorded_call.h"

namespace stepscope {
namespace {

// (input, weight, bias, stride, padding, dilation, transposed, output padding, groups)
constexpr const char* types = R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";
constexpr const char* types_with_bias = R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";

TEST(ConvolutionCost, PatchEmbedding) {
  // 224/16 = 14: output 4·768·14·14 = 602112; each a sum of 3·16·16 = 768 products
  EXPECT_WORK(work_of("aten::convolution", "[[4,3,224,224],[768,3,16,16],[],[],[],[],[],[],[]]", types,
                      R"(["","","","[16, 16]","[0, 0]","[1, 1]","False","[0, 0]","1"])"),
              2.0 * 602112 * 768, 4.0 * (602112 + 589824 + 602112));
}

TEST(ConvolutionCost, BiasIsReadAndAdded) {
  EXPECT_WORK(work_of("aten::convolution", "[[1,2,4,4],[3,2,3,3],[3],[],[],[],[],[],[]]", types_with_bias,
                      R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"),
              2 * 48 * 18 + 48, 4 * (32 + 54 + 3 + 48));
}

TEST(ConvolutionCost, StridePaddingDilation) {
  // (7 + 2·3 - 2·(3-1) - 1)/2 + 1 = 5: output 1·3·5·5 = 75
  EXPECT_WORK(
      work_of("aten::convolution", "[[1,2,7,7],[3,2,3,3],[],[],[],[],[],[],[]]", types, R"(["","","","[2, 2]","[3, 3]","[2, 2]","False","[0, 0]","1"])"),
      2 * 75 * 18, 4 * (98 + 54 + 75));
}

TEST(ConvolutionCost, GroupsShareNoChannels) {
  // depthwise: 8 channels, each its own 3×3: output 8·16, 9 products each
  EXPECT_WORK(
      work_of("aten::convolution", "[[1,8,4,4],[8,1,3,3],[],[],[],[],[],[],[]]", types, R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","8"])"),
      2 * 128 * 9, 4 * (128 + 72 + 128));
}

TEST(ConvolutionCost, TransposedSpreadsEachInput) {
  // weight [in 4, out 3, 2, 2], stride 2: output 1·3·10·10 = 300; 4·25 inputs each times 3·2·2 = 12
  EXPECT_WORK(work_of("aten::convolution", "[[1,4,5,5],[4,3,2,2],[],[],[],[],[],[],[]]", types, R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])"),
              2 * 100 * 12, 4 * (100 + 48 + 300));
  // (input, weight, bias, stride, padding, output padding, groups, dilation): output (5-1)·2 - 2 + 3 - 1 + 1 + 1 = 10
  EXPECT_WORK(
      work_of("aten::conv_transpose2d", "[[1,4,5,5],[4,3,3,3],[],[],[],[],[],[]]",
              R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList"])", R"(["","","","[2, 2]","[1, 1]","[1, 1]","1","[1, 1]"])"),
      2 * 100 * 27, 4 * (100 + 108 + 300));
}

TEST(ConvolutionCost, LibraryForms) {
  // cudnn: (input, weight, padding, stride, dilation, groups, …): padding 1, stride 2 on 4×4: output 2×2
  EXPECT_WORK(work_of("aten::cudnn_convolution", "[[1,2,4,4],[3,2,3,3],[],[],[],[],[],[],[]]",
                      R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
                      R"(["","","[1, 1]","[2, 2]","[1, 1]","1","False","False","True"])"),
              2 * 12 * 18, 4 * (32 + 54 + 12));
  // miopen: (input, weight, bias, padding, stride, dilation, groups, …)
  EXPECT_WORK(work_of("aten::miopen_convolution", "[[1,2,4,4],[3,2,3,3],[3],[],[],[],[],[],[]]",
                      R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar"])",
                      R"(["","","","[1, 1]","[2, 2]","[1, 1]","1","False","False"])"),
              2 * 12 * 18 + 12, 4 * (32 + 54 + 3 + 12));
}

TEST(ConvolutionCost, OneDimensionAndNoBatch) {
  constexpr const char* conv = R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar"])";
  constexpr const char* values = R"(["","","","[1]","[0]","[1]","1"])";
  EXPECT_WORK(work_of("aten::conv1d", "[[1,2,10],[3,2,3],[],[],[],[],[]]", conv, values), 2 * 24 * 6, 4 * (20 + 18 + 24));
  EXPECT_WORK(work_of("aten::conv1d", "[[2,10],[3,2,3],[],[],[],[],[]]", conv, values), 2 * 24 * 6, 4 * (20 + 18 + 24));
  // padding as a word: the size stays
  EXPECT_WORK(work_of("aten::conv1d", "[[1,2,10],[3,2,3],[],[],[],[],[]]", R"(["float","float","","ScalarList","","ScalarList","Scalar"])",
                      R"(["","","","[1]","\"same\"","[1]","1"])"),
              2 * 30 * 6, 4 * (20 + 18 + 30));
}

TEST(ConvolutionCost, WithoutConcreteValuesThereIsNoFormula) {
  EXPECT_FALSE(work_of("aten::convolution", "[[1,2,4,4],[3,2,3,3],[],[],[],[],[],[],[]]", types));
  EXPECT_FALSE(
      work_of("aten::convolution", "[[1,5,4,4],[3,2,3,3],[],[],[],[],[],[],[]]", types, R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"));
  EXPECT_FALSE(
      work_of("aten::convolution", "[[1,2,4,4],[3,2,3,3],[],[],[],[],[],[],[]]", types, R"(["","","","[0, 0]","[1, 1]","[1, 1]","False","[0, 0]","1"])"));
}

// (gradient, input, weight, bias sizes, stride, padding, dilation, transposed, output padding, groups, mask)
constexpr const char* backward_types =
    R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])";

std::optional<Work> backward(const char* mask) {
  return work_of("aten::convolution_backward", "[[1,3,4,4],[1,2,4,4],[3,2,3,3],[],[],[],[],[],[],[],[]]", backward_types,
                 std::string(R"(["","","","[3]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1",")") + mask + "\"]");
}

TEST(ConvolutionBackwardCost, FollowsTheOutputMask) {
  // forward multiply-adds 48·18 = 864; gradient 48, input 32, weight 54 elements
  EXPECT_WORK(backward("[True, True, False]"), 4 * 864, 4 * (48 + 54 + 32 + 32 + 54));
  EXPECT_WORK(backward("[True, True, True]"), 4 * 864 + 48, 4 * (48 + 54 + 32 + 32 + 54 + 3));
  EXPECT_WORK(backward("[False, True, False]"), 2 * 864, 4 * (48 + 32 + 54));
  EXPECT_WORK(backward("[True, False, False]"), 2 * 864, 4 * (48 + 54 + 32));
  EXPECT_FALSE(backward(""));
}

TEST(ConvolutionBackwardCost, Transposed) {
  EXPECT_WORK(work_of("aten::convolution_backward", "[[1,3,10,10],[1,4,5,5],[4,3,2,2],[],[],[],[],[],[],[],[]]", backward_types,
                      R"(["","","","[0]","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1","[True, True, False]"])"),
              2 * 2 * 100 * 12, 4 * (300 + 48 + 100 + 100 + 48));
}

}  // namespace
}  // namespace stepscope
