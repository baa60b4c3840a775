// Each kind of dependency on a trace of a few slices, with the answer worked out by hand: what a replay gives when one duration changes.
#include <gtest/gtest.h>

#include "facts/small_timeline.h"
#include "lift/lift.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

// Of a small timeline: its graph, in which durations may be changed, and the start of a slice's operation in a replay.
class Replayed {
 public:
  explicit Replayed(SmallTimeline& small) {
    small.finish();
    lifted = lift(small.timeline, small.facts);
  }
  void set_duration(SliceId slice, Nanoseconds duration) { lifted.graph.operations.duration[lifted.operation_of[slice]] = duration; }
  Nanoseconds start(SliceId slice) { return replay(lifted.graph).start(lifted.operation_of[slice]); }
  Nanoseconds end(SliceId slice) { return replay(lifted.graph).end(lifted.operation_of[slice]); }
  // Of the dependency that decides when a slice's operation starts.
  LagKind deciding_lag(SliceId slice) {
    const ReplayTimes times = replay(lifted.graph);
    return lifted.graph.dependencies.lag_kind[deciding_dependency(lifted.graph, times, lifted.operation_of[slice])];
  }
  DependencyKind deciding_kind(SliceId slice) {
    const ReplayTimes times = replay(lifted.graph);
    return lifted.graph.dependencies.kind[deciding_dependency(lifted.graph, times, lifted.operation_of[slice])];
  }
  Lifted lifted;
};

constexpr Nanoseconds us = 1'000;

TEST(LiftKinds, TimeBetweenOperatorsStaysAndALaunchFollowsIt) {
  // An operator of 10 µs, 20 µs of Python, a launch; its kernel starts 5 µs after the launch began.
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  const SliceId first = t.operation(main, "aten::add", 0, 10 * us);
  t.call(main, "cudaLaunchKernel", 30 * us, 4 * us, 1);
  const SliceId kernel = t.kernel(stream, "k", 35 * us, 8 * us, 1);
  Replayed r(t);
  EXPECT_EQ(r.start(kernel), 35 * us);
  EXPECT_EQ(r.deciding_kind(kernel), DependencyKind::launch);
  EXPECT_EQ(r.deciding_lag(kernel), LagKind::launch);
  r.set_duration(first, 3 * us);  // 7 µs less: all that follows comes earlier by that, the Python time stays
  EXPECT_EQ(r.start(kernel), 28 * us);
}

TEST(LiftKinds, AQueuedKernelFollowsTheOneBeforeIt) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  t.call(main, "cudaLaunchKernel", 2 * us, 2 * us, 2);
  const SliceId first = t.kernel(stream, "a", 5 * us, 100 * us, 1), second = t.kernel(stream, "b", 107 * us, 10 * us, 2);
  Replayed r(t);
  EXPECT_EQ(r.start(second), 107 * us);
  EXPECT_EQ(r.deciding_kind(second), DependencyKind::stream_order);
  EXPECT_EQ(r.deciding_lag(second), LagKind::scheduling);  // 2 µs
  r.set_duration(first, 40 * us);
  EXPECT_EQ(r.start(second), 47 * us);
  // Where nothing runs before it, its own launch holds it back: at 2 µs, with the 5 µs that launches take here.
  r.set_duration(first, 0);
  EXPECT_EQ(r.start(second), 7 * us);
}

TEST(LiftKinds, ADelayThatNothingExplainsIsAConstantAndCounted) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  t.call(main, "cudaLaunchKernel", 2 * us, 2 * us, 2);
  const SliceId first = t.kernel(stream, "a", 5 * us, 100 * us, 1), second = t.kernel(stream, "b", 305 * us, 10 * us, 2);
  Replayed r(t);
  EXPECT_EQ(r.deciding_lag(second), LagKind::unexplained);
  EXPECT_EQ(r.lifted.device_lags.front().lags[LagKind::unexplained].count, 1u);
  EXPECT_EQ(r.lifted.device_lags.front().lags[LagKind::unexplained].total, 200 * us);
  r.set_duration(first, 50 * us);
  EXPECT_EQ(r.start(second), 255 * us);  // 50 µs earlier, the delay as it was
}

