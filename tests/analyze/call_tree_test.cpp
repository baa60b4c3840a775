#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question call_tree_question;

namespace {

std::int64_t at(const Table& table, std::size_t row, std::string_view column) {
  return whole_of(table.rows[row][column_of(table, column)]);
}

// Two steps of a model: step 1 calls aten::mm twice (kernels of 30 and 40 µs), step 2 once (50 µs). Backward runs on a thread of its own.
struct CallTree : testing::Test {
  HandBuilt run;
  CallTree() {
    const TrackId main = run.thread("10"), autograd = run.thread("11"), stream = run.stream(7);
    run.slice(SliceKind::annotation, main, "ProfilerStep#1", 0, 1000);
    run.slice(SliceKind::python_function, main, "train.py(3): step", 100, 800);
    run.operation(main, "aten::mm", 200, 100);
    run.call(main, "cudaLaunchKernel", 250, 10, 1);
    run.operation(main, "aten::mm", 400, 100);
    run.call(main, "cudaLaunchKernel", 450, 10, 2);
    run.slice(SliceKind::annotation, main, "ProfilerStep#2", 1000, 1000);
    run.slice(SliceKind::python_function, main, "train.py(3): step", 1100, 800);
    run.operation(main, "aten::mm", 1200, 100);
    run.call(main, "cudaLaunchKernel", 1250, 10, 3);
    run.operation(main, "aten::tiny", 1500, 1);
    run.operation(autograd, "MmBackward0", 600, 200);
    run.kernel(stream, "gemm", 300, 30, 1);
    run.kernel(stream, "gemm", 500, 40, 2);
    run.kernel(stream, "gemm", 1300, 50, 3);
    run.kernel(stream, "stray", 1900, 5);
    run.finish();
  }
};

TEST_F(CallTree, IterationsMergeByPath) {
  const auto sections = call_tree_question.answer(run.rank_scene());
  ASSERT_EQ(sections.size(), 1u);
  const Table& table = sections[0].tables.at(0);
  ASSERT_EQ(table.key, sections[0].key) << "the only table of a section without figures carries its key";
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(std::string(static_cast<std::size_t>(whole_of(row[3])), ' ') + text_of(row[0]));
  EXPECT_EQ(names, (std::vector<std::string>{"thread 10", " ProfilerStep", "  train.py(3): step", "   aten::mm", "    cudaLaunchKernel", "   (others)",
                                             "thread 11", " MmBackward0", "(unattributed)"}));
  EXPECT_EQ(at(table, 1, "calls"), 2);
  EXPECT_EQ(at(table, 1, "cpu_total_ns"), 2'000'000);
  EXPECT_EQ(at(table, 1, "cpu_own_ns"), 400'000);
  EXPECT_EQ(at(table, 2, "cpu_own_ns"), 1'600'000 - 301'000);
  EXPECT_EQ(at(table, 3, "calls"), 3);
  EXPECT_EQ(at(table, 3, "cpu_own_ns"), 270'000);
  EXPECT_EQ(at(table, 4, "device_own_ns"), 120'000) << "launched by the call itself";
  EXPECT_EQ(at(table, 3, "device_own_ns"), 0);
  EXPECT_EQ(at(table, 3, "device_total_ns"), 120'000);
  EXPECT_EQ(at(table, 4, "parent"), 3);
  EXPECT_EQ(at(table, 5, "cpu_total_ns"), 1'000) << "aten::tiny is below 0.1 % of 2.2 ms";
  EXPECT_EQ(at(table, 0, "cpu_total_ns"), 2'000'000);
  EXPECT_EQ(at(table, 8, "device_own_ns"), 5'000);
  EXPECT_EQ(sum_of(table, "cpu_own_ns"), 2'200'000);
  EXPECT_EQ(sum_of(table, "device_own_ns"), 125'000);
}

TEST_F(CallTree, AWindowCutsFramesAndCountsStarts) {
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {1'000'000, 1'250'000};  // the first 250 µs of step 2: the launch at 1250 is outside
  const Table table = call_tree_question.answer(scene).at(0).tables.at(0);
  EXPECT_EQ(at(table, 1, "calls"), 1);
  EXPECT_EQ(at(table, 1, "cpu_total_ns"), 250'000);
  EXPECT_EQ(at(table, 3, "cpu_total_ns"), 50'000);
  EXPECT_EQ(sum_of(table, "cpu_own_ns"), 250'000);
  EXPECT_EQ(sum_of(table, "device_own_ns"), 0);
}

TEST(CallTreeOfNothing, HasNoSection) {
  HandBuilt run;
  run.kernel(run.stream(7), "gemm", 0, 10);
  run.finish();
  EXPECT_TRUE(call_tree_question.answer(run.rank_scene()).empty());
}

}  // namespace
}  // namespace stepscope
