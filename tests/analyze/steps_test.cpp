#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "analyze/random_device.h"
#include "analyze/time_of_device.h"

namespace stepscope {
namespace {

// Five steps of 1000 ns: each launches a gemm of 400 ns at its begin; step 3 idles 300 ns longer and its gemm takes 100 ns more.
SmallTimeline& five_steps(SmallTimeline& t) {
  const TrackId main = t.thread("1"), stream = t.stream(7);
  Nanoseconds at = 0;
  for (int step = 0; step < 5; ++step) {
    const Nanoseconds length = step == 3 ? 1'400 : 1'000, gemm = step == 3 ? 500 : 400;
    t.annotation(main, "ProfilerStep#" + std::to_string(step), at, length);
    t.launched_kernel(main, stream, "gemm", at + 10, at + 20, gemm);
    t.launched_kernel(main, stream, "softmax", at + length - 400, at + length - 390, 100);
    at += length;
  }
  t.finish();
  return t;
}

TEST(StepsQuestion, FiguresPerStep) {
  SmallTimeline t;
  five_steps(t);
  const auto section = ask(t, "steps");
  ASSERT_TRUE(section);
  EXPECT_EQ(section->key, "steps");
  EXPECT_TRUE(section->figures.empty());
  ASSERT_EQ(section->tables.size(), 1u);
  const Table& table = section->tables[0];
  EXPECT_EQ(table.key, "steps");
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(whole_cell(table, 1, "step"), 1);
  EXPECT_EQ(whole_cell(table, 1, "step_time_ns"), 1'000);
  EXPECT_EQ(whole_cell(table, 1, "span_ns"), 1'000);
  EXPECT_EQ(whole_cell(table, 1, "compute_ns"), 500);
  EXPECT_EQ(whole_cell(table, 1, "slices"), 2);
  EXPECT_EQ(whole_cell(table, 3, "span_ns"), 1'400);
  EXPECT_EQ(whole_cell(table, 4, "span_ns"), 690);  // to the end of its last compute slice
}

TEST(StepsQuestion, InferredStepsHaveANameOfTheirOwn) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  for (Nanoseconds i = 0; i < 4; ++i) {
    t.annotation(main, "my step", i * 100, 95);
    t.launched_kernel(main, stream, "gemm", i * 100 + 5, i * 100 + 10, 50);
  }
  t.finish();
  EXPECT_EQ(ask(t, "steps")->key, "inferred_steps");
  const auto times = ask(t, "step_times");
  EXPECT_EQ(whole_figure(times, "step_count"), 4);
  EXPECT_EQ(whole_figure(times, "steady_steps"), 2);
  EXPECT_EQ(whole_figure(times, "median_ns"), 100);
}

TEST(StepTimes, LeaveOutliersOutOfTheFigures) {
  SmallTimeline t;
  five_steps(t);
  const auto section = ask(t, "step_times");
  EXPECT_EQ(whole_figure(section, "step_count"), 5);
  EXPECT_EQ(whole_figure(section, "steady_steps"), 2);  // first and last, and step 3 is far from the median
  EXPECT_EQ(whole_figure(section, "median_ns"), 1'000);
  EXPECT_EQ(whole_figure(section, "max_ns"), 1'000);
  const Table* table = section->table("steps");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(text_cell(*table, 0, "outlier"), "first");
  EXPECT_EQ(text_cell(*table, 3, "outlier"), "far from the median");
  EXPECT_EQ(text_cell(*table, 4, "outlier"), "last");
}

TEST(SlowSteps, WhatGrew) {
  SmallTimeline t;
  five_steps(t);
  const auto section = ask(t, "slow_steps");
  ASSERT_TRUE(section);
  EXPECT_EQ(whole_figure(section, "reference_span_ns"), 1'000);
  const Table* slow = section->table("steps");
  ASSERT_NE(slow, nullptr);
  ASSERT_EQ(slow->rows.size(), 1u);
  EXPECT_EQ(whole_cell(*slow, 0, "step"), 3);
  EXPECT_EQ(whole_cell(*slow, 0, "difference_ns"), 400);
  EXPECT_EQ(text_cell(*slow, 0, "mostly"), "Waiting for the host");
  const Table* parts = section->table("parts");
  std::map<std::string, std::int64_t> grown;
  for (std::size_t row = 0; row < parts->rows.size(); ++row) grown[text_cell(*parts, row, "part")] = whole_cell(*parts, row, "difference_ns");
  EXPECT_EQ(grown["gemm"], 100);
  EXPECT_EQ(grown["Waiting for the host"], 300);
  EXPECT_EQ(grown["softmax"], 0);
}

// A small kernel on a side stream runs ahead of the main one: the window of step 2 begins early, though no step took longer than another.
TEST(SlowSteps, ALongWindowOfAStepThatWasNotLongIsSaid) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7), side = t.stream(9);
  for (Nanoseconds step = 0; step < 5; ++step) {
    const Nanoseconds begin = 1'000 * step;
    t.annotation(main, "ProfilerStep#" + std::to_string(step), begin, 1'000);
    if (step == 2) t.launched_kernel(main, side, "permute", begin + 5, begin + 100, 10);
    t.launched_kernel(main, stream, "gemm", begin + 10, begin + 500, 300);
  }
  t.finish();
  const auto section = ask(t, "slow_steps");
  ASSERT_TRUE(section);
  EXPECT_EQ(section->summary, "Step 2 took 400 ns longer on the device than the median step 3");
  ASSERT_EQ(section->caveats.size(), 1u);
  EXPECT_TRUE(section->caveats[0].starts_with("On the host step 2 took no longer.")) << section->caveats[0];
  SmallTimeline slow;
  five_steps(slow);
  EXPECT_TRUE(ask(slow, "slow_steps")->caveats.empty());
}

TEST(SlowSteps, PartsSumToTheDifference) {
  EXPECT_TRUE(rc::check("of every slow step of any device", [] {
    const auto t = random_device();
    if (t->facts.devices.empty()) return;
    const auto section = ask(*t, "slow_steps");
    if (!section) return;
    const Table *slow = section->table("steps"), *parts = section->table("parts");
    RC_ASSERT(slow != nullptr && parts != nullptr);
    std::map<std::int64_t, std::int64_t> sums;
    for (std::size_t row = 0; row < parts->rows.size(); ++row) {
      sums[whole_cell(*parts, row, "step")] += whole_cell(*parts, row, "difference_ns");
      RC_ASSERT(whole_cell(*parts, row, "here_ns") - whole_cell(*parts, row, "reference_ns") == whole_cell(*parts, row, "difference_ns"));
    }
    for (std::size_t row = 0; row < slow->rows.size(); ++row) {
      RC_ASSERT(sums[whole_cell(*slow, row, "step")] == whole_cell(*slow, row, "difference_ns"));
      RC_ASSERT(whole_cell(*slow, row, "span_ns") - whole_figure(section, "reference_span_ns") == whole_cell(*slow, row, "difference_ns"));
    }
  }));
}

}  // namespace
}  // namespace stepscope
