// Edits of lifted traces: selectors that need the facts, and edits that need recorded shapes and a GPU. Worked out by hand.
#include <gtest/gtest.h>

#include "edit/edit.h"
#include "edit/selector.h"
#include "facts/small_timeline.h"
#include "lift/lift.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

// 1 operation per ps: 1 TFLOP/s of bf16, half of it in TF32, a quarter in fp32; 1 byte per ns.
Gpu slow_gpu() {
  Gpu gpu;
  gpu.name = gpu.title = "slow";
  gpu.confidence = "verified";
  gpu.matrix_bf16 = 1e12;
  gpu.matrix_tf32 = 0.5e12;
  gpu.matrix_fp32 = gpu.vector_fp32 = 0.25e12;
  gpu.memory_bytes_per_second = 1e9;
  return gpu;
}

struct LiftedTrace : testing::Test {
  SmallTimeline t;
  TrackId thread{}, stream{};
  Lifted lifted;
  Graph graph;
  std::uint64_t correlation = 0;

  void SetUp() override {
    thread = t.thread("1");
    stream = t.stream(7);
  }
  SliceId operation(std::string_view name, Nanoseconds start, Nanoseconds duration, std::string_view shapes = {}, std::string_view types = {}) {
    TimelineBuilder& b = t.builder();
    const std::string detail = shapes.empty() ? std::string() : "\"Input Dims\": " + std::string(shapes) + ", \"Input type\": " + std::string(types);
    return b.add_slice(SliceKind::operation, thread, start, duration, b.names().intern(name), no_number, no_number,
                       detail.empty() ? NameId{0} : b.details().intern(detail));
  }
  // A launch of 10 ns within an operator of 30 ns, and its kernel.
  SliceId launched(std::string_view operator_name, std::string_view kernel, Nanoseconds at, Nanoseconds start, Nanoseconds duration,
                   std::string_view shapes = {}, std::string_view types = {}) {
    operation(operator_name, at, 30, shapes, types);
    t.call(thread, "cudaLaunchKernel", at + 10, 10, ++correlation);
    return t.kernel(stream, kernel, start, duration, correlation);
  }
  void finish() {
    t.finish();
    lifted = lift(t.timeline, t.facts);
    graph = lifted.graph.copy();
  }
  Result<std::vector<EditEffect>> edit(std::string_view text, const Gpu* gpu = nullptr) {
    const Result<Edit> parsed = parse_edit(text);
    if (!parsed) return std::unexpected(parsed.error());
    return apply_edits({t.timeline, t.facts, lifted, gpu}, std::span(&*parsed, 1), graph);
  }
  std::uint64_t count(std::string_view text) {
    const auto effects = edit(text);
    return effects ? effects->front().operations : 0;
  }
  Nanoseconds duration(SliceId slice) const { return graph.operations.duration[lifted.operation_of[slice]]; }
};

TEST_F(LiftedTrace, OperatorsInnerAndOuter) {
  operation("aten::linear", 0, 100);
  const SliceId mm = launched("aten::addmm", "some_kernel", 10, 60, 500);
  launched("aten::relu", "other_kernel", 120, 700, 50);
  finish();
  EXPECT_EQ(count("scale operator=aten::linear by=1"), 1u);
  EXPECT_EQ(count("scale operator=aten::* by=1"), 2u);
  EXPECT_EQ(count("scale category=gemm by=2"), 1u);
  EXPECT_EQ(duration(mm), 1000);
  EXPECT_EQ(count("scale class=framework operator=aten::relu by=1"), 2u);  // before and behind its launch
  const auto none = edit("scale operator=aten::reul by=2");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("near names: aten::relu"), std::string::npos) << none.error().message();
}

