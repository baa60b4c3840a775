#include <gtest/gtest.h>

#include "facts/small_timeline.h"

namespace stepscope {
namespace {

TEST(Phases, OfATrainingStep) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), autograd = t.thread("2"), stream = t.stream(7);
  t.annotation(main, "ProfilerStep#1", 0, 10'000);
  t.annotation(main, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 500);
  const SliceId load = t.operation(main, "aten::stack", 10, 100);
  const SliceId metrics = t.operation(main, "aten::zeros", 600, 10);
  const SliceId linear = t.numbered(main, "aten::linear", 1'000, 500, 7, 0);
  const SliceId addmm = t.operation(main, "aten::addmm", 1'100, 300);
  const SliceId forward_kernel = t.launched_kernel(main, stream, "gemm", 1'200, 1'300, 100);
  const SliceId node = t.numbered(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 3'000, 400, 7, 1);
  const SliceId mm = t.operation(autograd, "aten::mm", 3'100, 100);
  const SliceId backward_kernel = t.launched_kernel(autograd, stream, "gemm", 3'110, 3'300, 100);
  const SliceId hook = t.operation(autograd, "c10d::allreduce_", 3'500, 50);
  t.numbered(autograd, "autograd::engine::evaluate_function: TBackward0", 3'600, 40, 6, 1);
  t.annotation(main, "Optimizer.step#SGD.step", 5'000, 500);
  const SliceId step = t.operation(main, "aten::_foreach_add_", 5'100, 200);
  const SliceId step_call = t.call(main, "cudaLaunchKernel", 5'150, 10, 3);
  const SliceId step_kernel = t.kernel(stream, "multi_tensor_apply", 5'300, 100, 3);
  const SliceId unlinked = t.kernel(stream, "early", 5, 10, 999);
  t.finish();
  const Facts& f = t.facts;
  EXPECT_EQ(f.phase[load], Phase::data);
  EXPECT_EQ(f.phase[metrics], Phase::other);
  EXPECT_EQ(f.phase[linear], Phase::forward);
  EXPECT_EQ(f.phase[addmm], Phase::forward);
  EXPECT_EQ(f.phase[forward_kernel], Phase::forward);
  EXPECT_EQ(f.phase[node], Phase::backward);
  EXPECT_EQ(f.phase[mm], Phase::backward);
  EXPECT_EQ(f.phase[backward_kernel], Phase::backward);
  EXPECT_EQ(f.phase[hook], Phase::backward);
  EXPECT_EQ(f.phase[step], Phase::optimizer);
  EXPECT_EQ(f.phase[step_call], Phase::optimizer);
  EXPECT_EQ(f.phase[step_kernel], Phase::optimizer);
  EXPECT_EQ(f.phase[unlinked], Phase::other);
}

TEST(Phases, InferenceIsForward) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  const SliceId mm = t.operation(main, "aten::mm", 0, 100), kernel = t.launched_kernel(main, t.stream(7), "gemm", 10, 50, 20);
  t.finish();
  EXPECT_EQ(t.facts.phase[mm], Phase::forward);
  EXPECT_EQ(t.facts.phase[kernel], Phase::forward);
}

TEST(Phases, ArrowsMarkBothEnds) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), other = t.thread("2");
  const SliceId forward = t.operation(main, "my::op", 0, 10), backward = t.operation(other, "my::op_gradient", 50, 10),
                unmarked = t.operation(main, "aten::zeros", 20, 5);
  t.builder().add(FlowEnd{1, 0, main, FlowKind::forward_backward, true});
  t.builder().add(FlowEnd{1, 50, other, FlowKind::forward_backward, false});
  t.finish();
  EXPECT_EQ(t.facts.phase[forward], Phase::forward);
  EXPECT_EQ(t.facts.phase[backward], Phase::backward);
  EXPECT_EQ(t.facts.phase[unmarked], Phase::other);
}

TEST(Phases, UsersRangesByTheirNames) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  const auto in_range = [&](const char* name, Nanoseconds at) {
    t.annotation(main, name, at, 50);
    return t.operation(main, "aten::mm", at + 10, 10);
  };
  const SliceId backward = in_range("## backward ##", 0), forward = in_range("DistributedDataParallel.forward", 100), data = in_range("## data_load ##", 200),
                both = in_range("forward_backward", 300);
  t.finish();
  EXPECT_EQ(t.facts.phase[backward], Phase::backward);
  EXPECT_EQ(t.facts.phase[forward], Phase::forward);
  EXPECT_EQ(t.facts.phase[data], Phase::data);
  EXPECT_EQ(t.facts.phase[both], Phase::other);
}

// As in PyTorch's non-reentrant checkpointing: the forward operators run again inside the node that needs them, before its own gradient.
TEST(Recompute, ForwardInsideBackward) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), autograd = t.thread("2"), stream = t.stream(7);
  const SliceId first = t.numbered(main, "aten::conv2d", 0, 50, 930, 0);
  t.numbered(autograd, "autograd::engine::evaluate_function: ReluBackward0", 100, 400, 1194, 1);
  t.numbered(autograd, "ReluBackward0", 105, 390, 1194, 1);
  const SliceId again = t.numbered(autograd, "aten::conv2d", 110, 100, 930, 0);
  const SliceId inner = t.operation(autograd, "aten::_convolution", 120, 50);
  const SliceId kernel = t.launched_kernel(autograd, stream, "conv", 130, 160, 40);
  const SliceId own = t.operation(autograd, "aten::threshold_backward", 300, 50);
  const SliceId own_kernel = t.launched_kernel(autograd, stream, "threshold", 310, 320, 40);
  t.finish();
  EXPECT_EQ(t.facts.recomputed[first], 0);
  EXPECT_EQ(t.facts.recomputed[again], 1);
  EXPECT_EQ(t.facts.recomputed[inner], 1);
  EXPECT_EQ(t.facts.recomputed[kernel], 1);
  EXPECT_EQ(t.facts.recomputed[own], 0);
  EXPECT_EQ(t.facts.recomputed[own_kernel], 0);
  EXPECT_EQ(t.facts.phase[kernel], Phase::backward);
}

// Reentrant checkpointing runs backward nodes inside the recomputed stretch.
TEST(Recompute, NestedBackwardIsNone) {
  SmallTimeline t;
  const TrackId autograd = t.thread("2");
  t.numbered(autograd, "CheckpointFunctionBackward", 0, 1'000, 50, 1);
  t.operation(autograd, "aten::detach", 5, 5);
  const SliceId again = t.numbered(autograd, "aten::linear", 20, 100, 60, 0);
  const SliceId node = t.numbered(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 200, 100, 60, 1),
                mm = t.operation(autograd, "aten::mm", 210, 50);
  t.finish();
  EXPECT_EQ(t.facts.recomputed[again], 1);
  EXPECT_EQ(t.facts.recomputed[node], 0);
  EXPECT_EQ(t.facts.recomputed[mm], 0);
}

// create_graph=True: the gradient's own operators are numbered, because they will be differentiated.
TEST(Recompute, DoubleBackwardIsNone) {
  SmallTimeline t;
  const TrackId autograd = t.thread("2");
  t.numbered(autograd, "MulBackward0", 0, 100, 5, 1);
  const SliceId a = t.numbered(autograd, "aten::mul", 10, 20, 90, 0), b = t.numbered(autograd, "aten::mul", 40, 20, 91, 0);
  t.finish();
  EXPECT_EQ(t.facts.recomputed[a], 0);
  EXPECT_EQ(t.facts.recomputed[b], 0);
}

}  // namespace
}  // namespace stepscope
