// Attention made of separate calls, found in their order.
#include "edit/attention_spans.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace stepscope {
namespace {

std::vector<AttentionPart> parts(std::string_view letters) {  // p = batched product, s = softmax, b = its backward, . = anything else
  std::vector<AttentionPart> list;
  for (const char c : letters)
    list.push_back(c == 'p'   ? AttentionPart::batched_product
                   : c == 's' ? AttentionPart::softmax
                   : c == 'b' ? AttentionPart::softmax_backward
                              : AttentionPart::other);
  return list;
}
std::string spans(std::string_view letters) {
  std::string text;
  for (const AttentionSpan& one : attention_spans(parts(letters))) text += fmt::format("{}-{}{} ", one.first, one.last, one.backward ? "b" : "");
  return text;
}

TEST(AttentionSpans, FromProductToProduct) {
  EXPECT_EQ(spans("...p..s.p.."), "3-8 ");
  EXPECT_EQ(spans("psp"), "0-2 ");
  EXPECT_EQ(spans("psppsp"), "0-2 3-5 ");
  EXPECT_EQ(spans("p.....s...p"), "0-10 ");
}

TEST(AttentionSpans, BackwardHasTwoProductsOnEachSide) {
  EXPECT_EQ(spans(".pp.b.pp."), "1-7b ");
  EXPECT_EQ(spans("p.b.pp"), "0-5b ");  // the gradient of the values is not among them
  EXPECT_EQ(spans("ppbpp.ppbpp"), "0-4b 6-10b ");
}

TEST(AttentionSpans, NoneWithoutBothProducts) {
  EXPECT_EQ(spans("....s...p"), "");
  EXPECT_EQ(spans("p..s....."), "");
  EXPECT_EQ(spans("p......s.p"), "");  // too far to be its scores
  EXPECT_EQ(spans("p.s.s.p"), "");     // another softmax stands between
  EXPECT_EQ(spans(""), "");
}

TEST(AttentionSpans, Names) {
  EXPECT_EQ(attention_part("aten::bmm", true), AttentionPart::batched_product);
  EXPECT_EQ(attention_part("aten::baddbmm", true), AttentionPart::batched_product);
  EXPECT_EQ(attention_part("aten::addmm", true), AttentionPart::other);  // a projection
  EXPECT_EQ(attention_part("aten::_softmax", false), AttentionPart::softmax);
  EXPECT_EQ(attention_part("aten::_softmax_backward_data", false), AttentionPart::softmax_backward);
  EXPECT_EQ(attention_part("scaled_upper_triang_masked_softmax_warp_forward", false), AttentionPart::softmax);
  EXPECT_EQ(attention_part("aten::_log_softmax", false), AttentionPart::other);  // the loss
}

}  // namespace
}  // namespace stepscope
