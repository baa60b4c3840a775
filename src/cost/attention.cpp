// Scaled-dot-product attention, forward.
// FLOPs: 2·b·h·pairs·(d_qk + d_v), pairs = the (query, key) pairs that the mask leaves (attention_pairs.h); softmax is not counted. A causal square of n
// has n(n+1)/2 pairs. Kernels compute whole tiles on the diagonal; those extra products are not counted.
// Bytes: q + k + v + mask + output (of v's width, q's type) + log-sum-exp (fp32 per query and head, where the operator keeps it), each once.
// Grouped queries (fewer key heads) share their keys: only bytes know it.
// Sources: native_functions.yaml; which corner the causal diagonal starts in: PyTorch documents top-left for scaled_dot_product_attention and the efficient and
// cuDNN kinds; flash-attention 2.1 and later (and PyTorch's kernels made from it) bottom-right.
// Limits: a mask tensor may hide pairs that are counted here; sequences of different length in one call are only known where all are equally long;
// paged caches are not known.

#include <array>

#include "cost/attention_pairs.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

// Index of each argument by operator; none = the operator has no such argument.
struct Layout {
  std::string_view name;
  AttentionLayout layout;
  CausalCorner corner;
  std::size_t mask, causal, query_offsets, longest_query, window_left;  // key_offsets, longest_key and window_right follow their neighbours
  bool keeps_log_sum_exp;
};
using enum AttentionLayout;
using enum CausalCorner;
constexpr Layout layouts[] = {
    // name                                            layout            corner        mask causal offsets longest window lse
    {"aten::scaled_dot_product_attention", batch_head_token, top_left, 3, 5, none, none, none, false},
    {"aten::_scaled_dot_product_flash_attention", batch_head_token, bottom_right, none, 4, none, none, none, true},
    {"aten::_scaled_dot_product_efficient_attention", batch_head_token, top_left, 3, 6, none, none, none, true},
    {"aten::_scaled_dot_product_cudnn_attention", batch_head_token, top_left, 3, 6, none, none, none, true},
    {"aten::_flash_attention_forward", batch_token_head, bottom_right, none, 8, 3, 5, 11, true},
    {"aten::_efficient_attention_forward", batch_token_head, top_left, 3, none, 4, 6, none, true},
    {"flash_attn::_flash_attn_forward", batch_token_head, bottom_right, none, 5, none, none, 6, true},
    {"flash_attn::_flash_attn_varlen_forward", batch_token_head, bottom_right, none, 9, 3, 5, 10, true},
    {"flash_attn_3::fwd", batch_token_head, bottom_right, none, 24, 7, 12, 25, true},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

// Absent where the record does not say whether the call is causal.
std::optional<AttentionMask> read_mask(const OperatorCall& call, const Layout& layout) {
  AttentionMask mask;
  mask.corner = layout.corner;
  if (call.name == "aten::_efficient_attention_forward") {  // custom_mask_type: 0 none, 1 causal from the top left, 2 from the bottom right
    const auto type = integer_argument(call, 9);
    if (!type || *type < 0 || *type > 2) return std::nullopt;
    mask.causal = *type != 0;
    mask.corner = *type == 2 ? bottom_right : top_left;
    const auto window = integer_argument(call, 13);
    if (window && *window > 0) mask.window_left = *window - 1;
    return mask;
  }
  std::size_t causal_index = layout.causal;
  // cuDNN's kind had no mask at first: (q, k, v, dropout, causal, …), then (q, k, v, keep log-sum-exp, dropout, causal, …).
  if (call.name == "aten::_scaled_dot_product_cudnn_attention" && call.arguments.size() > 3 && call.arguments[3].type_name == "Scalar")
    causal_index = boolean_argument(call, 3) ? 5 : 4;
  const std::optional<bool> causal = boolean_argument(call, causal_index);
  if (!causal) return std::nullopt;
  mask.causal = *causal;
  if (layout.window_left != none) {
    mask.window_left = integer_argument(call, layout.window_left).value_or(-1);
    mask.window_right = integer_argument(call, layout.window_left + 1).value_or(-1);
  }
  return mask;
}

// Tensors of used lengths, pages of a cache or keys to append: how long the sequences are stands in their values, which no trace records.
bool lengths_are_data(const OperatorCall& call) {
  struct Row {
    std::string_view name;
    std::array<std::size_t, 7> arguments;
  };
  static constexpr Row rows[] = {
      {"aten::_flash_attention_forward", {13, none, none, none, none, none, none}},
      {"aten::_efficient_attention_forward", {12, none, none, none, none, none, none}},
      {"flash_attn::_flash_attn_varlen_forward", {15, 16, 17, none, none, none, none}},
      {"flash_attn_3::fwd", {3, 4, 10, 11, 14, 15, 16}},
  };
  for (const Row& row : rows)
    if (row.name == call.name)
      for (const std::size_t index : row.arguments)
        if (tensor_argument(call, index) != nullptr) return true;
  return false;
}

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  const Argument* q = tensor_argument(call, 0);
  const Argument* k = tensor_argument(call, 1);
  const Argument* v = tensor_argument(call, 2);
  if (layout == nullptr || q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  const std::optional<AttentionMask> mask = read_mask(call, *layout);
  if (!mask) return std::nullopt;
  if (lengths_are_data(call)) return std::nullopt;
  const Argument* query_offsets = layout->query_offsets == none ? nullptr : tensor_argument(call, layout->query_offsets);
  const std::optional<Attention> sizes =
      query_offsets == nullptr ? attention_sizes(*q, *k, *v, layout->layout)
                               : packed_attention_sizes(*q, *k, *v, query_offsets, tensor_argument(call, layout->query_offsets + 1),
                                                        integer_argument(call, layout->longest_query), integer_argument(call, layout->longest_query + 1));
  if (!sizes) return std::nullopt;
  const double rows = sizes->batch * static_cast<double>(sizes->query_heads) * static_cast<double>(sizes->queries);
  const Argument* mask_tensor = layout->mask == none ? nullptr : tensor_argument(call, layout->mask);
  ByteSum bytes;
  bytes.add(q).add(k).add(v).add(mask_tensor).add(rows * sizes->value_width, q->type);
  if (layout->keeps_log_sum_exp) bytes.add(rows, DataType::fp32);
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = 2 * sizes->batch * static_cast<double>(sizes->query_heads) * attention_pairs(sizes->queries, sizes->keys, *mask) *
               (sizes->score_width + sizes->value_width);
  work.bytes = *bytes.total();
  work.type = q->type;
  work.matrix_units = true;
  work.description = attention_text(*sizes, *mask, q->type) + (mask_tensor == nullptr ? "" : ", mask");
  return work;
}

}  // namespace

extern const OperatorCost attention_cost{
    .name = "attention",
    .help = "2·b·h·pairs·(d_qk + d_v), pairs as the causal mask or window leaves them; bytes q + k + v + mask + output + log-sum-exp",
    .operators = names,
    .category = OperatorCategory::attention,
    .work = work,
};

}  // namespace stepscope
