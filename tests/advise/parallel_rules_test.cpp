// Rules about pipelines, experts, FSDP, late ranks and scale: a trace that must fire with the gain worked out by hand, and one that must not.
#include <algorithm>
#include <array>

#include "advise/rule_case.h"
#include "graph/builder.h"

namespace stepscope {

extern const Rule pp_bubble_rule, pp_imbalance_rule, pp_p2p_exposed_rule, moe_imbalance_rule, moe_a2a_exposed_rule, moe_many_small_gemms_rule,
    moe_host_sync_splits_rule, fsdp_rate_limit_rule, fsdp_copy_in_out_rule, scale_batch_too_small_rule, comm_straggler_rule, comm_wait_vs_transfer_rule,
    comm_not_overlappable_queue_rule;

namespace {

constexpr std::string_view p2p_kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

class ParallelRules : public RuleCase {
 protected:
  void forward(Nanoseconds duration) {
    built.annotation(thread, "forward", host, 2'000);
    host += 50;
    kernel("aten::mm", product(1024, 1024, 1024), "gemm", duration);
    host += 1'950;
  }
  void backward(Nanoseconds duration) { backward_kernel("aten::mm", product(1024, 1024, 1024), "gemm", duration); }
  void receive(Nanoseconds duration) { kernel("c10d::recv_", "", p2p_kernel, duration, collective("recv", 1'000'000, "BFloat16", 2, "pp")); }
};

// 400 of 600 µs wait before the first backward; two virtual stages halve that.
TEST_F(ParallelRules, Bubble) {
  receive(200'000);
  forward(100'000);
  receive(200'000);
  backward(100'000);
  EXPECT_EQ(gain(pp_bubble_rule), 200'000);
  EXPECT_TRUE(ask(pp_p2p_exposed_rule).empty());
}
// Between the first backward and the last forward; 300 µs of compute could hide it.
TEST_F(ParallelRules, ReceiveInTheSteadyState) {
  forward(100'000);
  backward(100'000);
  receive(200'000);
  forward(100'000);
  EXPECT_EQ(gain(pp_p2p_exposed_rule), 200'000);
  EXPECT_TRUE(ask(pp_bubble_rule).empty());
}

// Stages of 300 and 100 µs: 200 each, so that the longer rank saves 100 (with a factor of 0.6667).
TEST_F(ParallelRules, UnequalStages) {
  forward(300'000);
  receive(20'000);
  built.add_rank();
  built.in_process("2000");
  thread = built.thread("1");
  stream = built.stream(7);
  host = 0;
  now = 0;
  forward(100'000);
  receive(20'000);
  EXPECT_NEAR(gain(pp_imbalance_rule), 100'000, 20);
}
TEST_F(ParallelRules, OneStageTellsNoImbalance) {
  forward(300'000);
  receive(20'000);
  EXPECT_TRUE(ask(pp_imbalance_rule).empty());
}

// Twice as many tokens come as go: the experts' 400 µs become 200.
TEST_F(ParallelRules, UnequalExperts) {
  kernel("", "", p2p_kernel, 50'000, collective("all_to_allv", 1'000'000, "BFloat16", 8, "ep", 2'000'000));
  kernel("aten::_grouped_mm", "", "grouped_gemm", 400'000);
  EXPECT_EQ(gain(moe_imbalance_rule), 200'000);
}
TEST_F(ParallelRules, NearlyEqualExperts) {
  kernel("", "", p2p_kernel, 50'000, collective("all_to_allv", 1'000'000, "BFloat16", 8, "ep", 1'200'000));
  kernel("aten::_grouped_mm", "", "grouped_gemm", 400'000);
  EXPECT_TRUE(ask(moe_imbalance_rule).empty());
}

TEST_F(ParallelRules, ExposedExchange) {
  kernel("", "", p2p_kernel, 200'000, collective("all_to_allv", 1'000'000, "BFloat16", 8, "ep"));
  forward(300'000);
  EXPECT_EQ(gain(moe_a2a_exposed_rule), 200'000);
}
TEST_F(ParallelRules, AShortExchange) {
  kernel("", "", p2p_kernel, 20'000, collective("all_to_allv", 1'000'000, "BFloat16", 8, "ep"));
  forward(300'000);
  EXPECT_TRUE(ask(moe_a2a_exposed_rule).empty());
}

// Bounds of 2.507 (memory), 3.146, 4.194 and 2.589 µs; the trace's own efficiency is below 0.3, which counts at least: 41.5 of 400 µs.
TEST_F(ParallelRules, AProductPerExpert) {
  for (const int tokens : {100, 150, 200, 120}) kernel("aten::mm", product(tokens, 1024, 1024), "gemm", 100'000);
  EXPECT_EQ(gain(moe_many_small_gemms_rule), 400'000 - 41'600);
}
TEST_F(ParallelRules, LayersAreNoExperts) {
  for (int layer = 0; layer < 8; ++layer) kernel("aten::mm", product(100, 1024, 1024), "gemm", 100'000);
  EXPECT_TRUE(ask(moe_many_small_gemms_rule).empty());
}

// Ranks 0 and 1 meet in `times.size()` transfers of 10 µs; before each, rank 0 and 1 compute for the times given.
class LateRanks : public ParallelRules {
 protected:
  void meet(const std::vector<std::pair<Nanoseconds, Nanoseconds>>& work) {
    // A timeline of the same two ranks, so that there are steps and evidence.
    Nanoseconds at[2] = {0, 0};
    std::vector<std::array<SliceId, 2>> members(work.size()), computed(work.size());
    for (int rank = 0; rank < 2; ++rank) {
      if (rank == 1) built.add_rank();
      built.in_process(rank == 0 ? "1000" : "2000");
      const TrackId main = built.stream(7);
      for (std::size_t i = 0; i < work.size(); ++i) {
        const Nanoseconds own = rank == 0 ? work[i].first : work[i].second, longest = std::max(work[i].first, work[i].second);
        computed[i][static_cast<std::size_t>(rank)] = built.kernel(main, "gemm", at[rank], own);
        members[i][static_cast<std::size_t>(rank)] = built.kernel(main, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at[rank] + own, longest - own + 10'000);
        at[rank] += longest + 10'000;
      }
    }
    built.finish();
    lifted = Lifted{};
    lifted.operation_of.resize(built.timeline.slices.size(), no_id<OpId>);
    GraphBuilder builder;
    const PlaceId places[2] = {builder.place({.kind = PlaceKind::stream, .rank = RankId{0}, .device = DeviceId{0}, .track = TrackId{0}, .stream = 7}),
                               builder.place({.kind = PlaceKind::stream, .rank = RankId{1}, .device = DeviceId{1}, .track = TrackId{1}, .stream = 7})};
    const PlaceId links = builder.place({.kind = PlaceKind::link});
    const NameId name = builder.names().intern("kernel");
    Moment before = Moment::start(OpId{0});
    OpId first[2]{}, last{};
    for (std::size_t i = 0; i < work.size(); ++i) {
      const OpId transfer = builder.add({.place = links, .operation_class = OperationClass::transfer, .duration = 10'000, .name = name});
      for (std::size_t rank = 0; rank < 2; ++rank) {
        const OpId compute = builder.add({.place = places[rank],
                                          .operation_class = OperationClass::compute,
                                          .duration = rank == 0 ? work[i].first : work[i].second,
                                          .name = name,
                                          .origin = computed[i][rank]});
        const OpId member = builder.add({.place = places[rank], .operation_class = OperationClass::communication, .name = name, .origin = members[i][rank]});
        builder.depend(compute, before, DependencyKind::stream_order);
        builder.depend(member, Moment::end(compute), DependencyKind::stream_order);
        builder.depend(transfer, Moment::end(member), DependencyKind::collective);
        lifted.operation_of[computed[i][rank]] = compute;
        lifted.operation_of[members[i][rank]] = member;
        if (i == 0) first[rank] = compute;
      }
      before = Moment::end(transfer);
      last = transfer;
    }
    auto finished = std::move(builder).finish();
    lifted.graph = std::move(finished.graph);
    const auto number = [&](OpId op) { return finished.number[index(op)]; };
    for (OpId& op : lifted.operation_of)
      if (op != no_id<OpId>) op = number(op);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      lifted.windows.push_back({.rank = RankId{rank},
                                .device = DeviceId{rank},
                                .step = no_step,
                                .number = 0,
                                .outlier = false,
                                .begin = Moment::start(number(first[rank])),
                                .end = Moment::end(number(last)),
                                .measured = {0, at[0]}});
    times = replay(lifted.graph);
  }
};
// Rank 1 works for 200 µs where rank 0 works for 100, four times: in step, it would save 400 of 840.
TEST_F(LateRanks, OneRankIsLate) {
  meet({{100'000, 200'000}, {100'000, 200'000}, {100'000, 200'000}, {100'000, 200'000}});
  EXPECT_EQ(gain(comm_straggler_rule), 400'000);
  EXPECT_TRUE(ask(comm_wait_vs_transfer_rule).empty());
}
// In turn, each late by 100 µs: the others wait for half of the time that the transfers take ten times over.
TEST_F(LateRanks, RanksAreLateInTurn) {
  meet({{100'000, 200'000}, {200'000, 100'000}, {100'000, 200'000}, {200'000, 100'000}});
  EXPECT_EQ(gain(comm_wait_vs_transfer_rule), 400'000);
  EXPECT_TRUE(ask(comm_straggler_rule).empty());
}
TEST_F(LateRanks, RanksInStep) {
  meet({{200'000, 200'000}, {201'000, 200'000}, {200'000, 200'000}, {200'000, 201'000}});
  EXPECT_TRUE(ask(comm_straggler_rule).empty());
  EXPECT_TRUE(ask(comm_wait_vs_transfer_rule).empty());
}
TEST_F(LateRanks, OneRankTellsNothing) {
  forward(100'000);
  kernel("", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500'000, collective("allreduce", 1'000'000, "Float", 8));
  EXPECT_TRUE(ask(comm_straggler_rule).empty());
  EXPECT_TRUE(ask(comm_wait_vs_transfer_rule).empty());
}

// A collective beside a long kernel, that starts when the kernel ends; what it waited for is set by hand.
class WaitingCollective : public ParallelRules {
 protected:
  void wait_for(DependencyKind kind) {
    kernel("aten::mm", product(1024, 1024, 1024), "gemm", 1'000'000);
    const SliceId collective = kernel("", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100'000, {}, comm, now + 1'000);
    kernel("aten::mm", product(1024, 1024, 1024), "gemm", 100'000);
    finish();
    // Row numbers of a finished timeline are those in which slices were added.
    const OpId op = lifted.operation_of[collective];
    ASSERT_NE(op, no_id<OpId>);
    GraphBuilder builder;
    const PlaceId place = builder.place({.kind = PlaceKind::stream, .rank = RankId{0}, .device = DeviceId{0}, .track = comm, .stream = 20});
    const NameId name = builder.names().intern("kernel");
    const OpId launch = builder.add({.place = place, .operation_class = OperationClass::launch, .duration = 1'000, .name = name});
    const OpId full = builder.add({.place = place, .duration = 1'000'000, .name = name});
    const OpId waits = builder.add({.place = place, .operation_class = OperationClass::communication, .duration = 100'000, .name = name, .origin = collective});
    builder.depend(waits, Moment::end(launch), DependencyKind::launch);
    builder.depend(waits, Moment::end(full), kind);
    auto finished = std::move(builder).finish();
    lifted.graph = std::move(finished.graph);
    for (std::uint32_t row = 0; row < lifted.operation_of.size(); ++row) lifted.operation_of[SliceId{row}] = no_id<OpId>;
    lifted.operation_of[collective] = finished.number[index(waits)];
    times = replay(lifted.graph);
  }
};
TEST_F(WaitingCollective, ForRoomOnTheDevice) {
  wait_for(DependencyKind::device);
  const auto found = ask(comm_not_overlappable_queue_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].edits.empty());
  EXPECT_NE(found[0].observation.find("999 µs"), std::string::npos) << found[0].observation;
}
TEST_F(WaitingCollective, ForItsData) {
  wait_for(DependencyKind::event);
  EXPECT_TRUE(ask(comm_not_overlappable_queue_rule).empty());
}

class HostWaits : public ParallelRules {
 protected:
  // A kernel, a small copy of its result to the host that is waited for, and 10 µs later an exchange.
  void exchange(Nanoseconds at, std::int64_t bytes) {
    built.launched_kernel(thread, stream, "router", at, at + 5'000, 100'000);
    built.call(thread, "cudaMemcpyAsync", at + 2'000, 1'000, ++correlation);
    const SliceId copy = built.slice(SliceKind::copy, stream, "Memcpy DtoH (Device -> Pinned)", at + 105'000, 2'000, correlation);
    built.builder().add(TransferFact{copy, bytes});
    built.call(thread, "cudaStreamSynchronize", at + 4'000, 104'000, ++correlation);
    add(SliceKind::runtime_call, thread, "cudaLaunchKernel", at + 118'000, 1'000, ++correlation, {});
    add(SliceKind::kernel, stream, p2p_kernel, at + 123'000, 50'000, correlation, collective("all_to_allv", 1'000'000, "BFloat16", 8, "ep"));
  }
};
// The host no longer waits: exchanges are launched while the routers run, and follow the copies. Between copy and exchange 16 µs were lost, twice; between the
// first exchange (until 173 µs) and the second router (at 205 µs) 32.
TEST_F(HostWaits, ForTokenCounts) {
  exchange(0, 256);
  exchange(200'000, 256);
  const auto found = ask(moe_host_sync_splits_rule);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].edits.size(), 1u);
  EXPECT_EQ(found[0].edits[0].kind, "no_sync");
  EXPECT_EQ(found[0].edits[0].operations->size(), 2u);
  EXPECT_EQ(gain(moe_host_sync_splits_rule), 2 * 16'000 + 32'000);
}
TEST_F(HostWaits, LargeCopiesAreNoCounts) {
  exchange(0, 1 << 20);
  exchange(200'000, 1 << 20);
  EXPECT_TRUE(ask(moe_host_sync_splits_rule).empty());
}

class RateLimit : public ParallelRules {
 protected:
  // The host waits for the first kernel before it launches the second, which then starts 15 µs after the first one's end.
  void wait(std::string_view around) {
    built.launched_kernel(thread, stream, "first", 0, 5'000, 600'000);
    built.annotation(thread, around, 8'000, 610'000);
    built.call(thread, "cudaEventSynchronize", 10'000, 600'000);
    built.launched_kernel(thread, stream, "second", 615'000, 620'000, 100'000);
  }
};
TEST_F(RateLimit, InsideOfFsdp) {
  wait("FullyShardedDataParallel._pre_forward");
  const auto found = ask(fsdp_rate_limit_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].edits[0].kind, "no_sync");
  EXPECT_EQ(found[0].edits[0].operations->size(), 1u);
  EXPECT_EQ(gain(fsdp_rate_limit_rule), 15'000);  // the second follows the first at once: 605 instead of 620 µs
}
TEST_F(RateLimit, OutsideOfFsdp) {
  wait("my_wait");
  EXPECT_TRUE(ask(fsdp_rate_limit_rule).empty());
}

TEST_F(ParallelRules, CopiesAroundCollectives) {
  forward(900'000);
  kernel_in("fsdp::all_gather_copy_in", "aten::copy_", "", "copy_kernel", 100'000);
  EXPECT_EQ(gain(fsdp_copy_in_out_rule), 100'000);
}
TEST_F(ParallelRules, OtherCopies) {
  kernel_in("aten::contiguous", "aten::copy_", "", "copy_kernel", 100'000);
  forward(900'000);
  EXPECT_TRUE(ask(fsdp_copy_in_out_rule).empty());
}

TEST_F(ParallelRules, TooLittleWork) {
  backward(500'000);
  kernel("", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500'000, collective("allreduce", 1'000'000, "Float", 8));
  const auto found = ask(scale_batch_too_small_rule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].edits.empty());
}
TEST_F(ParallelRules, EnoughWork) {
  backward(700'000);
  kernel("", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 300'000, collective("allreduce", 1'000'000, "Float", 8));
  EXPECT_TRUE(ask(scale_batch_too_small_rule).empty());
}

}  // namespace
}  // namespace stepscope
