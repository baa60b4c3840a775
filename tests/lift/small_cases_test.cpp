// The smallest traces of what generated runs (generated_runs_test.cpp) showed to be lifted wrongly once, with the answer worked out by hand.
#include <gtest/gtest.h>

#include "facts/small_timeline.h"
#include "graph/check.h"
#include "lift/lift.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

struct LiftedCase {
  Lifted lifted;
  explicit LiftedCase(const SmallTimeline& from) : lifted(lift(from.timeline, from.facts)) { EXPECT_TRUE(check(lifted.graph).empty()); }

  OpId of(SliceId slice) const { return lifted.operation_of[slice]; }
  Nanoseconds& duration(SliceId slice) { return lifted.graph.operations.duration[of(slice)]; }
  Nanoseconds start(SliceId slice) const { return replay(lifted.graph).start(of(slice)); }
  Nanoseconds end(SliceId slice) const { return replay(lifted.graph).end(of(slice)); }
};

// A record about a wait, on the rows of the device.
void sync(SmallTimeline& t, TrackId row, std::string_view name, Nanoseconds start, std::uint64_t call, std::int64_t stream, std::uint64_t record) {
  t.builder().add(SyncFact{t.slice(SliceKind::device_sync, row, name, start, 1, call), stream, record});
}

// The worker rests from the end of its first burst on, and the border of two steps cuts the rest: no part of it holds back the second burst.
TEST(LiftSmallCases, ARestThatStepsCutIsOneRest) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), worker = t.thread("2");
  t.annotation(main, "ProfilerStep#1", 0, 1'000'000);
  t.annotation(main, "ProfilerStep#2", 1'000'000, 1'000'000);
  SliceId first{}, second{}, forward{};
  for (const Nanoseconds at : {0, 1'000'000}) {
    forward = t.numbered(main, "aten::linear", at + 100'000, 100'000, at / 1'000'000, 0);
    second = t.numbered(worker, "autograd::engine::evaluate_function: LinearBackward0", at + 210'000, 300'000, at / 1'000'000, 1);
    if (at == 0) first = second;
    t.operation(main, "Optimizer.step#SGD.step", at + 520'000, 100'000);
  }
  t.finish();
  LiftedCase c(t);
  EXPECT_EQ(c.start(second), 1'210'000);
  c.duration(first) -= 200'000;
  EXPECT_EQ(c.start(second), 1'010'000);  // behind its forward, which came sooner because the first step was shorter
  c.duration(forward) += 50'000;
  EXPECT_EQ(c.start(second), 1'060'000);
}

// Stream 20 was told to wait for stream 7 and got nothing to run: who waits for 20 then waits for 7.
TEST(LiftSmallCases, WhoWaitsForAStreamWaitsForWhatThatOneWaitsFor) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), seven = t.stream(7), twenty = t.stream(20);
  t.call(thread, "cudaLaunchKernel", 0, 5'000, 1);
  const SliceId early = t.kernel(twenty, "early", 8'000, 2'000, 1);
  t.call(thread, "cudaLaunchKernel", 10'000, 5'000, 2);
  const SliceId late = t.kernel(seven, "late", 18'000, 500'000, 2);
  t.call(thread, "cudaEventRecord", 20'000, 1'000, 3);
  t.call(thread, "cudaStreamWaitEvent", 22'000, 1'000, 4);
  sync(t, twenty, "Stream Wait Event", 22'000, 4, 7, 3);
  const SliceId call = t.call(thread, "cudaStreamSynchronize", 30'000, 495'000, 5);
  sync(t, twenty, "Stream Sync", 30'000, 5, -1, no_number);
  t.finish();
  LiftedCase c(t);
  EXPECT_EQ(c.end(call), 525'000);
  c.duration(late) = 100'000;  // ends at 118,000; the thread goes on 7,000 later, as it did
  EXPECT_EQ(c.end(call), 125'000);
  c.duration(early) = 300'000;
  EXPECT_EQ(c.end(call), 315'000);
}

// A copy of pinned memory that happens to end before its call returns does not hold the call.
TEST(LiftSmallCases, AnAsynchronousCopyOfPinnedMemoryHoldsNoThread) {
  for (const bool pinned : {true, false}) {
    SmallTimeline t;
    const TrackId thread = t.thread("1"), stream = t.stream(7);
    const SliceId kernel = t.launched_kernel(thread, stream, "k", 0, 5'000, 20'000);
    const SliceId call = t.call(thread, "cudaMemcpyAsync", 19'000, 10'000, 2);
    t.slice(SliceKind::copy, stream, pinned ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Pageable)", 26'000, 2'000, 2);
    const SliceId next = t.call(thread, "cudaEventRecord", 40'000, 1'000, 3);
    t.finish();
    LiftedCase c(t);
    EXPECT_EQ(c.start(next), 40'000);
    c.duration(kernel) += 100'000;
    EXPECT_EQ(c.start(next), pinned ? 40'000 : 140'000) << t.timeline.name_of(call);
  }
}

// Launches were in flight when the stream fell free: what passed since then is no gap of the device's own. Only the last kernel was queued for long.
TEST(LiftSmallCases, ALaunchInFlightIsNoGapOfTheDevice) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  std::vector<SliceId> kernels;
  for (Nanoseconds at = 0; at < 500'000; at += 50'000) {
    kernels.push_back(t.launched_kernel(thread, stream, "a", at, at + 10'000, 12'000));           // ends at + 22,000
    kernels.push_back(t.launched_kernel(thread, stream, "b", at + 18'000, at + 28'000, 12'000));  // launched before, starts 6,000 later
  }
  t.launched_kernel(thread, stream, "long", 500'000, 510'000, 90'000);
  const SliceId queued = t.launched_kernel(thread, stream, "queued", 520'000, 601'000, 1'000);  // the device's own gap: 1,000
  t.finish();
  LiftedCase c(t);
  EXPECT_EQ(c.start(kernels[1]), 28'000);
  c.duration(kernels[0]) += 20'000;        // ends at 42,000
  EXPECT_EQ(c.start(kernels[1]), 43'000);  // and not 48,000
  EXPECT_EQ(c.start(queued), 601'000);
}

// Calls that found nothing to wait for tell what a call takes by itself: the rest of one that waited is the waking of its thread.
TEST(LiftSmallCases, ACallsOwnTimeIsNotTheWakingOfItsThread) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  t.launched_kernel(thread, stream, "k", 0, 10'000, 100'000);
  const SliceId waits = t.call(thread, "cudaDeviceSynchronize", 20'000, 98'000, 900);  // 8,000 after the kernel
  const SliceId idle = t.call(thread, "cudaDeviceSynchronize", 200'000, 2'000, 901);
  t.finish();
  LiftedCase c(t);
  EXPECT_EQ(c.lifted.graph.operations.duration[c.of(waits)], 2'000);
  EXPECT_EQ(c.lifted.graph.operations.duration[c.of(idle)], 2'000);
  EXPECT_EQ(c.start(waits), 116'000);
  EXPECT_EQ(c.end(waits), 118'000);
  EXPECT_EQ(c.end(idle), 202'000);
}

}  // namespace
}  // namespace stepscope
