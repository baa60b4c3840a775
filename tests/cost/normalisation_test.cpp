#include "cost/recorded_call.h"

namespace stepscope {
namespace {

TEST(NormalisationCost, LayerNorm) {
  // 2·3 rows of 8: n = 48: 5·48 + 6·6; (48 + 48 + 8 + 8)·2 + mean and 1/deviation of 6 rows in fp32
  constexpr const char* types = R"(["c10::BFloat16","ScalarList","c10::BFloat16","c10::BFloat16","Scalar"])";
  EXPECT_WORK(work_of("aten::native_layer_norm", "[[2,3,8],[],[8],[8],[]]", types, R"(["","[8]","","","1e-05"])"), 276, 272);
  // normalised over two dimensions: 2 sets
  EXPECT_WORK(work_of("aten::native_layer_norm", "[[2,3,8],[],[3,8],[3,8],[]]", types, R"(["","[3, 8]","","","1e-05"])"), 5 * 48 + 12, (96 + 48) * 2 + 16);
  // without weight and bias, where the normalised shape is recorded
  EXPECT_WORK(work_of("aten::native_layer_norm", "[[2,3,8],[],[],[],[]]", R"(["float","ScalarList","","","Scalar"])", R"(["","[8]","","","1e-05"])"), 276,
              96 * 4 + 48);
  EXPECT_FALSE(work_of("aten::native_layer_norm", "[[2,3,8],[],[],[],[]]", R"(["float","ScalarList","","","Scalar"])"));
}

TEST(NormalisationCost, BatchNorm) {
  constexpr const char* types = R"(["float","float","float","float","float","Scalar","Scalar","Scalar"])";
  // n = 2·3·4·4 = 96, 3 channels: 5·96 + 18; 2·96·4 + weight, bias, two running statistics read and written (6·3·4) + two saved statistics (2·3·4)
  EXPECT_WORK(work_of("aten::native_batch_norm", "[[2,3,4,4],[3],[3],[3],[3],[],[],[]]", types, R"(["","","","","","True","0.1","1e-05"])"), 498,
              768 + 72 + 24);
  // with given statistics: 2·96 + 18; nothing saved or updated
  EXPECT_WORK(work_of("aten::native_batch_norm", "[[2,3,4,4],[3],[3],[3],[3],[],[],[]]", types, R"(["","","","","","False","0.1","1e-05"])"), 210, 768 + 48);
  EXPECT_FALSE(work_of("aten::native_batch_norm", "[[2,3,4,4],[3],[3],[3],[3],[],[],[]]", types)) << "whether it trains is not recorded";
}

TEST(NormalisationCost, GroupInstanceAndRms) {
  // group norm: batch 2 · 2 groups = 4 sets
  EXPECT_WORK(work_of("aten::native_group_norm", "[[2,6,5],[6],[6],[],[],[],[],[]]",
                      R"(["float","float","float","Scalar","Scalar","Scalar","Scalar","Scalar"])", R"(["","","","2","6","5","2","1e-05"])"),
              5 * 60 + 24, (120 + 12) * 4 + 32);
  EXPECT_WORK(work_of("aten::instance_norm", "[[2,6,5],[6],[6],[],[],[],[],[],[]]", R"(["float","float","float","","","Scalar","Scalar","Scalar","Scalar"])",
                      R"(["","","","","","True","0.1","1e-05","True"])"),
              5 * 60 + 72, (120 + 12) * 4 + 96);
  // RMS: 3·n + 2·rows + n with a weight
  EXPECT_WORK(work_of("aten::rms_norm", "[[3,8],[],[8],[]]", R"(["float","ScalarList","float","Scalar"])", R"(["","[8]","","1e-06"])"), 4 * 24 + 6,
              (48 + 8) * 4);
  EXPECT_WORK(work_of("aten::_fused_rms_norm", "[[3,8],[],[8],[]]", R"(["float","ScalarList","float","Scalar"])", R"(["","[8]","","1e-06"])"), 4 * 24 + 6,
              (48 + 8) * 4 + 12);
  // (result, input, weight, epsilon)
  EXPECT_WORK(work_of("_C::rms_norm", "[[3,8],[3,8],[8],[]]", R"(["float","float","float","Scalar"])"), 4 * 24 + 6, (48 + 8) * 4);
  // (input, residual, weight, epsilon): both are read and written
  EXPECT_WORK(work_of("_C::fused_add_rms_norm", "[[3,8],[3,8],[8],[]]", R"(["float","float","float","Scalar"])"), 5 * 24 + 6, (96 + 8) * 4);
}

TEST(NormalisationBackwardCost, BatchNorm) {
  // (gradient, input, weight, running mean and variance, saved mean and 1/deviation, training, epsilon, mask)
  constexpr const char* dims = "[[2,3,4,4],[2,3,4,4],[3],[3],[3],[3],[3],[],[],[]]";
  constexpr const char* types = R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","float","Scalar","Scalar","ScalarList"])";
  // 9·96; three tensors of 96·2, weight and its two gradients 3·3·2, saved statistics 2·3·4
  EXPECT_WORK(work_of("aten::native_batch_norm_backward", dims, types, R"(["","","","","","","","True","1e-05","[True, True, True]"])"), 864, 576 + 18 + 24);
  EXPECT_WORK(work_of("aten::native_batch_norm_backward", dims, types, R"(["","","","","","","","True","1e-05","[False, True, True]"])"), 384, 384 + 18 + 24);
}

TEST(NormalisationBackwardCost, LayerNorm) {
  // (gradient, input, shape, mean, 1/deviation, weight, bias, mask): 13·48; (3·48 + 3·8)·4 + 2·6·4
  EXPECT_WORK(work_of("aten::native_layer_norm_backward", "[[2,3,8],[2,3,8],[],[2,3,1],[2,3,1],[8],[8],[]]",
                      R"(["float","float","ScalarList","float","float","float","float","ScalarList"])", R"(["","","[8]","","","","","[True, True, True]"])"),
              13 * 48, (144 + 24) * 4 + 48);
}

TEST(NormalisationBackwardCost, RmsNorm) {
  // (gradient, input, shape, 1/rms, weight, mask): n + 7·n + 2·n
  EXPECT_WORK(work_of("aten::_fused_rms_norm_backward", "[[3,8],[3,8],[],[3,1],[8],[]]", R"(["float","float","ScalarList","float","float","ScalarList"])",
                      R"(["","","[8]","","","[True, True]"])"),
              10 * 24, (72 + 16) * 4 + 12);
}

TEST(SoftmaxCost, ForwardAndBackward) {
  EXPECT_WORK(work_of("aten::_softmax", "[[4,10],[],[]]", R"(["float","Scalar","Scalar"])", R"(["","1","False"])"), 200, 320);
  // half to fp32: 40·2 + 40·4
  EXPECT_WORK(work_of("aten::_log_softmax", "[[4,10],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","1","True"])"), 200, 240);
  EXPECT_WORK(work_of("aten::_softmax_backward_data", "[[4,10],[4,10],[],[]]", R"(["float","float","Scalar","Scalar"])", R"(["","","1","6"])"), 160, 480);
}

}  // namespace
}  // namespace stepscope
