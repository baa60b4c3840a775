// Names of device kernels for people. Traces hold demangled C++ signatures of up to several kilobytes, mangled names, and generated names of kernel
// libraries; none of them is fit for a table.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// The function's own name, without return type, namespaces, template arguments and parameters:
//   "void at::native::vectorized_elementwise_kernel<4, at::native::AbsFunctor<long>, …>(int, …)" -> "vectorized_elementwise_kernel".
// Where that name says nothing (cutlass::Kernel2<X>, ck_tile::kentry<1, X<…>>) the name of the argument X that does; a function called "kernel" keeps its
// namespace ("gemvx::kernel"). Tensile's names end after their macro tile ("Cijk_Alik_Bljk_BBS_BH_MT256x128x64"). Itanium-mangled names are read as far as the
// function's name. Anything that is not such a name ("Memcpy HtoD (Pageable -> Device)", "triton_poi_fused_add_3") is returned as it is. Linear in the length.
std::string short_kernel_name(std::string_view name);

// The short name with the one template argument that tells what the kernel computes: "vectorized_elementwise_kernel<MulFunctor<float>>",
// "reduce_kernel<MeanOps<BFloat16>>", "elementwise_kernel<direct_copy_kernel_cuda>". The short name where there is no such argument.
std::string readable_kernel_name(std::string_view name);

}  // namespace stepscope
