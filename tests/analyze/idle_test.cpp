#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "analyze/breakdown.h"
#include "analyze/host_activity.h"
#include "analyze/idle_parts.h"
#include "analyze/random_device.h"
#include "analyze/time_of_device.h"

namespace stepscope {
namespace {

std::vector<IdlePart> parts_of(const SmallTimeline& t) {
  return IdleParts(t.timeline, t.facts, t.facts.devices.at(0)).of(t.facts.devices.at(0).slices);
}

TEST(Idle, HostThenLaunch) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, stream, "a", 10, 20, 80);    // ends at 100
  t.launched_kernel(main, stream, "b", 160, 175, 25);  // called 60 after, started 15 later
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "host_ns"), 60);
  EXPECT_EQ(whole_figure(section, "launch_ns"), 15);
  for (const char* key : {"scheduling_ns", "dependency_ns", "graph_ns", "unknown_ns", "unlinked_ns"}) EXPECT_EQ(whole_figure(section, key), 0) << key;
}

TEST(Idle, QueuedGapsByTheirLengthAndEvidence) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), a = t.stream(7), b = t.stream(8);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, a, "a", 10, 20, 1'000);      // ends 1 020
  t.launched_kernel(main, a, "b", 12, 3'020, 1'000);   // 2 000 between queued ones: scheduling; ends 4 020
  t.launched_kernel(main, a, "c", 14, 34'020, 1'000);  // 30 000: unknown; ends 35 020
  t.call(main, "cudaStreamWaitEvent", 15, 1);
  t.launched_kernel(main, b, "d", 17, 40'020, 1'000);  // 5 000, another stream that was told to wait: dependency; ends 41 020
  t.launched_kernel(main, a, "e", 19, 47'020, 1'000);  // 6 000, another stream, but nothing was told to wait: scheduling
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "scheduling_ns"), 2'000 + 6'000);
  EXPECT_EQ(whole_figure(section, "unknown_ns"), 30'000);
  EXPECT_EQ(whole_figure(section, "dependency_ns"), 5'000);
  EXPECT_EQ(whole_figure(section, "host_ns") + whole_figure(section, "launch_ns"), 0);
  EXPECT_FALSE(section->caveats.empty());
}

TEST(Idle, ARecordedWaitIsEvidenceForAnyLength) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), a = t.stream(7), b = t.stream(8);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, a, "a", 10, 20, 1'000);
  const SliceId wait = t.slice(SliceKind::device_sync, b, "Stream Wait Event", 15, 2);
  t.builder().add(SyncFact{wait, 7, 5});
  t.launched_kernel(main, b, "b", 17, 101'020, 1'000);
  t.finish();
  EXPECT_EQ(whole_figure(ask(t, "idle_by_cause"), "dependency_ns"), 100'000);
}

// faults/24: one cudaGraphLaunch, five kernels on two streams.
TEST(Idle, InsideAGraph) {
  SmallTimeline t;
  t.operation(t.thread("1"), "graph_step", 0, 10'000);
  t.call(t.thread("1"), "cudaGraphLaunch", 1'000, 5'000, 77);
  for (Nanoseconds i = 0; i < 5; ++i) t.kernel(t.stream(7 + i % 2), "graph_kernel", 20'000 + i * 30'000, 25'000, 77);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "graph_ns"), 20'000);
  EXPECT_EQ(whole_figure(ask(t, "all"), "compute_ns"), 125'000);
}

TEST(Idle, UnlinkedAndClocksThatDisagree) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, 1);
  t.kernel(stream, "early", 100, 100);
  t.kernel(stream, "unlinked", 250, 100);                   // 50 before it
  t.launched_kernel(main, stream, "skewed", 500, 450, 50);  // seems to be launched 50 after it started: all 100 waiting for the host
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "unlinked_ns"), 50);
  EXPECT_EQ(whole_figure(section, "host_ns"), 100);
  EXPECT_EQ(whole_figure(section, "launch_ns"), 0);
}

TEST(Idle, OfTogetherStartingSlicesTheOneLaunchedLastEndsTheGap) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), a = t.stream(7), b = t.stream(8);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, a, "a", 5, 10, 90);
  t.launched_kernel(main, a, "queued", 6, 200, 10);
  t.launched_kernel(main, b, "late", 150, 200, 10);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "host_ns"), 50);
  EXPECT_EQ(whole_figure(section, "launch_ns"), 50);
}

TEST(Idle, UnknownWhereRecordsWereLost) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, stream, "a", 10, 20, 80);        // ends at 100
  t.call(main, "cudaLaunchKernel", 300, 1, 9'999);         // its kernel's record is missing
  t.launched_kernel(main, stream, "b", 1'000, 1'010, 90);  // from 300 to 1 010 the device may have worked
  t.launched_kernel(main, stream, "c", 1'200, 1'210, 90);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "unknown_ns"), 710);
  EXPECT_EQ(whole_figure(section, "host_ns"), 200 + 100);
  EXPECT_EQ(whole_figure(section, "launch_ns"), 10);
}

