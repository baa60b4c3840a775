// Losses, dropout, embeddings, elementwise operators, reductions, pooling, copies, optimizers.
#include "cost/recorded_call.h"

namespace stepscope {
namespace {

TEST(LossCost, CrossEntropyAndItsParts) {
  // 4 rows of 10 classes
  EXPECT_WORK(
      work_of("aten::cross_entropy_loss", "[[4,10],[4],[],[],[],[]]", R"(["float","long int","","Scalar","Scalar","Scalar"])", R"(["","","","1","-100","0."])"),
      5 * 40 + 8, 40 * 4 + 4 * 8 + 4);
  EXPECT_WORK(work_of("aten::nll_loss_forward", "[[4,10],[4],[],[],[]]", R"(["float","long int","","Scalar","Scalar"])", R"(["","","","1","-100"])"), 4,
              4 * 8 + 4 * 4 + 4);
  EXPECT_WORK(work_of("aten::nll_loss_backward", "[[],[4,10],[4],[],[],[],[]]", R"(["float","float","long int","","Scalar","Scalar","float"])",
                      R"(["","","","","1","-100",""])"),
              4, 4 * 8 + 4 + 160);
  EXPECT_FALSE(work_of("aten::cross_entropy_loss", "[[4,10],[4,10],[],[],[],[]]", R"(["float","float","","Scalar","Scalar","Scalar"])",
                       R"(["","","","1","-100","0."])"));
}

TEST(LossCost, Pointwise) {
  EXPECT_WORK(work_of("aten::mse_loss", "[[4,10],[4,10],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"), 120, 324);
  EXPECT_WORK(work_of("aten::mse_loss", "[[4,10],[4,10],[]]", R"(["float","float","Scalar"])", R"(["","","0"])"), 120, 480);
  EXPECT_WORK(work_of("aten::mse_loss_backward", "[[],[4,10],[4,10],[]]", R"(["float","float","float","Scalar"])", R"(["","","","1"])"), 120, 484);
}

TEST(DropoutCost, KeepsAMask) {
  EXPECT_WORK(work_of("aten::native_dropout", "[[4,10],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","0.1","True"])"), 80, 200);
  EXPECT_WORK(work_of("aten::native_dropout_backward", "[[4,10],[4,10],[]]", R"(["c10::Half","bool","Scalar"])", R"(["","","1.1"])"), 80, 200);
  EXPECT_FALSE(work_of("aten::dropout", "[[4,10],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","0.1","False"])")) << "outside training it does nothing";
}

TEST(EmbeddingCost, Lookups) {
  // 3·2 indices of 8 bytes, 6 rows of 5 picked and written
  EXPECT_WORK(work_of("aten::embedding", "[[100,5],[3,2],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])"), 0, 48 + 120 + 120);
  // more indices than rows: the table is read once
  EXPECT_WORK(work_of("aten::embedding", "[[2,5],[3,2],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])"), 0, 48 + 40 + 120);
  EXPECT_WORK(work_of("aten::index_select", "[[7,100],[],[6]]", R"(["float","Scalar","int"])", R"(["","1",""])"), 0, 24 + 168 + 168);
  EXPECT_WORK(work_of("aten::gather", "[[4,10],[],[4,1],[]]", R"(["float","Scalar","long int","Scalar"])", R"(["","1","","False"])"), 0, 32 + 16 + 16);
}

TEST(EmbeddingCost, Gradients) {
  // 30 elements added into a table of 100·5
  EXPECT_WORK(work_of("aten::embedding_dense_backward", "[[3,2,5],[3,2],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])",
                      R"(["","","100","-1","False"])"),
              30, 120 + 48 + 2000);
  EXPECT_WORK(work_of("aten::scatter_add_", "[[100],[],[6],[6]]", R"(["float","Scalar","long int","float"])", R"(["","0","",""])"), 6, 48 + 24 + 48);
}

TEST(ElementwiseCost, Unary) {
  EXPECT_WORK(work_of("aten::gelu", "[[4,10],[]]", R"(["c10::BFloat16",""])"), 40, 160);
  EXPECT_WORK(work_of("aten::isnan", "[[4,10]]", R"(["float"])"), 40, 200);
  EXPECT_WORK(work_of("aten::sqrt", "[[4]]", R"(["long int"])"), 4, 48);  // integers become fp32
  EXPECT_WORK(work_of("aten::relu_", "[[4,10]]", R"(["float"])"), 40, 320);
}

TEST(ElementwiseCost, BroadcastInputsAreReadOnce) {
  EXPECT_WORK(work_of("aten::add", "[[4,10],[10],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"), 40, 160 + 40 + 160);
  EXPECT_WORK(work_of("aten::mul", "[[4,1],[1,10]]", R"(["float","float"])"), 40, 16 + 40 + 160);
  EXPECT_WORK(work_of("aten::mul", "[[4,10],[4,10]]", R"(["float","float"])", {}, "[[10,1],[1,0]]"), 40, 160 + 16 + 160);
  EXPECT_FALSE(work_of("aten::mul", "[[4,3],[10]]", R"(["float","float"])"));
}

TEST(ElementwiseCost, TypesArePromoted) {
  EXPECT_WORK(work_of("aten::mul", "[[4,10],[4,10]]", R"(["c10::BFloat16","float"])"), 40, 80 + 160 + 160);
  EXPECT_WORK(work_of("aten::mul", "[[4,10],[]]", R"(["c10::BFloat16","double"])"), 40, 80 + 8 + 80);  // a number without dimensions does not widen
  EXPECT_WORK(work_of("aten::mul", "[[4,10],[]]", R"(["long int","Scalar"])", R"(["","0.5"])"), 40,
              320 + 160);  // integers times a number with a point are fp32
  EXPECT_WORK(work_of("aten::mul", "[[4,10],[]]", R"(["long int","Scalar"])", R"(["","2"])"), 40, 640);
  EXPECT_WORK(work_of("aten::div", "[[4,10],[4,10]]", R"(["int","int"])"), 40, 480);
  EXPECT_WORK(work_of("aten::eq", "[[4,10],[4,10]]", R"(["int","int"])"), 40, 360);
  EXPECT_WORK(work_of("aten::where", "[[4,10],[4,10],[]]", R"(["bool","c10::Half","c10::Half"])"), 40, 40 + 80 + 2 + 80);
}

TEST(ElementwiseCost, AnOutputArgumentIsNotRead) {
  EXPECT_WORK(work_of("aten::add", "[[4],[4],[],[4]]", R"(["float","float","Scalar","float"])"), 4, 48);
}

TEST(ElementwiseCost, StepsOfAFormulaCount) {
  EXPECT_WORK(work_of("aten::addcmul_", "[[4],[4],[4],[]]", R"(["float","float","float","Scalar"])"), 12, 64);
  EXPECT_WORK(work_of("aten::sigmoid_backward", "[[4],[4]]", R"(["float","float"])"), 12, 48);
}

TEST(ReductionCost, ToFewerElements) {
  EXPECT_WORK(work_of("aten::sum", "[[5,128],[],[],[]]", R"(["float","ScalarList","Scalar",""])", R"(["","[0]","True",""])"), 640, 2560 + 512);
  EXPECT_WORK(work_of("aten::sum", "[[5,128],[]]", R"(["float",""])"), 640, 2564);
  EXPECT_WORK(work_of("aten::mean", "[[5,128],[],[],[]]", R"(["float","ScalarList","Scalar",""])", R"(["","[-1]","False",""])"), 645, 2560 + 20);
  EXPECT_WORK(work_of("aten::max", "[[5,128],[],[]]", R"(["float","Scalar","Scalar"])", R"(["","1","False"])"), 640, 2560 + 20 + 40);  // values and places
  EXPECT_WORK(work_of("aten::argmax", "[[5,128],[],[]]", R"(["float","Scalar","Scalar"])", R"(["","1","False"])"), 640, 2560 + 40);
  EXPECT_WORK(work_of("aten::sum", "[[5]]", R"(["bool"])"), 5, 5 + 8);
  EXPECT_WORK(work_of("aten::cumsum", "[[5],[],[]]", R"(["int","Scalar",""])", R"(["","0",""])"), 5, 20 + 40);
  EXPECT_FALSE(work_of("aten::sum", "[[5,128],[],[],[]]", R"(["float","ScalarList","Scalar",""])")) << "over which dimension is not recorded";
}

TEST(ReductionCost, AllAndAnyAreBoolean) {
  EXPECT_WORK(work_of("aten::all", "[[1,141]]", R"(["float"])"), 141, 141 * 4 + 1);
}

TEST(FillCost, WritesTheTensor) {
  EXPECT_WORK(work_of("aten::fill_", "[[5,128],[]]", R"(["float","Scalar"])"), 0, 2560);
  EXPECT_WORK(work_of("aten::zero_", "[[5,128]]", R"(["c10::Half"])"), 0, 1280);
}

TEST(PoolingCost, MaxPool) {
  // (input, kernel, stride, padding, dilation, ceil): (8 + 2 - 3)/2 + 1 = 4: 2·16 outputs of 9 values
  EXPECT_WORK(work_of("aten::max_pool2d_with_indices", "[[1,2,8,8],[],[],[],[],[]]",
                      R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])", R"(["","[3, 3]","[2, 2]","[1, 1]","[1, 1]","False"])"),
              9 * 32, 512 + 128 + 256);
  EXPECT_WORK(work_of("aten::max_pool2d_with_indices_backward", "[[1,2,4,4],[1,2,8,8],[],[],[],[],[],[1,2,4,4]]",
                      R"(["float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","long int"])"),
              32, 128 + 256 + 512);
}

TEST(CopyCost, SourceAndDestination) {
  EXPECT_WORK(work_of("aten::copy_", "[[4,10],[4,10],[]]", R"(["c10::BFloat16","float","Scalar"])"), 0, 240);
  EXPECT_WORK(work_of("aten::copy_", "[[4,10],[10],[]]", R"(["float","float","Scalar"])"), 0, 200);
  EXPECT_WORK(work_of("aten::_to_copy", "[[4,10],[],[],[],[],[],[]]", R"(["float","Scalar","","","","",""])", R"(["","15","","","","False",""])"), 0, 240);
  EXPECT_WORK(work_of("aten::clone", "[[4,10],[]]", R"(["float","Scalar"])"), 0, 320);
}

TEST(CopyCost, ListsNeedTheirTypes) {
  EXPECT_FALSE(work_of("aten::cat", "[[[4,1,8],[4,2,8]],[]]", R"(["TensorList","Scalar"])"));
  EXPECT_WORK(work_of("aten::cat", "[[[4,1,8],[4,2,8]],[]]", R"([["float","float"],"Scalar"])"), 0, 768);
}

TEST(OptimizerCost, FusedAdam) {
  // two parameters of 10 and 20: read and write parameter and two moments, read gradient: 7·30·4; decay 0.01 costs two more
  constexpr const char* dims = "[[[10],[20]],[[10],[20]],[[10],[20]],[[10],[20]],[],[[],[]],[],[],[],[],[],[],[],[],[]]";
  constexpr const char* lists = R"(["float","float"])";
  const std::string types = std::string("[") + lists + "," + lists + "," + lists + "," + lists +
                            R"(,"","TensorList","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","",""])";
  EXPECT_WORK(work_of("aten::_fused_adamw_", dims, types, R"(["","","","","","","0.001","0.9","0.999","0.01","1e-08","False","False","",""])"), 13 * 30, 840);
  EXPECT_WORK(work_of("aten::_fused_adam_", dims, types, R"(["","","","","","","0.001","0.9","0.999","0.","1e-08","False","False","",""])"), 11 * 30, 840);
  EXPECT_FALSE(work_of("aten::_fused_adamw_", "[[],[],[],[],[],[]]", R"(["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList"])"));
}

TEST(OptimizerCost, Foreach) {
  EXPECT_WORK(work_of("aten::_foreach_add_", "[[[10],[20]],[[10],[20]],[]]", R"([["float","float"],["float","float"],"Scalar"])", R"(["","","-0.001"])"), 60,
              360);
  EXPECT_WORK(work_of("aten::_foreach_mul_", "[[[10],[20]],[]]", R"([["float","float"],"Scalar"])", R"(["","0.9"])"), 30, 240);
  EXPECT_FALSE(work_of("aten::_foreach_add_", "[[[10]],[[10]],[]]", R"(["TensorList","TensorList","Scalar"])"));
}

}  // namespace
}  // namespace stepscope
