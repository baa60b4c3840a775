// Rows of ../shared/faults/README.md that speak of operators, launches and collectives: every figure they name.
#include <gtest/gtest.h>

#include <filesystem>

#include "hand_built.h"
#include "read/reader.h"

namespace stepscope {

extern const Question operators_question, launches_question, queue_question, collectives_question;

namespace {

struct QuestionFaults : testing::Test {
  // The questions of the first rank (and device) of a file.
  void load(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "faults" / name;
    if (!std::filesystem::is_regular_file(path)) GTEST_SKIP() << "../shared is not here";
    const std::vector<std::string> paths{path.string()};
    Result<Timeline> read = read_timeline(paths, {});
    ASSERT_TRUE(read) << read.error().message();
    timeline = std::move(*read);
    facts = derive(timeline, {});
  }
  Section answer(const Question& question, std::size_t device = 0) const {
    const Scene scene{.timeline = timeline,
                      .facts = facts,
                      .rank = RankId{0},
                      .device = question.scope == Scope::device ? &facts.devices.at(device) : nullptr,
                      .gpu = nullptr,
                      .window = {},
                      .whole_capture = true};
    return question.answer(scene).at(0);
  }
  std::int64_t operator_figure(std::string_view name, std::string_view column) const {
    return whole_of(cell(*answer(operators_question).table("by_name"), name, column));
  }

  Timeline timeline;
  Facts facts;
};
#define LOAD(name) \
  load(name);      \
  if (IsSkipped()) return

TEST_F(QuestionFaults, BaseAndInputsThatMustEqualIt) {
  for (const char* name : {"00_base_ok.json", "03_array_no_close.json", "23_sync_rows_on_gpu.json", "28_display_unit_ns.json", "32_uint64_ids.json",
                           "33_bom_crlf.json", "37_unsorted.json"}) {
    SCOPED_TRACE(name);
    LOAD(name);
    const Section operators = answer(operators_question);
    EXPECT_EQ(whole_of(operators.figure("device_total_ns")->value), 220'000);
    EXPECT_EQ(whole_of(operators.figure("unattributed_ns")->value), 0) << "all linked to 3 ops";
    EXPECT_EQ(whole_of(operators.figure("calls")->value), 3);
    EXPECT_EQ(whole_of(answer(launches_question).figure("without_record")->value), 0);
  }
}

TEST_F(QuestionFaults, GpuOnlyIsUnattributed) {
  LOAD("09_gpu_only.json");
  const Section operators = answer(operators_question);
  EXPECT_NE(operators.summary.find("unattributed 220 µs"), std::string::npos) << operators.summary;
  EXPECT_EQ(operator_figure("(unattributed)", "kernels"), 3);
}

TEST_F(QuestionFaults, CpuOnlyStillHasItsOperators) {
  LOAD("10_cpu_only.json");
  EXPECT_EQ(operator_figure("aten::mm", "calls"), 2);
  EXPECT_EQ(operator_figure("aten::mm", "cpu_own_ns"), 80'000);
}

TEST_F(QuestionFaults, DuplicateCorrelationsDoNotPileUp) {
  LOAD("08_duplicate_correlation.json");
  EXPECT_EQ(whole_of(answer(operators_question).figure("device_total_ns")->value), 220'000);
  EXPECT_EQ(operator_figure("aten::mm", "device_own_ns"), 200'000);
  EXPECT_EQ(operator_figure("aten::add_", "device_own_ns"), 20'000);
}

TEST_F(QuestionFaults, UnfinishedCallsHaveNoNegativeTime) {
  LOAD("13_negative_duration.json");
  const Table table = *answer(operators_question).table("by_name");
  for (const auto& row : table.rows) {
    EXPECT_GE(whole_of(row[column_of(table, "cpu_own_ns")]), 0);
    EXPECT_GE(whole_of(row[column_of(table, "cpu_total_ns")]), 0);
  }
}

TEST_F(QuestionFaults, OverhangingChild) {
  LOAD("16_not_nested_cpu.json");
  EXPECT_EQ(operator_figure("aten::outer", "cpu_own_ns"), 10'000);
  EXPECT_EQ(operator_figure("aten::inner", "kernels"), 1);
}

TEST_F(QuestionFaults, GraphIsOneLaunch) {
  LOAD("24_cuda_graph.json");
  const Section launches = answer(launches_question);
  EXPECT_EQ(whole_of(cell(*launches.table("by_api"), "cudaGraphLaunch", "calls")), 1);
  EXPECT_EQ(whole_of(cell(*launches.table("by_api"), "cudaGraphLaunch", "launched")), 5);
  EXPECT_EQ(whole_of(answer(operators_question).figure("device_total_ns")->value), 125'000);
}

TEST_F(QuestionFaults, DroppedRecordsAreCounted) {
  LOAD("29_dropped_kernels.json");
  const Section launches = answer(launches_question);
  EXPECT_EQ(whole_of(launches.figure("calls")->value), 20);
  EXPECT_EQ(whole_of(launches.figure("without_record")->value), 6);
}

TEST_F(QuestionFaults, ProfilerStartIsNoTypicalCollective) {
  LOAD("30_profiler_start_spin.json");
  const Section collectives = answer(collectives_question);
  const Table& table = *collectives.table("by_kind");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][column_of(table, "profiler_start")], Value{true});
  EXPECT_EQ(whole_of(table.rows[1][column_of(table, "median_ns")]), 120'000);
}

TEST_F(QuestionFaults, TwoDevicesOfOneFileStayApart) {
  LOAD("36_two_ranks_one_file.json");
  EXPECT_EQ(whole_of(answer(operators_question).figure("device_total_ns")->value), 440'000);
  EXPECT_EQ(whole_of(answer(operators_question).figure("unattributed_ns")->value), 0);
  ASSERT_EQ(facts.devices.size(), 2u);
  for (const std::size_t device : {0u, 1u}) EXPECT_EQ(whole_of(answer(queue_question, device).table("streams")->rows[0][1]), 3);
}

}  // namespace
}  // namespace stepscope
