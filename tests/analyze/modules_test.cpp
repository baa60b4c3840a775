#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question modules_question;

namespace {

// Net_0 calls Linear_0 (a GEMM of 30 µs, autograd number 5) and Linear_1 (40 µs, number 7). On autograd's thread MmBackward0 of number 7 runs 90 µs of
// device work, and Linear_0 is called again by checkpointing (25 µs). An optimizer's kernel of 11 µs lies outside.
struct Modules : testing::Test {
  HandBuilt run;
  Modules() {
    const TrackId main = run.thread("10"), autograd = run.thread("11"), stream = run.stream(7);
    run.module(main, "nn.Module: Net_0", 0, 0, 200);
    run.module(main, "nn.Module: Linear_0", 0, 10, 60);
    const SliceId linear = run.operation(main, "aten::linear", 15, 50);
    run.call(main, "cudaLaunchKernel", 20, 5, 1);
    run.module(main, "nn.Module: Linear_1", 1, 100, 80);
    const SliceId foresaw = run.operation(main, "aten::detach", 102, 5), second = run.operation(main, "aten::mm", 110, 50);
    run.call(main, "cudaLaunchKernel", 120, 5, 2);
    run.call(main, "cudaLaunchKernel", 400, 5, 3);
    const SliceId backward = run.operation(autograd, "MmBackward0", 250, 50);
    run.operation(autograd, "aten::mm", 255, 30);
    run.call(autograd, "cudaLaunchKernel", 260, 5, 4);
    run.module(autograd, "nn.Module: Linear_0", 0, 320, 30);
    run.operation(autograd, "aten::linear", 325, 20);
    run.call(autograd, "cudaLaunchKernel", 330, 5, 5);
    run.kernel(stream, "gemm", 50, 30, 1);
    run.kernel(stream, "gemm", 130, 40, 2);
    run.kernel(stream, "adam", 410, 11, 3);
    run.kernel(stream, "gemm", 270, 90, 4);
    run.kernel(stream, "gemm", 370, 25, 5);
    run.builder().add(SequenceFact{linear, 5, 0});
    run.builder().add(SequenceFact{foresaw, 7, 0});
    run.builder().add(SequenceFact{second, 7, 0});
    run.builder().add(SequenceFact{backward, 7, 1});
    run.finish();
  }
  Table answer() const { return modules_question.answer(run.rank_scene()).at(0).tables.at(0); }
};

TEST_F(Modules, ForwardBackwardAndCheckpointing) {
  const Table table = answer();
  EXPECT_EQ(whole_of(cell(table, "Net_0", "device_total_ns")), 30'000 + 40'000 + 90'000 + 25'000);
  EXPECT_EQ(whole_of(cell(table, "Net_0", "device_own_ns")), 0);
  EXPECT_EQ(whole_of(cell(table, "Net_0", "cpu_own_ns")), 60'000) << "200 less 60 and 80";
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_0", "device_own_ns")), 55'000) << "forward and recomputed";
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_0", "calls")), 2);
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_0", "cpu_total_ns")), 90'000);
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_0", "device_backward_ns")), 0);
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_1", "device_own_ns")), 130'000);
  EXPECT_EQ(whole_of(cell(table, "Net_0/Linear_1", "device_backward_ns")), 90'000);
  EXPECT_EQ(whole_of(cell(table, "(outside modules)", "device_own_ns")), 11'000);
  EXPECT_EQ(sum_of(table, "device_own_ns"), 196'000);
  EXPECT_EQ(text_of(table.rows[0][0]), "Net_0");
}

// A second thread numbers an operator 7 too; the backward operator's forward thread is then the one that number 5, which only one thread carries, tells.
TEST(ModulesOfTwoThreads, TheForwardThreadIsLearnt) {
  for (const bool told : {true, false}) {
    HandBuilt run;
    const TrackId main = run.thread("10"), other = run.thread("11"), autograd = run.thread("12"), stream = run.stream(7);
    run.module(main, "nn.Module: A_0", 0, 0, 100);
    const SliceId first = run.operation(main, "aten::mm", 10, 20), second = run.operation(main, "aten::mm", 40, 20);
    run.module(other, "nn.Module: B_0", 0, 0, 100);
    const SliceId elsewhere = run.operation(other, "aten::mm", 50, 20);
    const SliceId ambiguous = run.operation(autograd, "MmBackward0", 200, 50), clear = run.operation(autograd, "MmBackward0", 300, 50);
    run.call(autograd, "cudaLaunchKernel", 210, 5, 1);
    run.kernel(stream, "gemm", 220, 30, 1);
    run.builder().add(SequenceFact{first, 5, 0});
    run.builder().add(SequenceFact{second, 7, 0});
    run.builder().add(SequenceFact{elsewhere, 7, 0});
    run.builder().add(SequenceFact{ambiguous, 7, 1});
    run.builder().add(SequenceFact{clear, 5, told ? 1u : 2u});
    run.finish();
    const Table table = modules_question.answer(run.rank_scene()).at(0).tables.at(0);
    EXPECT_EQ(whole_of(cell(table, "A_0", "device_backward_ns")), told ? 30'000 : 0);
    EXPECT_EQ(sum_of(table, "device_own_ns"), 30'000);
  }
}

TEST(ModulesOfHierarchies, OperatorsThatCarryTheirModule) {
  HandBuilt run;
  const TrackId thread = run.thread("10"), stream = run.stream(7);
  run.operation(thread, "aten::conv2d", 0, 100, R"x("Module Hierarchy": "TOP(Net).conv(Conv2d)")x");
  run.operation(thread, "aten::convolution", 10, 80, R"x("Module Hierarchy": "TOP(Net).conv(Conv2d)")x");
  run.call(thread, "cudaLaunchKernel", 20, 5, 1);
  run.kernel(stream, "conv", 40, 70, 1);
  run.operation(thread, "aten::add", 120, 10, R"("Input Dims": [])");
  run.finish();
  const Table table = modules_question.answer(run.rank_scene()).at(0).tables.at(0);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(whole_of(cell(table, "TOP(Net).conv(Conv2d)", "calls")), 1);
  EXPECT_EQ(whole_of(cell(table, "TOP(Net).conv(Conv2d)", "cpu_total_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(table, "TOP(Net).conv(Conv2d)", "device_own_ns")), 70'000);
}

TEST(ModulesOfNothing, HaveNoSection) {
  HandBuilt run;
  run.operation(run.thread("10"), "aten::add", 0, 10);
  run.finish();
  EXPECT_TRUE(modules_question.answer(run.rank_scene()).empty());
}

}  // namespace
}  // namespace stepscope
