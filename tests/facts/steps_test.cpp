#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "facts/small_timeline.h"

namespace stepscope {
namespace {

std::vector<std::int64_t> numbers(const std::vector<Step>& steps) {
  std::vector<std::int64_t> found;
  for (const Step& step : steps) found.push_back(step.number);
  return found;
}

TEST(Steps, FromProfilerAnnotations) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  t.operation(main, "aten::zeros", 0, 10);
  t.annotation(main, "ProfilerStep#10", 300, 150);
  t.annotation(main, "ProfilerStep#9", 100, 190);
  t.annotation(main, "ProfilerStep#x", 500, 10);
  t.slice(SliceKind::device_annotation, t.stream(7), "ProfilerStep#11", 400, 10);
  t.finish();
  const RankSteps& found = t.facts.steps.at(0);
  EXPECT_EQ(found.source, StepSource::profiler_step);
  ASSERT_EQ(numbers(found.steps), (std::vector<std::int64_t>{9, 10}));
  EXPECT_EQ(found.steps[0].annotation, (Interval{100, 290}));
  EXPECT_EQ(found.steps[0].step_time, 200);  // to the next one's start
  EXPECT_EQ(found.steps[1].step_time, 150);  // the last: its own length
  EXPECT_TRUE(found.steps[0].outlier && found.steps[1].outlier);
}

TEST(Steps, OfARepeatedNumberTheLastOneCounts) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), other = t.thread("2");
  t.annotation(main, "ProfilerStep#1", 0, 100);
  t.annotation(other, "ProfilerStep#1", 5, 90);  // the same step, marked by a second thread
  t.annotation(main, "ProfilerStep#2", 100, 100);
  t.annotation(main, "ProfilerStep#2", 300, 100);
  t.finish();
  const RankSteps& found = t.facts.steps.at(0);
  EXPECT_EQ(numbers(found.steps), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(found.steps[1].annotation, (Interval{300, 400}));
  EXPECT_EQ(found.repeated, 1u);
}

TEST(Steps, OutliersAreFirstLastAndFar) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  Nanoseconds at = 0;
  const std::vector<Nanoseconds> times{500, 101, 100, 99, 400, 100, 102, 90};
  for (std::size_t i = 0; i < times.size(); ++i) {
    t.annotation(main, "ProfilerStep#" + std::to_string(i), at, times[i]);
    at += times[i];
  }
  t.finish();
  std::vector<bool> outliers;
  for (const Step& step : t.facts.steps.at(0).steps) outliers.push_back(step.outlier);
  EXPECT_EQ(outliers, (std::vector<bool>{true, false, false, false, true, false, false, true}));
}

TEST(Steps, FromUserRangesThatRepeat) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  t.annotation(main, "training", 0, 1'000);
  for (Nanoseconds i = 0; i < 5; ++i) {
    t.annotation(main, "iteration " + std::to_string(20 + i), 100 + i * 100, 95);
    t.annotation(main, "forward", 100 + i * 100, 40);
    t.annotation(main, "Optimizer.step#SGD.step", 180 + i * 100, 10);
  }
  t.finish();
  const RankSteps& found = t.facts.steps.at(0);
  EXPECT_EQ(found.source, StepSource::user_range);
  EXPECT_EQ(numbers(found.steps), (std::vector<std::int64_t>{20, 21, 22, 23, 24}));
  EXPECT_NE(found.found_by.find("iteration #"), std::string::npos);
}

TEST(Steps, NoneWhereRangesFillLittleOrOverlap) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  for (Nanoseconds i = 0; i < 5; ++i) t.annotation(main, "save", i * 1'000, 50);
  for (Nanoseconds i = 0; i < 5; ++i) t.annotation(main, "nested", 10'000 + i * 10, 1'000 - i * 20);
  t.finish();
  EXPECT_EQ(t.facts.steps.at(0).source, StepSource::none);
  EXPECT_TRUE(t.facts.steps.at(0).steps.empty());
}

// Six steps of embedding, three layers forward and backward, an optimizer; the first one without zeroing gradients.
TEST(Steps, FromThePeriodOfTheLaunches) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  Nanoseconds at = 0;
  std::vector<Nanoseconds> begins;
  const auto launch = [&](const char* name) {
    t.launched_kernel(main, stream, name, at + 10, at + 50, 20);
    at += 100;
  };
  for (int step = 0; step < 6; ++step) {
    at += 1'000;
    begins.push_back(at + 10);
    t.numbered(main, "aten::embedding", at, 800, step * 10, 0);
    launch("embedding");
    for (int layer = 0; layer < 3; ++layer) {
      launch("gemm");
      launch("gelu");
    }
    at += 500;
    t.numbered(main, "EmbeddingBackward0", at, 800, step * 10, 1);
    for (int layer = 0; layer < 3; ++layer) {
      launch("gemm_bwd");
      launch("gelu_bwd");
    }
    launch("embedding_bwd");
    at += 500;
    t.annotation(main, "Optimizer.step#AdamW.step", at, 400);
    if (step != 0) launch("zero");
    launch("adam");
  }
  t.operation(main, "first", 0, 1);
  t.finish();
  const RankSteps& found = t.facts.steps.at(0);
  EXPECT_EQ(found.source, StepSource::launch_period);
  ASSERT_EQ(found.steps.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(found.steps[i].annotation.begin, begins[i]);
}

