// Rules about communication: a trace that must fire with the gain worked out by hand, and one that must not.
#include "advise/rule_case.h"

namespace stepscope {

extern const Rule comm_exposed_allreduce_rule, comm_exposed_param_gather_rule, comm_tp_exposed_rule, comm_cp_exposed_rule, comm_small_messages_rule,
    comm_large_bucket_tail_rule, comm_algo_proto_rule, comm_few_channels_rule, comm_topology_bad_path_rule, comm_sm_contention_rule, comm_fp32_reduce_rule,
    comm_flat_large_ring_rule, comm_barrier_rule, comm_unused_param_scan_rule, comm_accum_sync_rule;

namespace {

constexpr std::string_view all_reduce_kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view all_gather_kernel = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view in_backward = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

class CollectiveRules : public RuleCase {
 protected:
  // A reduction of gradients of so many fp32 or other values, on its own stream.
  void reduce_gradients(std::int64_t values, Nanoseconds start, Nanoseconds duration, std::string_view type = "Float", TrackId on = no_id<TrackId>) {
    kernel_in(in_backward, "", "", all_reduce_kernel, duration, collective("allreduce", values, type, 8), on == no_id<TrackId> ? comm : on, start);
  }
  void forward_kernel(Nanoseconds duration) {
    built.annotation(thread, "forward", host, 2'000);
    host += 50;
    kernel("aten::mm", product(1024, 1024, 1024), "gemm", duration);
    host += 1'950;
  }
};

// 400 µs behind 1 ms of backward, 100 MB: all but a bucket of 25 MB, three quarters of it, can run beside backward.
TEST_F(CollectiveRules, ExposedReduction) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  reduce_gradients(25'000'000, now, 400'000);
  EXPECT_EQ(gain(comm_exposed_allreduce_rule), 300'000);
}
TEST_F(CollectiveRules, AReductionOfUnknownSizeStays) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  kernel_in(in_backward, "", "", all_reduce_kernel, 400'000, {}, comm, now);
  const auto found = ask(comm_exposed_allreduce_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].edits.empty());
}
TEST_F(CollectiveRules, AReductionBesideBackwardIsFine) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  const Nanoseconds start = now;
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  reduce_gradients(25'000'000, start, 990'000);
  EXPECT_TRUE(ask(comm_exposed_allreduce_rule).empty());
  EXPECT_TRUE(ask(comm_large_bucket_tail_rule).empty());
}

// The first gather stays, the second has 600 µs of compute to hide behind.
TEST_F(CollectiveRules, ExposedGather) {
  kernel("", "", all_gather_kernel, 200'000, collective("_allgather_base", 1'000'000, "BFloat16", 8), comm, first_kernel);
  now = first_kernel + 200'000;
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 600'000);
  kernel("", "", all_gather_kernel, 200'000, collective("_allgather_base", 1'000'000, "BFloat16", 8), comm, now);
  EXPECT_EQ(gain(comm_exposed_param_gather_rule), 200'000);
}
TEST_F(CollectiveRules, TheFirstGatherIsInherent) {
  kernel("", "", all_gather_kernel, 20'000, collective("_allgather_base", 1'000'000, "BFloat16", 8), comm, first_kernel);
  now = first_kernel + 20'000;
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 600'000);
  EXPECT_TRUE(ask(comm_exposed_param_gather_rule).empty());
}

// Of 100 µs between two products a quarter stays.
TEST_F(CollectiveRules, TensorParallel) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  kernel("", "", all_reduce_kernel, 100'000, collective("allreduce", 1 << 20, "BFloat16", 8, "tp"));
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  EXPECT_EQ(gain(comm_tp_exposed_rule), 75'000);
}
TEST_F(CollectiveRules, StatisticsOfNormalisationAreNoTensorParallelism) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  kernel("", "", all_reduce_kernel, 100'000, collective("allreduce", 1024, "Float", 8, "dp"));
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  EXPECT_TRUE(ask(comm_tp_exposed_rule).empty());
}

// 100 µs of attention hide a third of 300: 0.667 stays.
TEST_F(CollectiveRules, ContextParallel) {
  kernel_in("AttnFuncWithCPAndKVP2P", "", "", "flash_fwd_kernel", 100'000);
  kernel_in("AttnFuncWithCPAndKVP2P", "", "", "ncclDevKernel_SendRecv", 300'000, collective("send", 1'000'000, "BFloat16", 4, "cp"));
  EXPECT_EQ(gain(comm_cp_exposed_rule), 99'900);
}
TEST_F(CollectiveRules, SendsOfPipelinesAreNotContextParallel) {
  kernel("my_attention", "", "flash_fwd_kernel", 100'000);
  kernel("c10d::send", "", "ncclDevKernel_SendRecv", 300'000, collective("send", 1'000'000, "BFloat16", 4, "pp"));
  EXPECT_TRUE(ask(comm_cp_exposed_rule).empty());
}

// 256 KiB take 15 µs and 512 KiB 20: 10 µs without any bytes. Sixty messages (23.6 MB) in one save 59 of them, as factors of 0.333 and 0.5.
TEST_F(CollectiveRules, SmallMessages) {
  for (int i = 0; i < 60; ++i) {
    const bool large = i % 2 == 1;
    kernel("", "", all_reduce_kernel, large ? 20'000 : 15'000, collective("allreduce", large ? 131'072 : 65'536, "Float", 8));
  }
  EXPECT_EQ(gain(comm_small_messages_rule), 29 * 10'005 + 30 * 10'000);
}
TEST_F(CollectiveRules, AFewSmallMessages) {
  for (int i = 0; i < 50; ++i) kernel("", "", all_reduce_kernel, 15'000, collective("allreduce", 65'536, "Float", 8));
  EXPECT_TRUE(ask(comm_small_messages_rule).empty());
}

// One bucket of 100 MB in four pieces: three of them beside backward.
TEST_F(CollectiveRules, OneLargeBucket) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  reduce_gradients(25'000'000, now, 400'000);
  EXPECT_EQ(gain(comm_large_bucket_tail_rule), 300'000);
}
TEST_F(CollectiveRules, FourBuckets) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  for (int i = 0; i < 4; ++i) reduce_gradients(25'000'000, now + i * 100'000, 100'000);
  EXPECT_TRUE(ask(comm_large_bucket_tail_rule).empty());
}

class BandwidthRules : public CollectiveRules {
 protected:
  // 64 MiB over 8 ranks: 117.4 MB cross each link of 400 GB/s.
  void three_calls(Nanoseconds duration, int blocks) {
    for (int i = 0; i < 3; ++i) kernel("", "", all_reduce_kernel, duration, collective("allreduce", 1 << 24, "Float", 8) + ", " + grid(blocks));
  }
};
// 979 µs are 0.3 of the links; 0.6 would take half.
TEST_F(BandwidthRules, AlgorithmOrProtocol) {
  three_calls(978'672, 16);
  EXPECT_EQ(gain(comm_algo_proto_rule), 3 * 489'336);
  EXPECT_TRUE(ask(comm_few_channels_rule).empty());
  EXPECT_TRUE(ask(comm_topology_bad_path_rule).empty());
}
// The same with four channels: twice as many may reach twice as much.
TEST_F(BandwidthRules, FewChannels) {
  three_calls(978'672, 4);
  EXPECT_EQ(gain(comm_few_channels_rule), 3 * 489'336);
  EXPECT_TRUE(ask(comm_algo_proto_rule).empty());
}
// 2.9 ms are 0.1 of the links; 0.6 would take 0.167 of it.
TEST_F(BandwidthRules, BadPath) {
  three_calls(2'936'013, 16);
  EXPECT_NEAR(gain(comm_topology_bad_path_rule), 3 * 2'936'013 * 0.833, 3);
  EXPECT_TRUE(ask(comm_algo_proto_rule).empty());
}
TEST_F(BandwidthRules, NearTheLinksAllIsWell) {
  three_calls(360'000, 4);
  EXPECT_TRUE(ask(comm_algo_proto_rule).empty());
  EXPECT_TRUE(ask(comm_few_channels_rule).empty());
  EXPECT_TRUE(ask(comm_topology_bad_path_rule).empty());
}

// 150 µs instead of 100, three times: back to 0.667 of it.
TEST_F(CollectiveRules, ContentionForTheDevice) {
  for (int i = 0; i < 3; ++i) kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  kernel("", "", all_reduce_kernel, 430'000, {}, comm, now);
  for (int i = 0; i < 3; ++i) kernel("aten::mm", product(1024, 1024, 1024), "gemm", 150'000);
  kernel("", "", "last_kernel", 300'000);
  EXPECT_EQ(gain(comm_sm_contention_rule), 3 * 49'950);
}
TEST_F(CollectiveRules, NoContentionWhereNothingIsSlower) {
  for (int i = 0; i < 3; ++i) kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
  kernel("", "", all_reduce_kernel, 300'000, {}, comm, now);
  for (int i = 0; i < 3; ++i) kernel("aten::mm", product(1024, 1024, 1024), "gemm", 110'000);
  EXPECT_TRUE(ask(comm_sm_contention_rule).empty());
}

// Half of the bytes in half of 400 µs.
TEST_F(CollectiveRules, GradientsInFp32) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  reduce_gradients(25'000'000, now, 400'000);
  EXPECT_EQ(gain(comm_fp32_reduce_rule), 200'000);
}
TEST_F(CollectiveRules, GradientsInBf16) {
  backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
  reduce_gradients(25'000'000, now, 400'000, "BFloat16");
  EXPECT_TRUE(ask(comm_fp32_reduce_rule).empty());
}
TEST_F(CollectiveRules, AModelInFp32ReducesInFp32) {
  backward_kernel("aten::mm", product(1024, 1024, 1024, "float"), "sgemm", 1'000'000);
  reduce_gradients(25'000'000, now, 400'000);
  EXPECT_TRUE(ask(comm_fp32_reduce_rule).empty());
}

TEST_F(CollectiveRules, HundredsOfRanksHaveNoGainWithoutAModel) {
  kernel("", "", all_reduce_kernel, 400'000, collective("allreduce", 1'000'000, "Float", 512));
  const auto found = ask(comm_flat_large_ring_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].edits.empty());
}
TEST_F(CollectiveRules, AGroupOf256) {
  kernel("", "", all_reduce_kernel, 400'000, collective("allreduce", 1'000'000, "Float", 256));
  EXPECT_TRUE(ask(comm_flat_large_ring_rule).empty());
}

TEST_F(CollectiveRules, Barrier) {
  kernel("aten::mm", product(1024, 1024, 1024), "gemm", 900'000);
  kernel("c10d::barrier", "", all_reduce_kernel, 100'000);
  EXPECT_EQ(gain(comm_barrier_rule), 100'000);
}
TEST_F(CollectiveRules, AReductionIsNoBarrier) {
  kernel("c10d::allreduce_", "", all_reduce_kernel, 100'000, collective("allreduce", 1, "Float", 8));
  EXPECT_TRUE(ask(comm_barrier_rule).empty());
}

// The second kernel is launched when the search is over.
TEST_F(CollectiveRules, SearchForUnusedParameters) {
  built.launched_kernel(thread, stream, "first", 0, 5'000, 10'000);
  built.operation(thread, "torch.distributed.ddp.reducer::search_unused_parameters", 100'000, 500'000);
  built.launched_kernel(thread, stream, "second", 600'000, 610'000, 10'000);
  EXPECT_EQ(gain(comm_unused_param_scan_rule), 500'000);
}
TEST_F(CollectiveRules, NoSearch) {
  built.launched_kernel(thread, stream, "first", 0, 5'000, 10'000);
  built.operation(thread, "DistributedDataParallel.forward", 100'000, 500'000);
  built.launched_kernel(thread, stream, "second", 600'000, 610'000, 10'000);
  EXPECT_TRUE(ask(comm_unused_param_scan_rule).empty());
}

// Two passes, each with a reduction of 100 µs: the first one need not be.
TEST_F(CollectiveRules, ReductionInEveryMicroStep) {
  for (int i = 0; i < 2; ++i) {
    forward_kernel(200'000);
    backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 200'000);
    reduce_gradients(25'000'000, -1, 100'000, "Float", stream);
  }
  EXPECT_EQ(gain(comm_accum_sync_rule), 100'000);
}
TEST_F(CollectiveRules, ReductionInTheLastMicroStep) {
  for (int i = 0; i < 2; ++i) {
    forward_kernel(200'000);
    backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", 200'000);
  }
  reduce_gradients(25'000'000, -1, 100'000, "Float", stream);
  EXPECT_TRUE(ask(comm_accum_sync_rule).empty());
}

}  // namespace
}  // namespace stepscope
