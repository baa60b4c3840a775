// Which (query, key) pairs an attention computes. Used by attention.cpp and attention_backward.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cost/arguments.h"

namespace stepscope {

// Where the causal diagonal starts when queries and keys differ in number: at the first key, or so that the last query sees the last key.
enum class CausalCorner : std::uint8_t { top_left, bottom_right };

struct AttentionMask {
  bool causal = false;
  CausalCorner corner = CausalCorner::top_left;
  std::int64_t window_left = -1, window_right = -1;  // keys before and after a query's own place that it sees; -1 = all
};

// Pairs of one head of one sequence that are not masked away: queries·keys without a mask, q(q+1)/2 for a causal square.
double attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionMask& mask);

// Order of the dimensions of q, k and v.
enum class AttentionLayout : std::uint8_t {
  batch_head_token,  // [b, h, t, d]: scaled_dot_product_attention and its kinds
  batch_token_head,  // [b, t, h, d]: flash-attention's own functions
};

struct Attention {
  double batch = 0;
  std::int64_t query_heads = 0, key_heads = 0, queries = 0, keys = 0;
  double score_width = 0, value_width = 0;  // head dimensions of q and k, and of v
};

// From q, k and v, each with 4 dimensions, or 3 where the batch is one and not written. Absent where sizes do not fit each other.
std::optional<Attention> attention_sizes(const Argument& q, const Argument& k, const Argument& v, AttentionLayout layout);
// Of packed sequences of different length ([tokens, h, d] with offsets of sequences): only where all sequences are as long as the longest, because then
// the recorded numbers say all lengths. Absent otherwise.
std::optional<Attention> packed_attention_sizes(const Argument& q, const Argument& k, const Argument& v, const Argument* query_offsets,
                                                const Argument* key_offsets, std::optional<std::int64_t> longest_query,
                                                std::optional<std::int64_t> longest_key);

std::string attention_text(const Attention& attention, const AttentionMask& mask, DataType type);

}  // namespace stepscope
