// Which family an operator belongs to, by its name alone: framework operators, autograd nodes ("AddmmBackward0"), optimizers, collectives, extensions of
// serving and training libraries, and inductor's Triton kernels. A name is compared in lower case without underscores, so that one row serves the operator,
// its in-place form and its autograd node. Operators that only make views or book-keeping are `other`.

#include <string>
#include <unordered_map>

#include "cost/operator_cost.h"

namespace stepscope {

namespace {

using enum OperatorCategory;

struct Row {
  OperatorCategory category;
  std::string_view names;  // separated by blanks
};

// Names of ATen (native_functions.yaml) and of well-known extensions, namespace cut off.
constexpr Row table[] = {
    {gemm,
     "mm addmm bmm baddbmm addbmm linear matmul addmv mv dot vdot outer ger addr einsum tensordot bilinear _trilinear inner chain_matmul linalg_multi_dot "
     "_addmm_activation "
     "_scaled_mm _scaled_mm_v2 _int_mm _grouped_mm _scaled_grouped_mm _scaled_grouped_mm_v2 _weight_int4pack_mm _weight_int8pack_mm _mixed_dtypes_linear "
     "_cslt_sparse_mm "
     "sparse_mm _sparse_mm _sparse_addmm mkldnn_linear linear_backward matmul_backward _fused_linear cublas_gemm general_gemm te_gemm te_general_gemm "
     "te_general_grouped_gemm grouped_gemm "
     "generic_gemm fp8_gemm cutlass_scaled_mm cutlass_moe_mm cutlass_scaled_fp4_mm gptq_gemm gptq_marlin_gemm marlin_gemm awq_gemm rocm_unquantized_gemm "
     "wvsplitk llmm1 gemm_a8w8 "
     "gemm_a4w4 gemm_a8w8_bpreshuffle gemm_a8w8_blockscale hipb_mm tgemm fused_moe fused_experts fmoe moe_forward moe_forward_shared ck_moe moe_wna16_gemm "
     "deepgemm fp8_gemm_nt "
     "m_grouped_gemm_fp8_fp8_bf16_nt_contiguous groupedgemm gmm permutegemm _linear _layernormlinear _layernormmlp _groupedlinear f8f8bf16_rowwise "
     "f8f8bf16_blockwise fp8rowwise_gemm "
     "_convertweighttoint4pack rnn lstm gru rnntanh lstmcell grucell _cudnn_rnn _cudnn_rnn_backward miopen_rnn _thnn_fused_lstm_cell"},
    {attention,
     "scaled_dot_product_attention _scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps _scaled_dot_product_flash_attention "
     "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
     "_scaled_dot_product_fused_attention_overrideable "
     "_scaled_dot_product_attention_flash_musa _scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward "
     "_scaled_dot_product_cudnn_attention_backward _flash_attention_forward _flash_attention_backward _efficient_attention_forward "
     "_efficient_attention_backward "
     "_cudnn_attention_forward _cudnn_attention_backward _native_multi_head_attention _transform_bias_rescale_qkv flex_attention flex_attention_backward "
     "flash_attn flash_attn_func flash_attn_varlen_func "
     "flashattnfunc flashattnvarlenfunc flashattnqkvpackedfunc unified_attention unified_attention_with_output paged_attention paged_attention_v1 "
     "paged_attention_v2 pa_fwd "
     "fused_attn_fwd fused_attn_bwd fusedattnfunc fused_attention dotproductattention attnfuncwithcp memory_efficient_attention_forward cutlass_mla_decode "
     "flash_mla mla_decode_fwd fmha_v3_fwd fmha_v3_bwd "
     "mha_fwd mha_bwd fmha_fwd fmha_bwd sageattn"},
    {convolution,
     "convolution _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cudnn_convolution cudnn_convolution_transpose "
     "cudnn_convolution_relu "
     "cudnn_convolution_add_relu miopen_convolution miopen_convolution_transpose miopen_depthwise_convolution miopen_convolution_relu "
     "miopen_convolution_add_relu mkldnn_convolution "
     "convolution_overrideable _slow_conv2d_forward _slow_conv2d_backward slow_conv3d slow_conv3d_forward thnn_conv2d conv_depthwise3d _conv_depthwise2d "
     "slow_conv_transpose2d slow_conv_transpose3d "
     "slow_conv_dilated2d slow_conv_dilated3d convolution_backward convolution_backward_overrideable causal_conv1d causal_conv1d_fwd causal_conv1d_update "
     "deform_conv2d _deform_conv2d "
     "convbias convbiasrelu convbias_ convbiasrelu_"},
    {normalisation,
     "layer_norm native_layer_norm batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_with_update "
     "_batch_norm_no_update "
     "_batch_norm_impl_index cudnn_batch_norm miopen_batch_norm batch_norm_stats batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts "
     "batch_norm_backward_reduce "
     "batch_norm_backward_elemt batch_norm_backward batch_norm_update_stats sync_batch_norm group_norm native_group_norm instance_norm rms_norm "
     "_fused_rms_norm local_response_norm "
     "fused_add_rms_norm rms_norm_static_fp8_quant fused_add_rms_norm_static_fp8_quant rmsnorm2d_fwd rmsnorm layernorm_fwd layernorm_bwd rmsnorm_fwd "
     "rmsnorm_bwd layernorm2d_fwd "
     "fusedlayernormaffinefunction fusedlayernormaffine fusedrmsnormaffine mixedfusedlayernorm fastlayernorm cross_replica_batch_norm softmax _softmax "
     "log_softmax _log_softmax _safe_softmax "
     "_softmax_backward_data _log_softmax_backward_data _masked_softmax _masked_softmax_backward scaled_masked_softmax scaled_upper_triang_masked_softmax "
     "scaled_aligned_causal_masked_softmax "
     "groupnorm_run normalize weight_norm _weight_norm_interface renorm"},
    {elementwise,
     "add sub rsub mul div true_divide divide multiply subtract floor_divide remainder fmod pow float_power square sqrt rsqrt reciprocal neg negative abs "
     "absolute sign sgn exp exp2 expm1 log log2 log10 log1p "
     "sin cos tan sinh cosh asin acos atan atan2 asinh acosh atanh tanh sigmoid logit erf erfc erfinv lgamma digamma polygamma floor ceil round trunc frac "
     "clamp clamp_min clamp_max "
     "clip relu relu6 leaky_relu prelu _prelu_kernel rrelu elu selu celu gelu silu mish swish hardswish hardsigmoid hardtanh softplus softshrink hardshrink "
     "threshold glu log_sigmoid "
     "log_sigmoid_forward where masked_fill lerp addcmul addcdiv eq ne lt le gt ge equal_to logical_and logical_or logical_not logical_xor bitwise_and "
     "bitwise_or bitwise_xor bitwise_not "
     "__and__ __or__ __xor__ bitwise_left_shift bitwise_right_shift isnan isinf isfinite nan_to_num maximum minimum fmax fmin dropout native_dropout "
     "fused_dropout _fused_dropout "
     "alpha_dropout feature_dropout threshold_backward tanh_backward sigmoid_backward gelu_backward silu_backward hardswish_backward hardtanh_backward "
     "hardsigmoid_backward "
     "leaky_relu_backward elu_backward softplus_backward glu_backward native_dropout_backward _masked_scale logit_backward mish_backward log_sigmoid_backward "
     "_prelu_kernel_backward tril triu "
     "real imag conj_physical complex polar angle view_as_real_copy upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_bilinear2d "
     "upsample_bicubic2d upsample_trilinear3d "
     "_upsample_bilinear2d_aa _upsample_bicubic2d_aa grid_sampler_2d grid_sampler_3d upsample_nearest2d_backward upsample_bilinear2d_backward interpolate "
     "rotary_embedding apply_rotary fused_rope_fwd fused_rope_bwd "
     "silu_and_mul gelu_and_mul mul_and_silu swiglu dswiglu geglu fused_bias_gelu static_scaled_fp8_quant dynamic_scaled_fp8_quant "
     "dynamic_per_token_scaled_fp8_quant "
     "per_token_group_fp8_quant quantize dequantize quantize_per_tensor fake_quantize_per_tensor_affine mul_out accumulate_grad accumulategrad "
     "grad_sum_to_size hypot xlogy heaviside copysign "
     "nan_to_num_ relusquared floattofp8rowwisequantized fp8rowwisequantizedtofloat floattohfp8quantized hfp8quantizedtofloat scale_gradient "
     "_amp_update_scale"},
    {reduction,
     "sum mean prod nansum nanmean std var std_mean var_mean norm linalg_norm linalg_vector_norm linalg_matrix_norm max min amax amin aminmax argmax argmin "
     "all any count_nonzero cumsum cumprod cummax "
     "cummin logcumsumexp logsumexp median nanmedian mode sort argsort topk kthvalue unique _unique2 unique_consecutive bincount histc searchsorted bucketize "
     "nonzero masked_select equal is_nonzero "
     "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices max_pool2d_with_indices_backward avg_pool1d avg_pool2d avg_pool3d "
     "avg_pool2d_backward "
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_avg_pool2d_backward adaptive_max_pool2d "
     "cdist _cdist_forward pdist trace "
     "value_selecting_reduction_backward multinomial asynchronous_complete_cumsum cosine_similarity segment_reduce topk_softmax grouped_topk "
     "moe_align_block_size moe_sum"},
    {embedding,
     "embedding embedding_bag _embedding_bag _embedding_bag_forward_only embedding_dense_backward embedding_backward _embedding_bag_backward "
     "_embedding_bag_dense_backward embedding_renorm "
     "index_select gather scatter scatter_add scatter_reduce gather_backward index_add index_copy index_put _index_put_impl index index_backward index_fill "
     "take take_along_dim put one_hot "
     "masked_scatter select_scatter moe_permute moe_unpermute permute_pooled_embs permute_pooled_embs_auto_grad permute_sparse_features permute_2d_sparse_data "
     "block_bucketize_sparse_features "
     "bounds_check_indices reshape_and_cache reshape_and_cache_flash fast_gather splitlookupfunction"},
    {loss,
     "cross_entropy_loss nll_loss nll_loss_nd nll_loss2d nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward mse_loss mse_loss_backward "
     "l1_loss l1_loss_backward smooth_l1_loss "
     "smooth_l1_loss_backward huber_loss huber_loss_backward binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits kl_div "
     "soft_margin_loss hinge_embedding_loss "
     "margin_ranking_loss triplet_margin_loss cosine_embedding_loss ctc_loss _ctc_loss _ctc_loss_backward poisson_nll_loss multilabel_margin_loss "
     "multi_margin_loss softmaxcrossentropyloss "
     "crossentropyfunction _vocabparallelcrossentropy ligercrossentropyfunction ligerfusedlinearcrossentropyfunction xentropy softmaxcrossentropy"},
    {copy,
     "copy _copy_from _copy_from_and_resize _to_copy to clone contiguous cat _cat concat concatenate stack vstack hstack repeat repeat_interleave tile pad "
     "constant_pad_nd reflection_pad1d reflection_pad2d "
     "replication_pad2d roll flip rot90 pixel_shuffle pixel_unshuffle im2col col2im unfold_backward fold channel_shuffle slice_backward select_backward "
     "slice_scatter diagonal_backward _pin_memory pin_memory "
     "type_as cpu cuda float half bfloat16 _to_cpu flatten_dense_tensors copy_bucket_to_grad copy_blocks swap_blocks split_with_sizes_copy chunk_cat "
     "_chunk_cat transpose_copy cast_transpose fp8_transpose "
     "permute_copy view_copy broadcast_to_copy as_strided_copy as_strided_scatter narrow_copy expand_copy _foreach_copy"},
    {memory,
     "empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full full_like new_full "
     "zero fill resize resize_as eye arange linspace "
     "logspace range scalar_tensor record_stream rand rand_like randn randn_like randint randperm normal uniform random bernoulli exponential "
     "_efficientzerotensor set _resize_output lift_fresh"},
};

// Namespaces whose operators are all of one family.
struct Prefix {
  std::string_view prefix;
  OperatorCategory category;
};
constexpr Prefix prefixes[] = {
    {"c10d::", communication},
    {"c10d_functional::", communication},
    {"_c10d_functional::", communication},
    {"_c10d_functional_autograd::", communication},
    {"symm_mem::", communication},
    {"nccl:", communication},
    {"rccl:", communication},
    {"gloo:", communication},
    {"mpi:", communication},
    {"ucc:", communication},
    {"hccl:", communication},
    {"xccl:", communication},
    {"record_param_comms", communication},
    {"deep_ep::", communication},
    {"nvshmem", communication},
    {"fsdp::", communication},
    {"Optimizer.step", optimizer},
    {"Optimizer.zero_grad", optimizer},
    {"aten::_fused_adam", optimizer},
    {"aten::_fused_sgd", optimizer},
    {"aten::_fused_adagrad", optimizer},
    {"aten::_foreach_copy", copy},
    {"aten::_foreach_", optimizer},
    {"aten::_amp_foreach_", optimizer},
    {"flash_attn", attention},
    {"FlashAttn", attention},
    {"xformers", attention},
    {"vllm::all_", communication},
    {"vllm::reduce_scatter", communication},
};

// Parts of a canonical name (lower case, no underscores), tried in order when no row of the table matches whole: extensions, compiled kernels.
struct Part {
  std::string_view part;
  OperatorCategory category;
};
// The order matters: "fbgemm::permute_pooled_embs" is no product.
constexpr Part parts[] = {
    {"allreduce", communication},
    {"allgather", communication},
    {"reducescatter", communication},
    {"alltoall", communication},
    {"all2all", communication},
    {"commop", communication},
    {"embedding", embedding},
    {"pooledembs", embedding},
    {"lookupfunction", embedding},
    {"attention", attention},
    {"flashattn", attention},
    {"fmha", attention},
    {"attn", attention},
    {"multitensor", optimizer},
    {"fusedadam", optimizer},
    {"fusedsgd", optimizer},
    {"fusedlamb", optimizer},
    {"crossentropy", loss},
    {"nllloss", loss},
    {"layernorm", normalisation},
    {"batchnorm", normalisation},
    {"groupnorm", normalisation},
    {"instancenorm", normalisation},
    {"rmsnorm", normalisation},
    {"softmax", normalisation},
    {"convolution", convolution},
    {"conv1d", convolution},
    {"conv2d", convolution},
    {"conv3d", convolution},
    {"gemm", gemm},
    {"matmul", gemm},
    {"scaledmm", gemm},
    {"addmm", gemm},
    {"groupedlinear", gemm},
    {"rope", elementwise},
    {"rotary", elementwise},
    {"dropout", elementwise},
    {"quant", elementwise},
};

std::string canonical(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  for (const char c : name)
    if (c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

const std::unordered_map<std::string, OperatorCategory>& categories_by_name() {
  static const auto map = [] {
    std::unordered_map<std::string, OperatorCategory> result;
    for (const Row& row : table) {
      std::string_view left = row.names;
      while (!left.empty()) {
        const std::size_t blank = left.find(' ');
        result.try_emplace(canonical(left.substr(0, blank)), row.category);
        left.remove_prefix(blank == std::string_view::npos ? left.size() : blank + 1);
      }
    }
    return result;
  }();
  return map;
}

// "AddmmBackward0" and "void AddmmBackward0" to "Addmm": what the node is the gradient of.
std::string_view without_autograd_suffix(std::string_view name) {
  const std::size_t at = name.rfind("Backward");
  if (at == std::string_view::npos || at == 0) return name;
  for (const char c : name.substr(at + 8))
    if (c < '0' || c > '9') return name;
  return name.substr(0, at);
}

// Inductor names its kernels triton_KIND_fused_OPERATORS_NUMBER: poi(ntwise), red(uction), per(sistent reduction), tem(plate: a product or attention).
OperatorCategory triton_category(std::string_view name) {
  const std::string text = canonical(name);
  for (const Part& row : parts)
    if (row.category != communication && text.find(row.part) != std::string::npos) return row.category;
  if (name.starts_with("triton_tem_") || name.starts_with("triton_mm")) return gemm;
  if (name.starts_with("triton_red_") || name.starts_with("triton_per_")) return reduction;
  if (name.starts_with("triton_poi_") || name.starts_with("triton_for_")) return elementwise;
  return other;
}

}  // namespace

std::string_view operator_category_name(OperatorCategory category) {
  static constexpr std::string_view names[operator_category_count] = {"gemm",          "attention", "convolution", "normalisation", "elementwise",
                                                                      "reduction",     "embedding", "optimizer",   "loss",          "copy",
                                                                      "communication", "memory",    "other"};
  return names[static_cast<std::size_t>(category)];
}

OperatorCategory operator_category(std::string_view operator_name) {
  std::string_view name = operator_name;
  if (constexpr std::string_view engine = "autograd::engine::evaluate_function: "; name.starts_with(engine)) name.remove_prefix(engine.size());
  for (const Prefix& row : prefixes)
    if (name.starts_with(row.prefix)) return row.category;
  if (name.starts_with("triton_")) return triton_category(name);
  // The last name of "aten::add.Tensor", "torch::autograd::AccumulateGrad", "torch.distributed.ddp.reducer::copy_bucket_to_grad"; template arguments stay.
  if (const std::size_t open = name.find_first_of("<("); open != std::string_view::npos && open != 0) {
    if (const std::size_t scope = name.rfind("::", open); scope != std::string_view::npos && name[scope + 2] != '(') name.remove_prefix(scope + 2);
  } else if (const std::size_t scope = name.rfind("::"); scope != std::string_view::npos) {
    name.remove_prefix(scope + 2);
  }
  name = without_autograd_suffix(name);
  const auto& by_name = categories_by_name();
  std::string text = canonical(name);
  if (const auto found = by_name.find(text); found != by_name.end()) return found->second;
  if (const std::size_t dot = text.find('.'); dot != std::string::npos)
    if (const auto found = by_name.find(text.substr(0, dot)); found != by_name.end()) return found->second;
  for (const Part& row : parts)
    if (text.find(row.part) != std::string::npos) return row.category;
  return other;
}

}  // namespace stepscope
