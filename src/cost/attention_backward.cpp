// Scaled-dot-product attention, backward, in kernels that do not keep the scores.
// FLOPs: five products over the pairs of the forward pass (attention_pairs.h): scores again, value gradient, probability gradient, query gradient, key
// gradient: 2·b·h·pairs·(3·d_qk + 2·d_v). The scores (2·b·h·pairs·d_qk) repeat forward work: Work::repeated_flops.
// Bytes: output gradient, q, k, v, output, log-sum-exp read; gradients of q, k, v written; a mask read; each once.
// Source: Dao et al., FlashAttention (2022), algorithm 4; native_functions.yaml for the arguments.
// Limits: as in attention.cpp; sums of key gradients over grouped queries are not counted.

#include <array>

#include "cost/attention_pairs.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

// q, k and v are always arguments 1 to 3. Index of each argument by operator; none = the operator has no such argument.
struct Layout {
  std::string_view name;
  AttentionLayout layout;
  CausalCorner corner;
  std::size_t output, log_sum_exp, mask, causal, query_offsets, longest_query, window_left;  // key_offsets, longest_key and window_right follow
};
using enum AttentionLayout;
using enum CausalCorner;
constexpr Layout layouts[] = {
    // name                                                     layout            corner     output lse mask causal offsets longest window
    {"aten::_scaled_dot_product_flash_attention_backward", batch_head_token, bottom_right, 4, 5, none, 11, none, none, none},
    {"aten::_scaled_dot_product_efficient_attention_backward", batch_head_token, top_left, 5, 6, 4, 11, none, none, none},
    {"aten::_scaled_dot_product_cudnn_attention_backward", batch_head_token, top_left, 4, 5, 8, 14, none, none, none},
    {"aten::_flash_attention_backward", batch_token_head, bottom_right, 4, 5, none, 11, 6, 8, 15},
    {"aten::_efficient_attention_backward", batch_token_head, top_left, 5, 10, 4, none, 6, 8, none},
    {"flash_attn::_flash_attn_backward", batch_token_head, bottom_right, 4, 5, none, 11, none, none, 12},
    {"flash_attn::_flash_attn_varlen_backward", batch_token_head, bottom_right, 4, 5, none, 15, 9, 11, 16},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(layouts)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = layouts[i].name;
  return result;
}();

std::optional<AttentionMask> read_mask(const OperatorCall& call, const Layout& layout) {
  AttentionMask mask;
  mask.corner = layout.corner;
  if (call.name == "aten::_efficient_attention_backward") {  // custom_mask_type, as in the forward operator
    const auto type = integer_argument(call, 14);
    if (!type || *type < 0 || *type > 2) return std::nullopt;
    mask.causal = *type != 0;
    mask.corner = *type == 2 ? bottom_right : top_left;
    const auto window = integer_argument(call, 18);
    if (window && *window > 0) mask.window_left = *window - 1;
    return mask;
  }
  const std::optional<bool> causal = boolean_argument(call, layout.causal);
  if (!causal) return std::nullopt;
  mask.causal = *causal;
  if (layout.window_left != none) {
    mask.window_left = integer_argument(call, layout.window_left).value_or(-1);
    mask.window_right = integer_argument(call, layout.window_left + 1).value_or(-1);
  }
  return mask;
}

std::optional<Work> work(const OperatorCall& call) {
  const Layout* layout = nullptr;
  for (const Layout& row : layouts)
    if (row.name == call.name) layout = &row;
  const Argument* gradient = tensor_argument(call, 0);
  const Argument* q = tensor_argument(call, 1);
  const Argument* k = tensor_argument(call, 2);
  const Argument* v = tensor_argument(call, 3);
  if (layout == nullptr || gradient == nullptr || q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  const std::optional<AttentionMask> mask = read_mask(call, *layout);
  if (!mask) return std::nullopt;
  const Argument* query_offsets = layout->query_offsets == none ? nullptr : tensor_argument(call, layout->query_offsets);
  const bool packed = query_offsets != nullptr && q->shape.size() == 3;
  const std::optional<Attention> sizes =
      packed ? packed_attention_sizes(*q, *k, *v, query_offsets, tensor_argument(call, layout->query_offsets + 1),
                                      integer_argument(call, layout->longest_query), integer_argument(call, layout->longest_query + 1))
             : attention_sizes(*q, *k, *v, layout->layout);
  if (!sizes) return std::nullopt;
  const Argument* mask_tensor = layout->mask == none ? nullptr : tensor_argument(call, layout->mask);
  // Gradients have the size of what they belong to, also where an input was expanded.
  const std::optional<double> q_count = value_count(*q), k_count = value_count(*k), v_count = value_count(*v);
  if (!q_count || !k_count || !v_count) return std::nullopt;
  const std::optional<double> bytes = ByteSum()
                                          .add(gradient)
                                          .add(q)
                                          .add(k)
                                          .add(v)
                                          .add(tensor_argument(call, layout->output))
                                          .add(tensor_argument(call, layout->log_sum_exp))
                                          .add(mask_tensor)
                                          .add(*q_count, q->type)
                                          .add(*k_count, k->type)
                                          .add(*v_count, v->type)
                                          .total();
  if (!bytes) return std::nullopt;
  const double products = 2 * sizes->batch * static_cast<double>(sizes->query_heads) * attention_pairs(sizes->queries, sizes->keys, *mask);
  Work work;
  work.flops = products * (3 * sizes->score_width + 2 * sizes->value_width);
  work.repeated_flops = products * sizes->score_width;
  work.bytes = *bytes;
  work.type = q->type;
  work.matrix_units = true;
  work.description = attention_text(*sizes, *mask, q->type) + (mask_tensor == nullptr ? "" : ", mask");
  return work;
}

}  // namespace

extern const OperatorCost attention_backward_cost{
    .name = "attention_backward",
    .help = "2·b·h·pairs·(3·d_qk + 2·d_v), the scores' d_qk of it repeated; bytes gradients, q, k, v, output, log-sum-exp each once",
    .operators = names,
    .category = OperatorCategory::attention,
    .backward = true,
    .work = work,
};

}  // namespace stepscope
