#include "cost/recorded_call.h"

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cost/attention_pairs.h"

namespace stepscope {
namespace {

// The definition, pair by pair.
double counted_pairs(std::int64_t queries, std::int64_t keys, const AttentionMask& mask) {
  double pairs = 0;
  const std::int64_t offset = mask.corner == CausalCorner::bottom_right ? keys - queries : 0;
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j) {
      const bool after = mask.causal ? j > i + offset : mask.window_right >= 0 && j > i + offset + mask.window_right;
      const bool before = mask.window_left >= 0 && j < i + offset - mask.window_left;
      pairs += after || before ? 0 : 1;
    }
  return pairs;
}

TEST(AttentionPairs, KnownShapes) {
  EXPECT_EQ(attention_pairs(5, 7, {}), 35);
  EXPECT_EQ(attention_pairs(4, 4, {.causal = true}), 10);
  EXPECT_EQ(attention_pairs(2, 5, {.causal = true, .corner = CausalCorner::top_left}), 3);      // 1 + 2
  EXPECT_EQ(attention_pairs(2, 5, {.causal = true, .corner = CausalCorner::bottom_right}), 9);  // 4 + 5
  EXPECT_EQ(attention_pairs(5, 2, {.causal = true, .corner = CausalCorner::top_left}), 9);      // 1 + 2 + 2 + 2 + 2
  EXPECT_EQ(attention_pairs(5, 2, {.causal = true, .corner = CausalCorner::bottom_right}), 3);  // 0 + 0 + 0 + 1 + 2
  EXPECT_EQ(attention_pairs(6, 6, {.causal = true, .window_left = 1}), 11);                     // 1 + 5·2
  EXPECT_EQ(attention_pairs(0, 5, {.causal = true}), 0);
}

RC_GTEST_PROP(AttentionPairs, ClosedFormEqualsCounting, ()) {
  AttentionMask mask;
  mask.causal = *rc::gen::arbitrary<bool>();
  mask.corner = *rc::gen::element(CausalCorner::top_left, CausalCorner::bottom_right);
  mask.window_left = *rc::gen::inRange<std::int64_t>(-1, 12);
  mask.window_right = *rc::gen::inRange<std::int64_t>(-1, 12);
  const auto queries = *rc::gen::inRange<std::int64_t>(0, 20), keys = *rc::gen::inRange<std::int64_t>(0, 20);
  RC_ASSERT(attention_pairs(queries, keys, mask) == counted_pairs(queries, keys, mask));
}

constexpr const char* flash_types = R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar"])";

TEST(AttentionCost, ScaledDotProductFlash) {
  // 2·(2·3·(5·7))·(16 + 16); (2·3·5·16·2 + 2·2·3·7·16)·2 + log-sum-exp 2·3·5·4
  EXPECT_WORK(work_of("aten::_scaled_dot_product_flash_attention", "[[2,3,5,16],[2,3,7,16],[2,3,7,16],[],[],[],[]]", flash_types,
                      R"(["","","","0.","False","False","0.25"])"),
              2 * 6 * 35 * 32, (2 * 480 + 2 * 672) * 2 + 120);
  // causal, fewer queries than keys: the kernel lets the last query see the last key: 3 + 4 + 5 + 6 + 7 = 25 pairs
  EXPECT_WORK(work_of("aten::_scaled_dot_product_flash_attention", "[[2,3,5,16],[2,3,7,16],[2,3,7,16],[],[],[],[]]", flash_types,
                      R"(["","","","0.","True","False","0.25"])"),
              2 * 6 * 25 * 32, (2 * 480 + 2 * 672) * 2 + 120);
}

TEST(AttentionCost, GroupedQueriesShareKeys) {
  // 4 query heads on 2 key heads: the products of 4 heads, the keys of 2
  EXPECT_WORK(work_of("aten::scaled_dot_product_attention", "[[1,4,5,8],[1,2,5,8],[1,2,5,8],[],[],[],[],[]]",
                      R"(["c10::Half","c10::Half","c10::Half","","Scalar","Scalar","","Scalar"])", R"(["","","","","0.","True","","True"])"),
              2 * 4 * 15 * 16, (160 + 80 + 80 + 160) * 2);
  EXPECT_FALSE(work_of("aten::scaled_dot_product_attention", "[[1,3,5,8],[1,2,5,8],[1,2,5,8],[],[],[],[],[]]",
                       R"(["c10::Half","c10::Half","c10::Half","","Scalar","Scalar","","Scalar"])", R"(["","","","","0.","True","","True"])"));
}

TEST(AttentionCost, MaskTensorIsRead) {
  EXPECT_WORK(work_of("aten::_scaled_dot_product_efficient_attention", "[[1,1,4,8],[1,1,4,8],[1,1,4,8],[1,1,4,4],[],[],[],[]]",
                      R"(["float","float","float","float","Scalar","Scalar","Scalar","Scalar"])", R"(["","","","","False","0.","False",""])"),
              2 * 16 * 16, 4 * (32 * 4 + 16) + 16);
}

TEST(AttentionCost, FlashForwardHasTokensBeforeHeads) {
  constexpr const char* types = R"(["c10::Half","c10::Half","c10::Half","","","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","","",""])";
  EXPECT_WORK(work_of("aten::_flash_attention_forward", "[[2,5,3,16],[2,5,3,16],[2,5,3,16],[],[],[],[],[],[],[],[],[],[],[],[]]", types,
                      R"(["","","","","","5","5","0.","True","False","0.25","","","",""])"),
              2 * 6 * 15 * 32, 4 * 480 * 2 + 120);
  // a sliding window of 2 keys before: 1 + 2 + 3 + 3 + 3 = 12 pairs
  EXPECT_WORK(work_of("aten::_flash_attention_forward", "[[2,5,3,16],[2,5,3,16],[2,5,3,16],[],[],[],[],[],[],[],[],[],[],[],[]]", types,
                      R"(["","","","","","5","5","0.","True","False","0.25","2","0","",""])"),
              2 * 6 * 12 * 32, 4 * 480 * 2 + 120);
}

TEST(AttentionCost, PackedSequencesOnlyWhereAllAreEquallyLong) {
  const auto packed = [](const char* longest) {
    return work_of(
        "flash_attn::_flash_attn_varlen_forward", "[[10,3,16],[10,3,16],[10,3,16],[3],[3],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
        R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar","","","",""])",
        std::string(R"(["","","","","",")") + longest + R"(",")" + longest + R"(","0.","0.25","True","-1","-1","0.","","False","","","",""])");
  };
  // two sequences of 5: 2·3 heads · 15 pairs
  EXPECT_WORK(packed("5"), 2 * 6 * 15 * 32, 4 * 480 * 2 + 120);
  EXPECT_FALSE(packed("6")) << "then one is longer than the other, by how much is data";
}

TEST(AttentionCost, ACacheOfPagesIsNotKnown) {
  EXPECT_FALSE(work_of(
      "flash_attn::_flash_attn_varlen_forward", "[[10,3,16],[10,3,16],[10,3,16],[3],[3],[],[],[],[],[],[],[],[],[],[],[2,4],[],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar","int","","",""])",
      R"(["","","","","","5","5","0.","0.25","True","-1","-1","0.","","False","","","",""])"));
}

