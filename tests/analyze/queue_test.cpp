#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question queue_question;

namespace {

// Launches begin at 0, 10 and 20 µs; their kernels start at 20, 60 and 100 µs. Length: 1 from 0, 2 from 10, 2 from 20 (one arrives, one starts), 1 from 60,
// 0 at 100: (10·1 + 50·2 + 40·1) / 100 = 1.5.
struct Queue : testing::Test {
  HandBuilt run;
  Queue() {
    const TrackId thread = run.thread("1"), stream = run.stream(7);
    for (std::uint64_t i = 0; i < 3; ++i) run.call(thread, "cudaLaunchKernel", 10.0 * static_cast<double>(i), 5, i + 1);
    run.kernel(stream, "a", 20, 40, 1);
    run.kernel(stream, "b", 60, 40, 2);
    run.kernel(stream, "c", 100, 40, 3);
    run.kernel(stream, "stray", 140, 5);
    run.finish();
  }
};

TEST_F(Queue, MeanIsWeightedByTime) {
  const Section section = queue_question.answer(run.device_scene()).at(0);
  const Table& table = *section.table("streams");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(whole_of(table.rows[0][0]), 7);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "launches")]), 3);
  EXPECT_DOUBLE_EQ(real_of(table.rows[0][column_of(table, "mean_length")]), 1.5);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "max_length")]), 2);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "empty_ns")]), 0);
  EXPECT_EQ(whole_of(section.figure("full_ns")->value), 0);
}

TEST_F(Queue, OverAWindow) {
  Scene scene = run.device_scene();
  scene.whole_capture = false;
  scene.window = {15'000, 140'000};  // 45 µs of 2, 40 µs of 1, 40 µs of 0
  const Section section = queue_question.answer(scene).at(0);
  const Table& table = *section.table("streams");
  EXPECT_DOUBLE_EQ(real_of(table.rows[0][column_of(table, "mean_length")]), 130.0 / 125.0);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "empty_ns")]), 40'000);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "launches")]), 1);
}

TEST(QueueOfGraphs, AGraphLaunchCountsOncePerStream) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(7);
  run.call(thread, "cudaGraphLaunch", 0, 5, 1);
  for (int i = 0; i < 5; ++i) run.kernel(stream, "node", 10 + 20.0 * i, 10, 1);
  run.finish();
  const Table table = *queue_question.answer(run.device_scene()).at(0).table("streams");
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "launches")]), 1);
  EXPECT_EQ(whole_of(table.rows[0][column_of(table, "max_length")]), 1);
  EXPECT_DOUBLE_EQ(real_of(table.rows[0][column_of(table, "mean_length")]), 1.0);
}

TEST(QueueThatIsFull, TimeAtTheLimitIsCounted) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(7);
  // 1100 launches, 1 µs apart; kernels start from 2000 µs on, 1 µs apart: 1024 wait from 1023 µs until all have arrived and 77 have started, at 2076 µs.
  for (std::uint64_t i = 0; i < 1100; ++i) {
    run.call(thread, "cudaLaunchKernel", static_cast<double>(i), 0.5, i);
    run.kernel(stream, "k", 2000.0 + static_cast<double>(i), 1, i);
  }
  run.finish();
  const Section section = queue_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(whole_of(section.figure("full_ns")->value), 1'053'000);
  ASSERT_EQ(section.caveats.size(), 1u);
  EXPECT_EQ(section.caveats[0], "Up to 1100 launches waited: the limit of 1024 at which CUDA's launch calls block does not hold for this device.");
}

TEST(QueueThatIsFull, BlocksAtTheLimit) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(7);
  for (std::uint64_t i = 0; i < 1024; ++i) {
    run.call(thread, "cudaLaunchKernel", static_cast<double>(i), 0.5, i);
    run.kernel(stream, "k", 2000.0 + static_cast<double>(i), 1, i);
  }
  run.finish();
  const Section section = queue_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(whole_of(section.figure("full_ns")->value), 977'000) << "from 1023 to 2000 µs";
  ASSERT_EQ(section.caveats.size(), 1u);
  EXPECT_TRUE(section.caveats[0].starts_with("For 977 µs, 1024 launches waited: the queue was full"));
}

TEST(QueueOfNothing, HasNoSection) {
  HandBuilt run;
  run.kernel(run.stream(7), "stray", 0, 5);
  run.finish();
  EXPECT_TRUE(queue_question.answer(run.device_scene()).empty());
}

// Little's law: mean length · time = sum of the waits, whatever the order; and a slice that starts before its launch call waits 0.
RC_GTEST_PROP(QueueLaw, AreaIsTheSumOfWaits, ()) {
  const auto pairs =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(rc::gen::inRange(0, 1000), rc::gen::inRange(-20, 300))));
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(7);
  run.operation(thread, "origin", 0, 1);
  std::uint64_t correlation = 1;
  double waits = 0;
  int first = 10'000, last = 0;
  for (const auto& [launch, wait] : pairs) {
    run.call(thread, "cudaLaunchKernel", launch, 0.1, correlation);
    run.kernel(stream, "k", std::max(0, launch + wait), 0.1, correlation);
    ++correlation;
    const int start = std::max(launch, launch + wait);
    waits += start - launch;
    first = std::min(first, launch);
    last = std::max(last, start);
  }
  run.finish();
  const Table table = *queue_question.answer(run.device_scene()).at(0).table("streams");
  if (first == last) {
    RC_ASSERT(std::holds_alternative<std::monostate>(table.rows[0][column_of(table, "mean_length")]));
  } else {
    const double mean = real_of(table.rows[0][column_of(table, "mean_length")]);
    RC_ASSERT(std::abs(mean * (last - first) - waits) < 1e-6 * (1 + waits));
  }
}

}  // namespace
}  // namespace stepscope
