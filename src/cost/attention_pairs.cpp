#include "cost/attention_pairs.h"

#include <fmt/core.h>

#include <algorithm>

namespace stepscope {

namespace {

// Σ over i = 0 … n-1 of clamp(i + shift, 0, limit), in closed form: lengths come from files.
double clamped_sum(double n, double shift, double limit) {
  // Rows below zero give nothing, then a rising stretch, then the limit.
  const double first_rising = std::clamp(-shift, 0.0, n), first_limited = std::clamp(limit - shift, first_rising, n);
  const double rising = first_limited - first_rising;
  return rising * shift + (first_rising + first_limited - 1) * rising / 2 + (n - first_limited) * limit;
}

}  // namespace

double attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionMask& mask) {
  const double q = static_cast<double>(queries), k = static_cast<double>(keys);
  const double offset = mask.corner == CausalCorner::bottom_right ? k - q : 0;  // query i stands beside key i + offset
  const std::int64_t right = mask.causal ? 0 : mask.window_right;
  // Query i sees the keys from max(0, i + offset - left) to min(k - 1, i + offset + right).
  const double ends = right < 0 ? q * k : clamped_sum(q, offset + static_cast<double>(right) + 1, k);
  const double begins = mask.window_left < 0 ? 0 : clamped_sum(q, offset - static_cast<double>(mask.window_left), k);
  return std::max(0.0, ends - begins);
}

std::optional<Attention> attention_sizes(const Argument& q, const Argument& k, const Argument& v, AttentionLayout layout) {
  const std::size_t rank = q.shape.size();
  if (rank < 3 || rank > 4 || k.shape.size() != rank || v.shape.size() != rank) return std::nullopt;
  const std::size_t batch_dimensions = rank - 3;
  const std::size_t head = batch_dimensions + (layout == AttentionLayout::batch_head_token ? 0 : 1),
                    token = batch_dimensions + (layout == AttentionLayout::batch_head_token ? 1 : 0);
  Attention sizes;
  sizes.batch = batch_dimensions == 0 ? 1 : static_cast<double>(q.shape[0]);
  sizes.query_heads = q.shape[head];
  sizes.key_heads = k.shape[head];
  sizes.queries = q.shape[token];
  sizes.keys = k.shape[token];
  sizes.score_width = static_cast<double>(q.shape.back());
  sizes.value_width = static_cast<double>(v.shape.back());
  if (batch_dimensions == 1 && (k.shape[0] != q.shape[0] || v.shape[0] != q.shape[0])) return std::nullopt;
  if (k.shape.back() != q.shape.back() || v.shape[token] != sizes.keys || v.shape[head] != sizes.key_heads) return std::nullopt;
  if (sizes.key_heads < 1 || sizes.query_heads % sizes.key_heads != 0 || sizes.queries < 0 || sizes.keys < 0 || sizes.batch < 0 || sizes.score_width < 0 ||
      sizes.value_width < 0)
    return std::nullopt;
  return sizes;
}

std::optional<Attention> packed_attention_sizes(const Argument& q, const Argument& k, const Argument& v, const Argument* query_offsets,
                                                const Argument* key_offsets, std::optional<std::int64_t> longest_query,
                                                std::optional<std::int64_t> longest_key) {
  if (query_offsets == nullptr || key_offsets == nullptr || query_offsets->shape.size() != 1 || key_offsets->shape != query_offsets->shape ||
      q.shape.size() != 3)
    return std::nullopt;
  const std::int64_t sequences = query_offsets->shape[0] - 1;
  if (sequences < 1 || !longest_query || !longest_key || *longest_query < 0 || *longest_key < 0) return std::nullopt;
  std::optional<Attention> sizes = attention_sizes(q, k, v, AttentionLayout::batch_token_head);
  if (!sizes) return std::nullopt;
  const double count = static_cast<double>(sequences);
  if (count * static_cast<double>(*longest_query) != static_cast<double>(sizes->queries) ||
      count * static_cast<double>(*longest_key) != static_cast<double>(sizes->keys))
    return std::nullopt;
  sizes->batch = count;
  sizes->queries = *longest_query;
  sizes->keys = *longest_key;
  return sizes;
}

std::string attention_text(const Attention& attention, const AttentionMask& mask, DataType type) {
  std::string text = fmt::format("b={:.0f} h={}", attention.batch, attention.query_heads);
  if (attention.key_heads != attention.query_heads) text += fmt::format("/{}", attention.key_heads);
  text += fmt::format(" q={} kv={} d={:.0f}", attention.queries, attention.keys, attention.score_width);
  if (attention.value_width != attention.score_width) text += fmt::format("/{:.0f}", attention.value_width);
  text += fmt::format(" {}", data_type_name(type));
  if (mask.causal) text += ", causal";
  if (mask.window_left >= 0 || (mask.window_right >= 0 && !mask.causal)) text += fmt::format(", window {}/{}", mask.window_left, mask.window_right);
  return text;
}

}  // namespace stepscope
