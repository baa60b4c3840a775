#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question operators_question;

namespace {

// aten::linear holds aten::t and aten::addmm, which launches a GEMM of 100 µs; aten::sum holds another aten::sum: 20 µs launched inside, 10 µs outside of it.
// A kernel of 7 µs has no launch record.
struct Operators : testing::Test {
  HandBuilt run;
  SliceId addmm, inner_sum, outer_sum, gemm, late_reduce;

  Operators() {
    const TrackId thread = run.thread("1"), stream = run.stream(7);
    run.operation(thread, "aten::linear", 0, 100);
    run.operation(thread, "aten::t", 5, 10);
    addmm = run.operation(thread, "aten::addmm", 20, 60);
    run.call(thread, "cudaLaunchKernel", 30, 10, 1);
    outer_sum = run.operation(thread, "aten::sum", 110, 60);
    inner_sum = run.operation(thread, "aten::sum", 120, 30);
    run.call(thread, "cudaLaunchKernel", 125, 5, 2);
    run.call(thread, "cudaLaunchKernel", 155, 5, 3);
    gemm = run.kernel(stream, "gemm", 50, 100, 1);
    run.kernel(stream, "reduce", 150, 20, 2);
    late_reduce = run.kernel(stream, "reduce", 170, 10, 3);
    run.kernel(stream, "stray", 190, 7);
    run.finish();
  }
  Section answer(const Scene& scene) const { return operators_question.answer(scene).at(0); }
};

TEST_F(Operators, OwnAndTotalTimes) {
  const Section section = answer(run.rank_scene());
  const Table& table = *section.table("by_name");
  EXPECT_EQ(whole_of(cell(table, "aten::linear", "calls")), 1);
  EXPECT_EQ(whole_of(cell(table, "aten::linear", "cpu_total_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(table, "aten::linear", "cpu_own_ns")), 30'000);
  EXPECT_EQ(whole_of(cell(table, "aten::linear", "device_own_ns")), 0);
  EXPECT_EQ(whole_of(cell(table, "aten::linear", "device_total_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(table, "aten::addmm", "cpu_own_ns")), 60'000);
  EXPECT_EQ(whole_of(cell(table, "aten::addmm", "device_own_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(table, "aten::addmm", "kernels")), 1);
  EXPECT_EQ(text_of(cell(table, "aten::addmm", "category")), "gemm");
  EXPECT_DOUBLE_EQ(real_of(cell(table, "aten::addmm", "share")), 100.0 / 137.0);
  // Recursion: the inner call is part of the outer one's total, and counted once.
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "calls")), 2);
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "cpu_total_ns")), 60'000);
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "cpu_own_ns")), 60'000);
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "device_own_ns")), 30'000);
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "device_total_ns")), 30'000);
  EXPECT_EQ(whole_of(cell(table, "(unattributed)", "device_own_ns")), 7'000);
  EXPECT_EQ(text_of(table.rows[0][0]), "aten::addmm") << "sorted by own device time";
  EXPECT_EQ(sum_of(table, "device_own_ns"), 137'000);
  EXPECT_EQ(sum_of(table, "cpu_own_ns"), 160'000) << "the thread's time in operators: 0-100 and 110-170";
  EXPECT_EQ(whole_of(section.figure("device_total_ns")->value), 137'000);
  EXPECT_EQ(section.summary, "Of the device time, 73 % is gemm; unattributed 7.00 µs.");
}

TEST_F(Operators, CategoriesAndPhasesSumToTheDeviceTotal) {
  for (const SliceId id : {addmm, gemm}) run.facts.phase[id] = Phase::backward;
  for (const SliceId id : {inner_sum, outer_sum}) run.facts.phase[id] = Phase::forward;
  run.facts.phase[late_reduce] = Phase::forward;
  run.facts.recomputed[inner_sum] = 1;
  const Section section = answer(run.rank_scene());

  const Table& categories = *section.table("categories");
  EXPECT_EQ(whole_of(cell(categories, "gemm", "device_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(categories, "gemm", "cpu_own_ns")), 90'000) << "aten::linear and aten::addmm";
  EXPECT_EQ(whole_of(cell(categories, "reduction", "device_ns")), 30'000);
  EXPECT_EQ(whole_of(cell(categories, "(unattributed)", "device_ns")), 7'000);
  EXPECT_EQ(sum_of(categories, "device_ns"), 137'000);

  const Table& phases = *section.table("phases");
  EXPECT_EQ(whole_of(cell(phases, "backward", "device_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(phases, "backward", "cpu_own_ns")), 60'000);
  EXPECT_EQ(whole_of(cell(phases, "forward", "device_ns")), 10'000);
  EXPECT_EQ(whole_of(cell(phases, "forward", "cpu_own_ns")), 30'000) << "the outer aten::sum without the inner one";
  EXPECT_EQ(whole_of(cell(phases, "recomputed forward", "cpu_own_ns")), 30'000);
  EXPECT_EQ(whole_of(cell(phases, "other", "device_ns")), 20'000);
  EXPECT_EQ(whole_of(cell(phases, "(unattributed)", "device_ns")), 7'000);
  EXPECT_EQ(sum_of(phases, "device_ns"), 137'000);
  EXPECT_EQ(sum_of(phases, "cpu_own_ns"), 160'000);
  EXPECT_EQ(whole_of(cell(*section.table("by_name"), "aten::addmm", "device_backward_ns")), 100'000);
}

// Window 100-200 µs of host time: aten::sum and what it launched; the stray kernel starts in it too.
TEST_F(Operators, AWindowCountsWhatWasLaunchedInIt) {
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {130'000, 200'000};
  const Section section = answer(scene);
  const Table& table = *section.table("by_name");
  EXPECT_EQ(whole_of(section.figure("device_total_ns")->value), 17'000) << "launched at 155 µs, and the stray one";
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "calls")), 0) << "both began before the window";
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "cpu_total_ns")), 40'000);
  EXPECT_EQ(whole_of(cell(table, "aten::sum", "device_own_ns")), 10'000);
  EXPECT_EQ(table.rows.size(), 2u) << "aten::linear ended before the window";
}

TEST(OperatorsWithoutRecords, EverythingIsUnattributed) {
  HandBuilt run;
  const TrackId stream = run.stream(7);
  run.kernel(stream, "a", 0, 100);
  run.kernel(stream, "b", 100, 120);
  run.finish();
  const auto sections = operators_question.answer(run.rank_scene());
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].summary, "No operators were recorded: unattributed 220 µs.");
  ASSERT_EQ(sections[0].table("by_name")->rows.size(), 1u);
  EXPECT_EQ(whole_of(cell(*sections[0].table("by_name"), "(unattributed)", "device_own_ns")), 220'000);
  EXPECT_EQ(sections[0].caveats.size(), 1u);
}

TEST(OperatorsWithoutRecords, NothingToSayAboutAnEmptyRank) {
  HandBuilt run;
  run.slice(SliceKind::annotation, run.thread("1"), "ProfilerStep#1", 0, 10);
  run.finish();
  EXPECT_TRUE(operators_question.answer(run.rank_scene()).empty());
}

// An inner operator that ends 0.5 µs after the outer one: the outer one's own time is 10 µs, and nothing is counted twice.
TEST(OperatorsOverhang, OwnTimeIsNotNegative) {
  HandBuilt run;
  const TrackId thread = run.thread("1");
  run.operation(thread, "aten::outer", 0, 100);
  run.operation(thread, "aten::inner", 10, 90.5);
  run.finish();
  const Section section = operators_question.answer(run.rank_scene()).at(0);
  EXPECT_EQ(whole_of(cell(*section.table("by_name"), "aten::outer", "cpu_own_ns")), 10'000);
  EXPECT_EQ(whole_of(cell(*section.table("by_name"), "aten::inner", "cpu_own_ns")), 90'500);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell(*section.table("by_name"), "aten::outer", "share"))) << "no device time to share";
}

// Rows that do not nest: the second call begins inside the first one of its name and outlasts it. In a window behind the first there is only own time.
TEST(OperatorsThatOverhang, OwnTimeWithoutATotalIsARowToo) {
  HandBuilt run;
  const TrackId thread = run.thread("1");
  run.operation(thread, "aten::mm", 0, 10);
  run.operation(thread, "aten::mm", 5, 15);
  run.finish();
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {12'000, 20'000};
  const Section section = operators_question.answer(scene).at(0);
  EXPECT_EQ(whole_of(cell(*section.table("by_name"), "aten::mm", "cpu_own_ns")), 8'000);
  EXPECT_EQ(sum_of(*section.table("phases"), "cpu_own_ns"), 8'000);
  EXPECT_EQ(sum_of(*section.table("categories"), "cpu_own_ns"), 8'000);
}

}  // namespace
}  // namespace stepscope
