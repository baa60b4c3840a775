#include <gtest/gtest.h>

#include "app/small_trace.h"
#include "temporary_folder.h"
#include "verbs/stepscope.h"

namespace stepscope {
namespace {

class WhatIfVerb : public testing::Test {
 protected:
  Result<WhatIf> run(std::vector<std::string> edits, std::string edits_file = {}, const std::string& trace = small_trace()) {
    WhatIfOptions options;
    options.paths = {folder_.write("rank0.json", trace)};
    options.edits = std::move(edits);
    options.edits_file = std::move(edits_file);
    return what_if(options);
  }
  static double figure(const WhatIf& result, std::string_view section, std::string_view key) {
    const Section* found = find_section(result.sections, section);
    if (found == nullptr || found->figure(key) == nullptr) return -1;
    return std::get<double>(found->figure(key)->value);
  }
  static std::string message(const Result<WhatIf>& result) { return result ? std::string("(no error)") : result.error().message(); }
  TemporaryFolder folder_;
};

// Two steps of 1 ms, three kernels of 120 µs each, launched 200 µs apart: the host decides when they start. A step's window on the device goes from its first
// kernel to the next step's first, the last one's to its last end: 1000 µs and 520 µs; both count, because there are no others.
TEST_F(WhatIfVerb, FasterKernelsOnlyShortenWhatTheyEnd) {
  const auto result = run({"scale name=gemm* by=0.5"});
  ASSERT_TRUE(result) << message(result);
  EXPECT_EQ(figure(*result, "step", "before_ns"), 760'000);
  EXPECT_EQ(figure(*result, "step", "after_ns"), 730'000);
  EXPECT_EQ(figure(*result, "step", "saved_ns"), 30'000);
  EXPECT_EQ(figure(*result, "moved", "busy_before_ns"), 360'000);
  EXPECT_EQ(figure(*result, "moved", "busy_after_ns"), 180'000);
  EXPECT_EQ(figure(*result, "moved", "idle_after_ns"), 550'000);
  const Section* moved = find_section(result->sections, "moved");
  ASSERT_NE(moved->table("by_name"), nullptr);
  EXPECT_EQ(std::get<std::string>(moved->table("by_name")->rows.at(0).at(0)), "gemm_kernel");
  EXPECT_EQ(std::get<double>(moved->table("by_name")->rows.at(0).at(5)), -180'000);
}

TEST_F(WhatIfVerb, ThePathByOperatorSumsToTheStep) {
  const auto result = run({"scale name=gemm* by=20"});
  ASSERT_TRUE(result) << message(result);
  const Table* table = find_section(result->sections, "critical_path")->table("by_operator");
  ASSERT_NE(table, nullptr);
  double before = 0, after = 0;
  for (const auto& row : table->rows) {
    before += std::get<double>(row[1]);
    after += std::get<double>(row[2]);
  }
  EXPECT_DOUBLE_EQ(before, figure(*result, "step", "before_ns"));
  EXPECT_DOUBLE_EQ(after, figure(*result, "step", "after_ns"));
  EXPECT_GT(after, before);
  for (std::size_t row = 1; row < table->rows.size(); ++row) EXPECT_GE(std::get<double>(table->rows[row - 1][2]), std::get<double>(table->rows[row][2]));
}

TEST_F(WhatIfVerb, GainsOfEditsAreMarginal) {
  const auto result = run({"free name=gemm*", "remove name=gemm*"});
  ASSERT_TRUE(result) << message(result);
  const Table* edits = find_section(result->sections, "edits")->table("by_edit");
  ASSERT_EQ(edits->rows.size(), 2u);
  double sum = 0;
  for (const auto& row : edits->rows) sum += std::get<double>(row[2]);
  EXPECT_DOUBLE_EQ(sum, figure(*result, "step", "saved_ns"));
}

TEST_F(WhatIfVerb, TheCriticalPathCoversTheStep) {
  const auto result = run({"launch_cost"});
  ASSERT_TRUE(result) << message(result);
  double before = 0, after = 0;
  for (const auto& row : find_section(result->sections, "critical_path")->table("by_kind")->rows) {
    before += std::get<double>(row[2]);
    after += std::get<double>(row[3]);
  }
  EXPECT_DOUBLE_EQ(before, figure(*result, "step", "before_ns"));
  EXPECT_DOUBLE_EQ(after, figure(*result, "step", "after_ns"));
}

TEST_F(WhatIfVerb, EditsFromAFileComeFirst) {
  const std::string file = folder_.write("edits.yaml", "edits: [{edit: set, name: gemm*, to: 10us}]");
  const auto result = run({"scale name=gemm* by=2"}, file);
  ASSERT_TRUE(result) << message(result);
  EXPECT_EQ(figure(*result, "step", "after_ns"), 760'000 - 50'000);  // kernels of 20 µs
}

TEST_F(WhatIfVerb, Errors) {
  EXPECT_NE(message(run({})).find("nothing is to be changed"), std::string::npos);
  EXPECT_NE(message(run({"scale nme=x by=2"})).find("does not know nme="), std::string::npos);
  EXPECT_NE(message(run({"scale name=conv* by=2"})).find("no operation matches"), std::string::npos);
  EXPECT_NE(message(run({"gpu to=nothing"})).find("nothing"), std::string::npos);
  EXPECT_FALSE(run({"no_sync"}, {}, "not a trace"));
  const auto empty = run({"no_sync"}, {}, R"({"traceEvents":[]})");
  ASSERT_TRUE(empty) << message(empty);
  EXPECT_TRUE(empty->nothing_to_analyse);
}

}  // namespace
}  // namespace stepscope
