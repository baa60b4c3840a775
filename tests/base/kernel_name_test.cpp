#include "base/kernel_name.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace stepscope {
namespace {

struct Case {
  const char* name;
  const char* shortened;
  const char* readable;
};

const Case cases[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
     "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
     "vectorized_elementwise_kernel", "vectorized_elementwise_kernel<CUDAFunctor_add<BFloat16>>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::(anonymous "
     "namespace)::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#14}::operator()() "
     "const::{lambda(float)#1}>(at::TensorIteratorBase&, x const&)::{lambda(int)#1}>(int, y)",
     "elementwise_kernel", "elementwise_kernel<direct_copy_kernel_cuda>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::AUnaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int, z)",
     "elementwise_kernel", "elementwise_kernel<MulFunctor<float>>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
     "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
     "reduce_kernel", "reduce_kernel<sum_functor<float>>"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous "
     "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(at::native::(anonymous namespace)::TensorListMetadata<2>)",
     "multi_tensor_apply_kernel", "multi_tensor_apply_kernel<BinaryOpListAlphaFunctor<float>>"},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, float, false, true, false, false, 7, "
     "cublasGemvParams<cublasGemvTensorStridedBatched<float const>, float> >(cublasGemvParams<float>)",
     "gemvx::kernel", "gemvx::kernel"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_"
     "align8::Params)",
     "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8", "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8"},
    {"void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, float> > "
     ">(cutlass::gemm::Params)",
     "GemmUniversal", "GemmUniversal"},
    {"void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true, false>(float*, float const*, int)", "softmax_warp_backward",
     "softmax_warp_backward"},
    {"at::cuda::(anonymous namespace)::spin_kernel(long)", "spin_kernel", "spin_kernel"},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
     "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
    {"split_embedding_backward_codegen_find_long_segments(at::GenericPackedTensorAccessor<int, 1ul, at::RestrictPtrTraits, int>)",
     "split_embedding_backward_codegen_find_long_segments", "split_embedding_backward_codegen_find_long_segments"},
    {"void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<false, at::native::OpaqueType<4> "
     ">::operator()<at::native::TensorAssign>(at::TensorIterator&, long)::{lambda(int)#1}>(int)",
     "_scatter_gather_elementwise_kernel", "_scatter_gather_elementwise_kernel<_cuda_scatter_gather_internal_kernel>"},
    {"triton_poi_fused_add_addmm_cat_3", "triton_poi_fused_add_addmm_cat_3", "triton_poi_fused_add_addmm_cat_3"},
    {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
    {"Memset (Device)", "Memset (Device)", "Memset (Device)"},
    {"a kernel of mine", "a kernel of mine", "a kernel of mine"},
    {"Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64_MI16x16x1_SN_LDSB0_AFC1", "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64",
     "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64"},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28GridwiseGemm_xdl_cshuffle_v3EEvv",
     "kernel_grouped_conv_fwd_xdl_cshuffle_v3", "kernel_grouped_conv_fwd_xdl_cshuffle_v3"},
    {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassEEEEvv", "Rmsnorm2dFwd", "Rmsnorm2dFwd"},
    {"_Z7my_gemmPfS_", "my_gemm", "my_gemm"},
    {"attn_fwd.kd", "attn_fwd", "attn_fwd"},
    {"", "", ""},
    {"(", "(", "("},
    {"<", "<", "<"},
    {"foo<int", "foo", "foo"},
    {"_Z", "_Z", "_Z"},
    {"_Z99999999999999999999x", "_Z99999999999999999999x", "_Z99999999999999999999x"},
};

TEST(KernelName, Shortens) {
  for (const Case& c : cases) {
    EXPECT_EQ(short_kernel_name(c.name), c.shortened) << c.name;
    EXPECT_EQ(readable_kernel_name(c.name), c.readable) << c.name;
  }
}

TEST(KernelName, HostileNamesTakeLinearTime) {
  const auto begin = std::chrono::steady_clock::now();
  for (const char* piece : {"<", "(", "{", ">", ")", "a<", "a::", "::", "operator", " ", "_Z1a", "S_", "a<b,", "{lambda("}) {
    std::string name;
    while (name.size() < 1'000'000) name += piece;
    EXPECT_LE(short_kernel_name(name).size(), name.size());
    EXPECT_LE(readable_kernel_name("x<" + name).size(), 2 * name.size());
    EXPECT_LE(short_kernel_name("_ZN" + name).size(), name.size() + 3);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // quadratic would take hours
}

}  // namespace
}  // namespace stepscope
