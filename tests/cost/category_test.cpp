#include <gtest/gtest.h>

#include <set>

#include "cost/operator_cost.h"

namespace stepscope {
namespace {

using enum OperatorCategory;

TEST(OperatorCategory, FollowsFromTheName) {
  struct Row {
    const char* name;
    OperatorCategory category;
  };
  constexpr Row rows[] = {
      {"aten::addmm", gemm},
      {"aten::addmm_", gemm},
      {"aten::_scaled_mm", gemm},
      {"AddmmBackward0", gemm},
      {"autograd::engine::evaluate_function: AddmmBackward0", gemm},
      {"vllm::rocm_unquantized_gemm", gemm},
      {"aten::_scaled_dot_product_flash_attention", attention},
      {"ScaledDotProductFlashAttentionBackward0", attention},
      {"flash_attn::_flash_attn_varlen_forward", attention},
      {"vllm::unified_attention_with_output", attention},
      {"aten::cudnn_convolution", convolution},
      {"ConvolutionBackward0", convolution},
      {"aten::native_layer_norm_backward", normalisation},
      {"aten::_log_softmax", normalisation},
      {"_C::fused_add_rms_norm", normalisation},
      {"aten::add_", elementwise},
      {"aten::add.Tensor", elementwise},
      {"torch::autograd::AccumulateGrad", elementwise},
      {"aten::sum", reduction},
      {"MaxPool2DWithIndicesBackward0", reduction},
      {"aten::embedding_dense_backward", embedding},
      {"autograd::engine::evaluate_function: torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction<&fbgemm_gpu::permute_pooled_embs_gpu> >",
       embedding},
      {"Optimizer.step#AdamW.step", optimizer},
      {"aten::_fused_adamw_", optimizer},
      {"aten::_foreach_mul_", optimizer},
      {"aten::nll_loss_forward", loss},
      {"MseLossBackward0", loss},
      {"aten::_to_copy", copy},
      {"aten::_foreach_copy_", copy},
      {"nccl:all_reduce", communication},
      {"c10d::allreduce_", communication},
      {"_c10d_functional::all_gather_into_tensor", communication},
      {"record_param_comms", communication},
      {"vllm::all_reduce", communication},
      {"aten::zero_", memory},
      {"aten::empty_strided", memory},
      {"aten::view", other},
      {"TBackward0", other},
      {"TorchDynamo Cache Lookup", other},
      {"Backward", other},
      {"", other},
      {"triton_poi_fused_add_cos_sin_0", elementwise},
      {"triton_red_fused_add_mean_mul_pow_rsqrt_0", reduction},
      {"triton_per_fused_native_layer_norm_3", normalisation},
      {"triton_tem_fused_mm_5", gemm},
  };
  for (const Row& row : rows) EXPECT_EQ(operator_category_name(operator_category(row.name)), operator_category_name(row.category)) << row.name;
}

TEST(OperatorCategory, EveryFormulaAnswersForOperatorsOfItsCategory) {
  std::set<std::string_view> seen;
  for (const OperatorCost* cost : all_operator_costs()) {
    EXPECT_FALSE(cost->help.empty()) << cost->name;
    EXPECT_FALSE(cost->operators.empty()) << cost->name;
    for (const std::string_view name : cost->operators) {
      EXPECT_TRUE(seen.insert(name).second) << name << " has two formulas";
      EXPECT_EQ(find_operator_cost(name), cost);
      EXPECT_EQ(operator_category_name(operator_category(name)), operator_category_name(cost->category)) << name;
    }
  }
  EXPECT_EQ(find_operator_cost("aten::view"), nullptr);
}

}  // namespace
}  // namespace stepscope