TEST(LiftKinds, AStreamWaitsForTheEventOfAnother) {
  // Recorded on stream 7 behind a kernel of 100 µs; stream 8 waits for it: the row says so.
  SmallTimeline t;
  const TrackId main = t.thread("1"), seven = t.stream(7), eight = t.stream(8);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  t.call(main, "cudaEventRecord", 3 * us, 1 * us, 2);
  t.call(main, "cudaStreamWaitEvent", 5 * us, 1 * us, 3);
  t.call(main, "cudaLaunchKernel", 8 * us, 2 * us, 4);
  const SliceId first = t.kernel(seven, "a", 5 * us, 100 * us, 1), second = t.kernel(eight, "b", 108 * us, 10 * us, 4);
  const SliceId row = t.slice(SliceKind::device_sync, eight, "Stream Wait Event", 6 * us, 99 * us, 3);
  t.builder().add(SyncFact{row, 7, 2});
  Replayed r(t);
  EXPECT_EQ(r.start(second), 108 * us);
  EXPECT_EQ(r.deciding_kind(second), DependencyKind::event);
  EXPECT_EQ(r.deciding_lag(second), LagKind::hand_over);
  r.set_duration(first, 60 * us);
  EXPECT_EQ(r.start(second), 68 * us);
}

TEST(LiftKinds, AThreadWaitsForTheDevice) {
  // The call waits from 10 µs until the kernel has ended at 105 µs, returns at 107 µs, and 13 µs later the next kernel is launched.
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  const SliceId wait = t.call(main, "cudaDeviceSynchronize", 10 * us, 97 * us, 2);
  t.call(main, "cudaLaunchKernel", 120 * us, 2 * us, 3);
  const SliceId first = t.kernel(stream, "a", 5 * us, 100 * us, 1), second = t.kernel(stream, "b", 125 * us, 10 * us, 3);
  Replayed r(t);
  EXPECT_EQ(r.end(wait), 107 * us);
  r.set_duration(first, 30 * us);  // 70 µs less: the call returns so much earlier
  EXPECT_EQ(r.end(wait), 37 * us);
  EXPECT_EQ(r.start(second), 55 * us);
}

TEST(LiftKinds, ACopyOfPageableMemoryBlocksItsCall) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  const SliceId call = t.call(main, "cudaMemcpyAsync", 0, 60 * us, 1);
  t.call(main, "cudaLaunchKernel", 70 * us, 2 * us, 2);
  const SliceId copy = t.slice(SliceKind::copy, stream, "Memcpy HtoD (Pageable -> Device)", 8 * us, 50 * us, 1);
  const SliceId kernel = t.kernel(stream, "a", 75 * us, 10 * us, 2);
  Replayed r(t);
  EXPECT_EQ(r.start(call), 0);
  EXPECT_EQ(r.start(kernel), 75 * us);
  r.set_duration(copy, 10 * us);  // it ends at 18 µs instead of 58
  EXPECT_EQ(r.start(kernel), 35 * us);
}

TEST(LiftKinds, AGraphWhoseLaunchWasNeverLastNeedsLongerByWhatItsCallDoes) {
  // A kernel of 40 µs starts 5 µs after its launch of 2 µs. A graph is launched behind it by a call of 6 µs, and starts when the kernel has ended.
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  t.call(main, "cudaGraphLaunch", 2 * us, 6 * us, 2);
  const SliceId first = t.kernel(stream, "a", 5 * us, 40 * us, 1);
  const SliceId of_graph = t.kernel(stream, "b", 46 * us, 10 * us, 2);
  Replayed r(t);
  r.set_duration(first, 0);
  EXPECT_EQ(r.start(of_graph), 11 * us);  // 2 + 5 + (6 − 2)
}

