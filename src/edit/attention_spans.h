// Where attention that is made of separate kernels begins and ends among operator calls in order.
//
// forward:  the batched product nearest before a softmax (queries and keys), and the one nearest behind it (with the values)
// backward: the two before the softmax's backward (gradients of values and of probabilities), and the two behind it (of queries and keys)
// Projections before and behind are plain products (mm, addmm, linear) and stay outside.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace stepscope {

enum class AttentionPart : unsigned char { batched_product, softmax, softmax_backward, other };

// Of a call by its operator's name, or of a kernel whose operator is not known by its own. is_product: its work is a matrix product's.
AttentionPart attention_part(std::string_view name, bool is_product);

struct AttentionSpan {
  std::size_t softmax = 0;
  std::size_t first = 0, last = 0;  // both within
  bool backward = false;
};
// Ascending, none within another. Scaling, mask, dropout and casts may stand between: 5 calls before and 3 behind (ours; 7 in backward).
std::vector<AttentionSpan> attention_spans(std::span<const AttentionPart> calls);

}  // namespace stepscope