TEST(AttentionCost, WhetherItIsCausalMustBeRecorded) {
  EXPECT_FALSE(work_of("aten::_scaled_dot_product_flash_attention", "[[2,3,5,16],[2,3,7,16],[2,3,7,16],[],[],[],[]]", flash_types));
}

TEST(AttentionBackwardCost, FiveProductsOneOfThemRepeated) {
  // (gradient, q, k, v, output, log-sum-exp, …, causal at 11): 2·6·15 pairs times 3·16 + 2·16
  const auto work = work_of(
      "aten::_scaled_dot_product_flash_attention_backward", "[[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5,16],[2,3,5],[],[],[],[],[],[],[],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","","","Scalar","Scalar","Scalar","Scalar","long","long","Scalar"])",
      R"(["","","","","","","","","5","5","0.","True","","","0.25"])");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2 * 6 * 15 * (48 + 32));
  EXPECT_EQ(work->repeated_flops, 2 * 6 * 15 * 16);
  // gradient, q, k, v, output read and three gradients written: 8·480·2; log-sum-exp 30·4
  EXPECT_EQ(work->bytes, 8 * 480 * 2 + 120);
  EXPECT_TRUE(find_operator_cost("aten::_scaled_dot_product_flash_attention_backward")->backward);
}

}  // namespace
}  // namespace stepscope