TEST(Steps, LayersAreNoSteps) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.operation(main, "first", 0, 1);
  for (Nanoseconds layer = 0; layer < 40; ++layer)
    for (Nanoseconds kernel = 0; kernel < 6; ++kernel) {
      static constexpr const char* names[] = {"norm", "qkv", "attention", "projection", "mlp_up", "mlp_down"};
      t.launched_kernel(main, stream, names[kernel], 10 + layer * 600 + kernel * 100, 60 + layer * 600 + kernel * 100, 20);
    }
  t.finish();
  EXPECT_EQ(t.facts.steps.at(0).source, StepSource::none);
}

TEST(StepWindows, FromFirstComputeToTheNextStepsFirst) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7), copies = t.stream(20);
  t.annotation(main, "ProfilerStep#1", 0, 1'000);
  t.annotation(main, "ProfilerStep#2", 1'000, 1'000);
  t.annotation(main, "ProfilerStep#3", 2'000, 1'000);
  t.annotation(main, "ProfilerStep#4", 3'000, 1'000);
  t.launched_kernel(main, stream, "a", 100, 500, 100);
  t.call(main, "cudaMemcpyAsync", 1'010, 5, 1);
  t.slice(SliceKind::copy, copies, "Memcpy HtoD (Pinned -> Device)", 1'020, 10, 1);  // runs ahead: draws no boundary
  t.launched_kernel(main, stream, "b", 1'100, 2'500, 100);                           // the CPU runs ahead
  t.kernel(stream, "unlinked", 1'500, 10);
  t.launched_kernel(main, stream, "c", 3'100, 3'200, 100);
  t.launched_kernel(main, stream, "d", 3'200, 3'300, 250);
  t.finish();
  ASSERT_EQ(t.facts.devices.size(), 1u);
  const std::vector<StepWindow>& windows = t.facts.devices[0].windows;
  ASSERT_EQ(windows.size(), 3u);  // step 3 launched nothing
  EXPECT_EQ(windows[0].number, 1);
  EXPECT_EQ(windows[0].window, (Interval{500, 2'500}));
  EXPECT_EQ(windows[1].number, 2);
  EXPECT_EQ(windows[1].window, (Interval{2'500, 3'200}));
  EXPECT_EQ(windows[2].number, 4);
  EXPECT_EQ(windows[2].window, (Interval{3'200, 3'550}));
}

TEST(StepWindows, FollowOneAnotherWithoutGaps) {
  EXPECT_TRUE(rc::check("on one stream, windows tile the time from the first one's begin to the last one's end", [] {
    SmallTimeline t;
    const TrackId main = t.thread("1"), stream = t.stream(7);
    const int steps = *rc::gen::inRange(1, 8);
    for (Nanoseconds i = 0; i < steps; ++i) t.annotation(main, "ProfilerStep#" + std::to_string(i), i * 100, 100);
    const auto kernels = *rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 30)));
    Nanoseconds launched = 0, device = 0;
    for (const auto& [pause, duration] : kernels) {
      launched += pause;
      device = std::max(device, launched + 5);
      t.launched_kernel(main, stream, "k", launched, device, duration);
      device += duration;
    }
    t.finish();
    if (t.facts.devices.empty()) return;
    const auto& windows = t.facts.devices[0].windows;
    for (std::size_t i = 1; i < windows.size(); ++i) RC_ASSERT(windows[i - 1].window.end == windows[i].window.begin);
  }));
}

TEST(Devices, SlicesByStartThenLaunchedLast) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), a = t.stream(7), b = t.stream(8);
  t.operation(main, "first", 0, 1);
  const SliceId unlinked = t.kernel(a, "u", 100, 10);
  const SliceId early = t.launched_kernel(main, a, "early", 10, 100, 10), late = t.launched_kernel(main, b, "late", 20, 100, 10);
  const SliceId first = t.launched_kernel(main, b, "first", 30, 50, 10);
  const SliceId other_device = t.launched_kernel(main, t.stream(7, "10"), "x", 40, 60, 10),
                second_device = t.launched_kernel(main, t.stream(7, "9"), "x", 41, 61, 10);
  t.finish();
  ASSERT_EQ(t.facts.devices.size(), 3u);
  EXPECT_EQ(std::vector(t.facts.devices[0].slices.begin(), t.facts.devices[0].slices.end()), (std::vector{first, late, early, unlinked}));
  EXPECT_EQ(t.facts.devices[1].slices.size() + t.facts.devices[2].slices.size(), 2u);
  EXPECT_EQ(t.facts.devices[1].slices[0] == other_device || t.facts.devices[1].slices[0] == second_device, true);
}

// faults/30: the first collective spins for 15.7 s while other ranks start their profiler.
TEST(Transients, TheFirstCollectiveMaySpin) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(20);
  constexpr Nanoseconds us = 1'000;
  t.operation(main, "record_param_comms", 0, 5 * us);
  const SliceId spin = t.launched_kernel(main, stream, "ncclDevKernel_AllReduce", 1 * us, 10 * us, 15'747'000 * us);
  for (Nanoseconds i = 0; i < 5; ++i)
    t.launched_kernel(main, stream, "ncclDevKernel_AllReduce", (15'748'000 + i * 1'000) * us, (15'748'010 + i * 1'000) * us, 120 * us);
  t.finish();
  EXPECT_EQ(std::vector(t.facts.start_transients.begin(), t.facts.start_transients.end()), std::vector{spin});
}

TEST(Transients, ASlowLaterCollectiveIsNone) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(20);
  t.operation(main, "first", 0, 1);
  for (Nanoseconds i = 0; i < 5; ++i)
    t.launched_kernel(main, stream, "ncclDevKernel_AllReduce", 10 + i * 1'000'000'000, 20 + i * 1'000'000'000, i == 3 ? 900'000'000 : 1'000);
  t.finish();
  EXPECT_TRUE(t.facts.start_transients.empty());
}

}  // namespace
}  // namespace stepscope