TEST(Idle, WhatTheHostDid) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, stream, "a", 10, 20, 80);        // idle from 100
  t.annotation(main, "enumerate(DataLoader)#x", 50, 150);  // to 200: 100 of loading
  t.operation(main, "aten::stack", 120, 30);               // within it
  t.call(main, "cudaStreamSynchronize", 220, 100);         // 20 nothing, then 100 waiting
  t.slice(SliceKind::driver_call, main, "cuStreamQuery", 230, 10);
  t.operation(main, "aten::mm", 320, 80);  // 50 of the framework until the launch
  t.launched_kernel(main, stream, "b", 370, 380, 10);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "host_ns"), 270);
  EXPECT_EQ(whole_figure(section, "host_data_loading_ns"), 100);
  EXPECT_EQ(whole_figure(section, "host_synchronisation_ns"), 100);
  EXPECT_EQ(whole_figure(section, "host_framework_ns"), 50);
  EXPECT_EQ(whole_figure(section, "host_other_ns"), 20);
}

TEST(Idle, PerStream) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), a = t.stream(7), b = t.stream(8);
  t.operation(main, "first", 0, 1);
  t.launched_kernel(main, a, "a", 10, 20, 80);
  t.launched_kernel(main, b, "b", 11, 100, 100);
  t.launched_kernel(main, a, "c", 150, 200, 10);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "host_ns"), 0);  // the device was never idle
  const Table* streams = section->table("by_stream");
  ASSERT_NE(streams, nullptr);
  ASSERT_EQ(streams->rows.size(), 2u);
  EXPECT_EQ(whole_cell(*streams, 0, "stream"), 7);
  EXPECT_EQ(whole_cell(*streams, 0, "idle_ns"), 100);
  EXPECT_EQ(whole_cell(*streams, 0, "host_ns"), 50);
  EXPECT_EQ(whole_cell(*streams, 0, "launch_ns"), 50);
  EXPECT_EQ(whole_cell(*streams, 1, "idle_ns"), 0);
}

TEST(Idle, IsAPartition) {
  EXPECT_TRUE(rc::check("parts are disjoint, in order and sum to span − busy in every window; what the host did sums to its part", [] {
    const auto t = random_device();
    if (t->facts.devices.empty()) return;
    const DeviceFacts& device = t->facts.devices[0];
    const std::vector<IdlePart> parts = parts_of(*t);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      RC_ASSERT(parts[i].interval.begin < parts[i].interval.end);
      if (i > 0) RC_ASSERT(parts[i - 1].interval.end <= parts[i].interval.begin);
    }
    const Scene scene{.timeline = t->timeline, .facts = t->facts, .rank = RankId{0}, .device = &device, .window = {}};
    std::vector<Interval> windows{device_window(scene)};
    for (const StepWindow& step : device.windows) windows.push_back(step.window);
    std::ranges::sort(windows, {}, &Interval::begin);
    const auto results = breakdowns(t->timeline, t->facts, device.slices, windows);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const IdleSums sums = sum_idle(parts, windows[i]);
      RC_ASSERT(sums.total() == results[i].idle);
      const auto host = host_activities(t->timeline, t->facts, parts, windows[i]);
      RC_ASSERT(std::accumulate(host.begin(), host.end(), Nanoseconds{0}) == sums[IdleCause::host]);
    }
  }));
}

// Jumping between waits must say what replaying every slice says.
TEST(Idle, JumpsOverManySlices) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "outermost", 0, 1'000'000'000);
  t.launched_kernel(main, stream, "a", 10, 20, 500'000'000);
  for (Nanoseconds i = 0; i < 5'000; ++i) t.operation(main, "aten::add", 100'000 + i * 50'000, 40'000);
  t.annotation(main, "enumerate(DataLoader)#x", 400'000'000, 150'000'000);
  for (Nanoseconds i = 0; i < 1'000; ++i) t.operation(main, "aten::stack", 400'100'000 + i * 100'000, 40'000);
  t.launched_kernel(main, stream, "b", 600'000'000, 600'000'010, 10);
  t.finish();
  const auto section = ask(t, "idle_by_cause");
  EXPECT_EQ(whole_figure(section, "host_data_loading_ns"), 550'000'000 - 500'000'020);
  EXPECT_EQ(whole_figure(section, "host_framework_ns"), 50'000'000);
  EXPECT_EQ(whole_figure(section, "host_other_ns"), 0);
}

}  // namespace
}  // namespace stepscope
