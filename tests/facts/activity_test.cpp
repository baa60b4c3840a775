#include "facts/activity.h"

#include <gtest/gtest.h>

#include "facts/small_timeline.h"

namespace stepscope {
namespace {

TEST(Activity, CommunicationByName) {
  for (const char* name : {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                           "ncclDevKernel_Generic",
                           "void ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                           "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16",
                           "ncclAllReduceRingLLKernel_sum_f16(ncclColl)",
                           "rcclGenericKernel",
                           "hcclKernel",
                           "nvshmem_barrier",
                           "mscclKernel_Sum",
                           "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
                           "multimem_all_reduce_kernel",
                           "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>",
                           "one_shot_all_reduce_kernel",
                           "twoShotAllReduceKernel",
                           "void deep_ep::internode::dispatch<false>(int)",
                           "intranode::cached_notify_combine",
                           "all_to_all_vdev",
                           "reduce_scatter_tensor",
                           "all_gather_kernel",
                           "NCCLDEVKERNEL_BROADCAST"})
    EXPECT_TRUE(is_communication_name(name)) << name;
}

TEST(Activity, ComputeDespiteItsWords) {
  for (const char* name : {"void at::native::elementwise_kernel<ncclFunctor>(int)", "triton_poi_fused_all_to_all_0", "Triton_red_fused_reduce_scatter",
                           "ampere_sgemm_128x64_nn", "all_gather", "allreduce_one", "reduce_kernel<512>", "my_ncclKernel", "nccl", "", "void "})
    EXPECT_FALSE(is_communication_name(name)) << name;
}

TEST(Activity, ByKindAndName) {
  EXPECT_EQ(activity_class(SliceKind::kernel, "gemm"), ActivityClass::compute);
  EXPECT_EQ(activity_class(SliceKind::copy, "Memcpy HtoD (Pinned -> Device)"), ActivityClass::memory);
  EXPECT_EQ(activity_class(SliceKind::fill, "Memset (Device)"), ActivityClass::memory);
  EXPECT_EQ(activity_class(SliceKind::device_annotation, "ncclKernel"), ActivityClass::none);
  EXPECT_EQ(activity_class(SliceKind::operation, "nccl:all_reduce"), ActivityClass::none);
}

TEST(Activity, UsersPatternsComeFirst) {
  SmallTimeline t;
  const TrackId stream = t.stream(7);
  const SliceId mine = t.kernel(stream, "my_ring_exchange<float>", 0, 10);
  const SliceId nccl = t.kernel(stream, "ncclDevKernel_AllReduce", 10, 10);
  const SliceId gemm = t.kernel(stream, "gemm", 20, 10);
  t.finish({.patterns = {{"ring_exchange", ActivityClass::communication, "mine"},
                         {"^nccl", ActivityClass::compute, ""},
                         {"(", ActivityClass::memory, "malformed: matches nothing"}}});
  EXPECT_EQ(t.facts.activity[mine], ActivityClass::communication);
  EXPECT_EQ(t.facts.activity[nccl], ActivityClass::compute);
  EXPECT_EQ(t.facts.activity[gemm], ActivityClass::compute);
  EXPECT_EQ(t.facts.pattern[t.timeline.slices.name[mine]], 1);
  EXPECT_EQ(t.facts.pattern[t.timeline.slices.name[gemm]], 0);
}

// std::regex recurses per character: a name of a megabyte must not exhaust the stack.
TEST(Activity, EndlessNamesAreHarmless) {
  SmallTimeline t;
  const SliceId id = t.kernel(t.stream(7), std::string(1u << 20, 'x'), 0, 10);
  t.finish({.patterns = {{"(x*)*y", ActivityClass::memory, ""}, {".*x", ActivityClass::communication, ""}}});
  EXPECT_NE(t.facts.activity[id], ActivityClass::memory);
}

TEST(ApiCalls, ByName) {
  EXPECT_EQ(api_call("cudaLaunchKernelExC").role, ApiRole::launch_kernel);
  EXPECT_EQ(api_call("cuLaunchKernelEx").role, ApiRole::launch_kernel);
  EXPECT_EQ(api_call("hipExtModuleLaunchKernel").role, ApiRole::launch_kernel);
  EXPECT_EQ(api_call("cudaLaunchCooperativeKernel").role, ApiRole::launch_kernel);
  EXPECT_EQ(api_call("cudaLaunchHostFunc").role, ApiRole::other);
  EXPECT_EQ(api_call("hipGraphLaunch").role, ApiRole::launch_graph);
  EXPECT_EQ(api_call("cudaGraphAddMemcpyNode").role, ApiRole::other);
  EXPECT_EQ(api_call("cudaMemcpyAsync").role, ApiRole::copy);
  EXPECT_FALSE(api_call("cudaMemcpyAsync").blocks);
  EXPECT_TRUE(api_call("hipMemcpyWithStream").blocks);
  EXPECT_EQ(api_call("cudaMemsetAsync").role, ApiRole::fill);
  EXPECT_TRUE(api_call("cudaStreamSynchronize").blocks);
  EXPECT_EQ(api_call("hipStreamWaitEvent").role, ApiRole::wait_event);
  EXPECT_EQ(api_call("cudaEventRecordWithFlags").role, ApiRole::record_event);
  EXPECT_EQ(api_call("cudaEventQuery").role, ApiRole::other);
}

}  // namespace
}  // namespace stepscope