TEST_F(LiftedTrace, ModulesOfForwardAndBackwardWork) {
  TimelineBuilder& b = t.builder();
  const auto module = [&](std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint32_t id) {
    const SliceId frame = t.slice(SliceKind::python_function, thread, name, start, duration);
    b.add(PythonFact{frame, id, 0xFFFF'FFFFu, id});
  };
  module("nn.Module: Block_0", 0, 200, 1);
  module("nn.Module: Linear_3", 5, 100, 2);
  const SliceId forward = operation("aten::mm", 10, 30);
  b.add(SequenceFact{forward, 42, 0});
  t.call(thread, "cudaLaunchKernel", 20, 10, 1);
  const SliceId forward_kernel = t.kernel(stream, "f", 40, 10, 1);
  const SliceId backward = operation("MmBackward0", 300, 50);
  b.add(SequenceFact{backward, 42, 1});
  t.call(thread, "cudaLaunchKernel", 310, 10, 2);
  const SliceId backward_kernel = t.kernel(stream, "b", 330, 10, 2);
  t.call(thread, "cudaLaunchKernel", 400, 10, 3);
  const SliceId outside = t.kernel(stream, "o", 420, 10, 3);
  finish();
  EXPECT_EQ(count("scale module=Linear_3 by=2"), 2u);
  EXPECT_EQ(duration(forward_kernel), 20);
  EXPECT_EQ(duration(backward_kernel), 20);
  EXPECT_EQ(duration(outside), 10);
  EXPECT_EQ(count("scale module=Block_0/Linear* by=1"), 2u);
  EXPECT_EQ(count("scale module=Linear_3 phase=backward by=1"), 1u);
  EXPECT_EQ(count("scale module=Conv* by=1"), 0u);
}

TEST_F(LiftedTrace, StepsByNumber) {
  for (int step = 0; step < 3; ++step) {
    t.annotation(thread, "ProfilerStep#" + std::to_string(step + 5), step * 1000, 1000);
    launched("aten::mm", "gemm", step * 1000 + 10, step * 1000 + 100, 100);
  }
  finish();
  EXPECT_EQ(count("scale step=6 by=1"), 1u);
  EXPECT_EQ(count("scale step=5|7 by=1"), 2u);
  EXPECT_EQ(count("scale class=launch step=7 by=1"), 1u);
}

TEST_F(LiftedTrace, AnotherDataType) {
  // 2 · 100 · 100 · 100 = 2e6 operations: 8 µs in fp32, 2 µs in bf16. 120 kB of fp32: 120 µs, 60 µs as bf16: memory bounds it both times.
  const SliceId product = launched("aten::mm", "sgemm", 10, 100, 200'000, "[[100,100],[100,100]]", R"(["float","float"])");
  const SliceId sum = launched("aten::add", "elementwise", 50, 300'000, 1'000, "[[100],[100],[]]", R"(["float","float","Scalar"])");
  const SliceId unknown = launched("aten::strange", "strange", 90, 400'000, 500);
  finish();
  const Gpu gpu = slow_gpu();
  const auto effects = edit("dtype to=bf16", &gpu);
  ASSERT_TRUE(effects) << effects.error().message();
  EXPECT_EQ(effects->front().operations, 2u);
  EXPECT_EQ(duration(product), 100'000);
  EXPECT_EQ(duration(sum), 500);
  EXPECT_EQ(duration(unknown), 500);
  EXPECT_NEAR(effects->front().pessimistic, 1 - 500.0 / 100'500, 1e-12);
  EXPECT_NE(edit("dtype to=bf16").error().message().find("name it with --gpu"), std::string::npos);
  EXPECT_NE(edit("dtype to=int8", &gpu).error().message().find("no floating-point type"), std::string::npos);
  EXPECT_NE(edit("dtype to=fp4", &gpu).error().message().find("has no dense fp4 rate"), std::string::npos);
}

TEST_F(LiftedTrace, AnotherGpu) {
  // The product is bound by the matrix units on both: 2e9 operations (2 ms of 1 TFLOP/s) and 6 MB (6 ms of 1 GB/s; on the H200's side another bound).
  const SliceId product = launched("aten::mm", "gemm", 10, 100, 1'000'000, "[[1000,1000],[1000,1000]]", R"(["c10::BFloat16","c10::BFloat16"])");
  const SliceId unknown = launched("aten::add", "elementwise", 50, 2'000'000, 100'000);
  finish();
  const Result<Gpu> a100 = find_gpu("a100-sxm-80gb"), h100 = find_gpu("h100-sxm");
  ASSERT_TRUE(a100 && h100);
  const auto effects = edit("gpu to=h100-sxm", &*a100);
  ASSERT_TRUE(effects) << effects.error().message();
  const double bandwidth = *a100->memory_bytes_per_second / *h100->memory_bytes_per_second, rate = *a100->matrix_bf16 / *h100->matrix_bf16;
  const double here = std::max(2e9 / *a100->matrix_bf16, 6e6 / *a100->memory_bytes_per_second),
               there = std::max(2e9 / *h100->matrix_bf16, 6e6 / *h100->memory_bytes_per_second);
  EXPECT_NEAR(static_cast<double>(duration(product)), 1e6 * there / here, 1);
  EXPECT_NEAR(static_cast<double>(duration(unknown)), 1e5 * bandwidth, 1);
  const double change = 1'100'000.0 - static_cast<double>(duration(product) + duration(unknown));
  EXPECT_NEAR(effects->front().optimistic, 1'100'000 * (1 - std::min(bandwidth, rate)) / change, 1e-6);
  EXPECT_NEAR(effects->front().pessimistic, 1'100'000 * (1 - std::max(bandwidth, rate)) / change, 1e-6);
  EXPECT_FALSE(edit("gpu to=h100-sxm"));
  EXPECT_FALSE(edit("gpu to=no-such-gpu", &*a100));
}

TEST_F(LiftedTrace, FusedByBytes) {
  // Two additions of 1000 floats with a scalar: 8000 bytes each (one read, one written); fused, what is passed on moves no more: 8000 of 16000.
  const SliceId first = launched("aten::mul", "elementwise_a", 10, 100, 600, "[[1000],[]]", R"(["float","Scalar"])");
  const SliceId second = launched("aten::mul", "elementwise_b", 50, 700, 400, "[[1000],[]]", R"(["float","Scalar"])");
  finish();
  const auto effects = edit("fuse");
  ASSERT_TRUE(effects) << effects.error().message();
  EXPECT_EQ(duration(first), 500);
  EXPECT_EQ(duration(second), 0);
  EXPECT_DOUBLE_EQ(effects->front().pessimistic, 0.5);
}

TEST_F(LiftedTrace, FusedWithinOneLaunchOfACudaGraph) {
  // Two kernels of a graph, then one with a launch of its own.
  t.call(thread, "cudaGraphLaunch", 10, 10, 1);
  const SliceId first = t.kernel(stream, "elementwise_a", 100, 600, 1), second = t.kernel(stream, "elementwise_b", 700, 400, 1);
  t.call(thread, "cudaLaunchKernel", 30, 10, 2);
  const SliceId outside = t.kernel(stream, "elementwise_c", 1'100, 300, 2);
  finish();
  const auto effects = edit("fuse");
  ASSERT_TRUE(effects) << effects.error().message();
  EXPECT_EQ(effects->front().operations, 2u);
  EXPECT_EQ(duration(first), 600);
  EXPECT_EQ(duration(second), 0);
  EXPECT_EQ(duration(outside), 300);
}

TEST_F(LiftedTrace, FusedAttention) {
  // Q·K of [1, 8, 4] and [1, 4, 8]: 512 operations, 128 + 128 bytes and 256 of scores; P·V of [1, 8, 8] and [1, 8, 4]: 512, 128 + 128 and 256 of scores.
  // Fused: 1024 operations at half of 0.25 TFLOP/s: 8.192 ns; 512 bytes at 1 byte per ns: 512 ns.
  operation("aten::scaled_dot_product_attention", 0, 200);
  const SliceId scores = launched("aten::bmm", "gemm", 10, 100, 1000, "[[1,8,4],[1,4,8]]", R"(["float","float"])");
  const SliceId softmax = launched("aten::_softmax", "softmax", 50, 1100, 1000);
  const SliceId values = launched("aten::bmm", "gemm", 90, 2100, 1000, "[[1,8,8],[1,8,4]]", R"(["float","float"])");
  const SliceId other = launched("aten::mm", "gemm", 250, 3100, 1000);
  finish();
  const Gpu gpu = slow_gpu();
  const auto effects = edit("fused_attention", &gpu);
  ASSERT_TRUE(effects) << effects.error().message();
  EXPECT_EQ(effects->front().operations, 3u);
  EXPECT_EQ(duration(scores), 512);
  EXPECT_EQ(duration(softmax) + duration(values), 0);
  EXPECT_EQ(duration(other), 1000);
  EXPECT_DOUBLE_EQ(effects->front().optimistic, 1);  // memory bounds it at any efficiency
  EXPECT_FALSE(edit("fused_attention"));
}

TEST_F(LiftedTrace, FusedAttentionLeavesItsProjections) {
  // As above without an operator around them, between two projections that a module's selector would choose too.
  const SliceId queries = launched("aten::addmm", "gemm", 10, 100, 1000, "[[8],[8,8],[8,8]]", R"(["float","float","float"])");
  const SliceId scores = launched("aten::bmm", "gemm", 50, 1100, 1000, "[[1,8,4],[1,4,8]]", R"(["float","float"])");
  const SliceId softmax = launched("aten::_softmax", "softmax", 90, 2100, 1000, "[[1,8,8],[],[]]", R"(["float","Scalar","Scalar"])");
  const SliceId values = launched("aten::bmm", "gemm", 130, 3100, 1000, "[[1,8,8],[1,8,4]]", R"(["float","float"])");
  const SliceId result = launched("aten::addmm", "gemm", 170, 4100, 1000, "[[8],[8,8],[8,8]]", R"(["float","float","float"])");
  finish();
  const Gpu gpu = slow_gpu();
  for (const std::string_view text : {"fused_attention", "fused_attention operator=aten::*"}) {
    graph = lifted.graph.copy();
    const auto effects = edit(text, &gpu);
    ASSERT_TRUE(effects) << effects.error().message();
    EXPECT_EQ(effects->front().operations, 3u);
    EXPECT_EQ(duration(scores), 512);
    EXPECT_EQ(duration(softmax) + duration(values), 0);
    EXPECT_EQ(duration(queries) + duration(result), 2000);
  }
  graph = lifted.graph.copy();
  EXPECT_FALSE(edit("fused_attention operator=aten::addmm", &gpu));  // chosen kernels that are no attention
}

TEST_F(LiftedTrace, CollectivesByWhatLaunchedThem) {
  // NCCL runs an all-to-all as SendRecv; the annotation around its launch says what it is.
  t.annotation(thread, "nccl:all_to_all", 0, 40);
  t.call(thread, "cudaLaunchKernel", 10, 10, 1);
  const SliceId exchange = t.kernel(stream, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 50, 100, 1);
  t.call(thread, "cudaLaunchKernel", 60, 10, 2);
  const SliceId pipeline = t.kernel(stream, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 200, 100, 2);
  finish();
  EXPECT_EQ(count("scale collective=all_to_all by=2"), 1u);
  EXPECT_EQ(duration(exchange), 200);
  EXPECT_EQ(count("scale collective=send_receive by=3"), 1u);
  EXPECT_EQ(duration(pipeline), 300);
  EXPECT_EQ(count("scale collective=All-to-All|sendreceive by=1"), 2u);
}

TEST_F(LiftedTrace, WhatDidNotMatchIsNamedBesideWhatThereIs) {
  TimelineBuilder& b = t.builder();
  const SliceId frame = t.slice(SliceKind::python_function, thread, "nn.Module: Attention_2", 0, 100);
  b.add(PythonFact{frame, 1, 0xFFFF'FFFFu, 1});
  t.call(thread, "cudaLaunchKernel", 10, 10, 1);
  t.kernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 50, 100, 1);
  finish();
  const auto told = [&](std::string_view text) {
    const auto effects = edit(text);
    return effects ? std::string("matched") : effects.error().message();
  };
  EXPECT_NE(told("scale module=Atention* by=2").find("there are: Attention_2"), std::string::npos) << told("scale module=Atention* by=2");
  EXPECT_NE(told("scale module=Attention* by=2").find("matched"), std::string::npos);
  EXPECT_NE(told("scale collective=all_gather by=2").find("all_reduce (collective=)"), std::string::npos) << told("scale collective=all_gather by=2");
  EXPECT_NE(told("scale collective=foo by=2").find("known: all_reduce, all_gather"), std::string::npos) << told("scale collective=foo by=2");
  EXPECT_NE(told("scale device=gpu:99 by=2").find("(device=)"), std::string::npos) << told("scale device=gpu:99 by=2");
  EXPECT_NE(told("scale step=7 by=2").find("none of them has a step"), std::string::npos) << told("scale step=7 by=2");
}

TEST_F(LiftedTrace, FusedOptimizer) {
  t.annotation(thread, "Optimizer.step#AdamW.step", 0, 200);
  const SliceId first = launched("aten::mul_", "elementwise", 10, 100, 20'000, "[[1000],[]]", R"(["float","Scalar"])");
  const SliceId divided = launched("aten::addcdiv_", "elementwise", 50, 20'100, 30'000, "[[1000],[1000],[1000],[]]", R"(["float","float","float","Scalar"])");
  finish();
  const Gpu gpu = slow_gpu();
  const auto effects = edit("fused_optimizer", &gpu);
  ASSERT_TRUE(effects) << effects.error().message();
  EXPECT_EQ(duration(first), 35'000);  // 1000 parameters of 28 bytes at 0.8 byte per ns
  EXPECT_EQ(duration(divided), 0);
  EXPECT_NEAR(effects->front().pessimistic, (50'000 - 28'000 / 0.6) / 15'000, 1e-9);
  graph = lifted.graph.copy();
  ASSERT_TRUE(edit("fused_optimizer parameters=500 efficiency=1", &gpu));
  EXPECT_EQ(duration(first), 14'000);
}

}  // namespace
}  // namespace stepscope