TEST(LiftKinds, AGraphsKernelsFollowOneLaunch) {
  // One launch at 0: kernel a from 6 to 20 µs; b and c follow it on two streams; d follows both.
  SmallTimeline t;
  const TrackId main = t.thread("1"), seven = t.stream(7), eight = t.stream(8);
  t.call(main, "cudaGraphLaunch", 0, 3 * us, 1);
  const SliceId a = t.kernel(seven, "a", 6 * us, 14 * us, 1);
  const SliceId b = t.kernel(seven, "b", 21 * us, 30 * us, 1);
  const SliceId c = t.kernel(eight, "c", 22 * us, 10 * us, 1);
  const SliceId d = t.kernel(seven, "d", 52 * us, 5 * us, 1);
  Replayed r(t);
  EXPECT_EQ(r.deciding_kind(a), DependencyKind::launch);
  EXPECT_EQ(r.deciding_kind(c), DependencyKind::graph_order);
  EXPECT_EQ(r.start(d), 52 * us);
  r.set_duration(c, 40 * us);  // now it is c, which ends at 62 µs, that d waits for
  EXPECT_GE(r.start(d), 62 * us);
  r.set_duration(c, 10 * us);
  r.set_duration(a, 4 * us);  // 10 µs earlier, all of it
  EXPECT_EQ(r.start(c), 12 * us);
  EXPECT_EQ(r.start(d), 42 * us);
  EXPECT_EQ(r.start(b), 11 * us);
}

TEST(LiftKinds, BackwardIsHandedOverAndItsEndWaitedFor) {
  // The main thread calls backward at 100 µs and waits until the other thread has done its work, from 130 to 190 µs, and goes on at 200 µs.
  SmallTimeline t;
  const TrackId main = t.thread("1"), backward = t.thread("2"), stream = t.stream(7);
  const SliceId forward = t.numbered(main, "aten::mm", 0, 100 * us, 5, 0);
  t.numbered(backward, "MmBackward0", 10 * us, 5 * us, 4, 1);  // of the step before
  const SliceId node = t.numbered(backward, "MmBackward0", 130 * us, 60 * us, 5, 1);
  t.operation(main, "Optimizer.step", 200 * us, 50 * us);
  t.call(main, "cudaLaunchKernel", 210 * us, 2 * us, 1);
  const SliceId kernel = t.kernel(stream, "adam", 215 * us, 10 * us, 1);
  Replayed r(t);
  EXPECT_EQ(r.start(node), 130 * us);
  EXPECT_EQ(r.start(kernel), 215 * us);
  r.set_duration(forward, 60 * us);  // 40 µs less before the hand-over
  EXPECT_EQ(r.start(node), 90 * us);
  EXPECT_EQ(r.start(kernel), 175 * us);
  r.set_duration(node, 20 * us);  // and 40 µs less in the backward thread
  EXPECT_EQ(r.start(kernel), 135 * us);
}

TEST(LiftKinds, WorkOfAnotherStreamMayKeepTheDeviceFull) {
  // Kernel b was launched at 2 µs, and started when the large kernel of the other stream ended.
  SmallTimeline t;
  const TrackId main = t.thread("1"), seven = t.stream(7), eight = t.stream(8);
  t.call(main, "cudaLaunchKernel", 0, 2 * us, 1);
  t.call(main, "cudaLaunchKernel", 2 * us, 2 * us, 2);
  const SliceId large = t.kernel(seven, "a", 5 * us, 1000 * us, 1), late = t.kernel(eight, "b", 1004 * us, 10 * us, 2);
  Replayed r(t);
  EXPECT_EQ(r.start(late), 1004 * us);
  EXPECT_EQ(r.deciding_kind(late), DependencyKind::device);
  EXPECT_EQ(r.lifted.device_lags.front().lags[LagKind::unexplained].count, 0u);
  r.set_duration(large, 500 * us);
  EXPECT_EQ(r.start(late), 504 * us);
}

TEST(LiftKinds, OfAStretchOfTheCaptureOnlyWhatStartsInIt) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, us);
  for (int i = 0; i < 10; ++i) t.launched_kernel(main, stream, "k", (10 + 20 * i) * us, (15 + 20 * i) * us, 8 * us);
  t.finish();
  const Lifted lifted = lift(t.timeline, t.facts, {100 * us, 160 * us});
  std::size_t kernels = 0;
  for (const OperationClass c : lifted.graph.operations.operation_class) kernels += c == OperationClass::compute;
  EXPECT_EQ(kernels, 3u);  // at 115, 135 and 155 µs
  EXPECT_EQ(lifted.when, (Interval{100 * us, 160 * us}));
}

}  // namespace
}  // namespace stepscope
