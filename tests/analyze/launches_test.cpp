#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question launches_question;

namespace {

// Three kernels launched with delays 10, 0 (started within the call) and 90 µs; a graph of two kernels that starts 15 µs after its call; a lost launch.
struct Launches : testing::Test {
  HandBuilt run;
  Launches() {
    const TrackId thread = run.thread("1"), stream = run.stream(7);
    run.call(thread, "cudaLaunchKernel", 0, 5, 1);
    run.kernel(stream, "a", 15, 10, 1);
    run.call(thread, "cudaLaunchKernel", 30, 6, 2);
    run.kernel(stream, "b", 34, 76, 2);
    run.call(thread, "cudaLaunchKernel", 50, 20, 3);
    run.kernel(stream, "c", 160, 10, 3);
    run.call(thread, "cudaGraphLaunch", 200, 40, 4);
    run.kernel(stream, "d", 260, 10, 4);
    run.kernel(stream, "e", 255, 3, 4);
    run.call(thread, "hipLaunchKernel", 300, 7, 5);
    run.finish();
  }
};

TEST_F(Launches, CostAndDelayPerApi) {
  const Section section = launches_question.answer(run.rank_scene()).at(0);
  const Table& table = *section.table("by_api");
  EXPECT_EQ(whole_of(cell(table, "cudaLaunchKernel", "calls")), 3);
  EXPECT_EQ(whole_of(cell(table, "cudaLaunchKernel", "call_total_ns")), 31'000);
  EXPECT_EQ(whole_of(cell(table, "cudaLaunchKernel", "call_median_ns")), 6'000);
  EXPECT_EQ(whole_of(cell(table, "cudaLaunchKernel", "delay_median_ns")), 10'000);
  EXPECT_EQ(whole_of(cell(table, "cudaLaunchKernel", "delay_max_ns")), 90'000);
  EXPECT_EQ(whole_of(cell(table, "cudaGraphLaunch", "launched")), 2);
  EXPECT_EQ(whole_of(cell(table, "cudaGraphLaunch", "delay_max_ns")), 15'000) << "to the first of its kernels";
  EXPECT_EQ(whole_of(cell(table, "hipLaunchKernel", "without_record")), 1);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell(table, "hipLaunchKernel", "delay_median_ns")));
  EXPECT_EQ(whole_of(section.figure("calls")->value), 5);
  EXPECT_EQ(whole_of(section.figure("launched")->value), 5);
  EXPECT_EQ(whole_of(section.figure("without_record")->value), 1);
}

TEST_F(Launches, HistogramHoldsEveryDelay) {
  const Section section = launches_question.answer(run.rank_scene()).at(0);
  const Table& table = *section.table("delay_histogram");
  EXPECT_EQ(sum_of(table, "launches"), 4);
  EXPECT_EQ(whole_of(table.rows.front()[0]), 0);
  EXPECT_EQ(whole_of(table.rows.front()[2]), 1);
  EXPECT_EQ(whole_of(table.rows.back()[0]), 50'000);
  EXPECT_EQ(whole_of(table.rows.back()[1]), 100'000);
  for (std::size_t i = 1; i < table.rows.size(); ++i) EXPECT_EQ(table.rows[i - 1][1], table.rows[i][0]);
}

TEST_F(Launches, AWindowCountsCallsThatStartInIt) {
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {30'000, 60'000};
  EXPECT_EQ(whole_of(launches_question.answer(scene).at(0).figure("calls")->value), 2);
  scene.window = {400'000, 500'000};
  EXPECT_TRUE(launches_question.answer(scene).empty());
}

}  // namespace
}  // namespace stepscope
