#include <gtest/gtest.h>

#include <cstdio>

#include "temporary_folder.h"
#include "verbs/stepscope.h"

namespace stepscope {
namespace {

// Three steps (3, 4, 5) of 1 ms with two kernels of 100 µs each; step 4's second kernel takes 300 µs.
std::string three_steps() {
  std::string events;
  const auto add = [&events](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  int id = 0;
  for (int step = 3; step < 6; ++step) {
    const int begin = (step - 3) * 1'000;
    add(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) + R"(","pid":10,"tid":10,"ts":)" + std::to_string(begin) +
        R"(,"dur":1000})");
    for (int kernel = 0; kernel < 2; ++kernel) {
      const std::string at = std::to_string(begin + 10 + kernel * 400), start = std::to_string(begin + 20 + kernel * 400), correlation = std::to_string(++id);
      add(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":10,"ts":)" + at + R"(,"dur":9})");
      add(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":)" + at + R"(,"dur":5,"args":{"correlation":)" + correlation +
          "}}");
      add(R"({"ph":"X","cat":"kernel","name":"k)" + std::to_string(kernel) + R"(","pid":0,"tid":7,"ts":)" + start + R"(,"dur":)" +
          (step == 4 && kernel == 1 ? "300" : "100") + R"(,"args":{"correlation":)" + correlation + R"(,"device":0,"stream":7}})");
    }
  }
  return R"({"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","totalGlobalMem":85899345920}],"traceEvents":[)" + events + "]}";
}

class AnalyzeVerb : public testing::Test {
 protected:
  Result<Analysis> run(AnalyzeOptions options = {}, const std::string& trace = three_steps()) {
    options.paths = {folder_.write("rank0.json", trace)};
    return analyze(options);
  }
  static std::int64_t figure(const Analysis& analysis, std::string_view section, std::string_view key) {
    const Section* found = find_section(analysis.findings.ranks.at(0).devices.at(0).sections, section);
    if (found == nullptr || found->figure(key) == nullptr) return -1;
    return std::get<std::int64_t>(found->figure(key)->value);
  }
  static std::string message(const Result<Analysis>& result) { return result ? std::string("(no error)") : result.error().message(); }
  TemporaryFolder folder_;
};

TEST_F(AnalyzeVerb, TheWholeCapture) {
  const auto analysis = run();
  ASSERT_TRUE(analysis) << message(analysis);
  EXPECT_FALSE(analysis->nothing_to_analyse);
  ASSERT_EQ(analysis->findings.ranks.size(), 1u);
  EXPECT_EQ(figure(*analysis, "all", "slices"), 6);
  EXPECT_EQ(figure(*analysis, "all", "compute_ns"), 800'000);
  EXPECT_EQ(figure(*analysis, "all", "span_ns"), 2'500'000);
  EXPECT_EQ(analysis->findings.ranks[0].devices[0].gpu_reported, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(analysis->findings.ranks[0].devices[0].gpu, "h100-sxm");
  EXPECT_NE(find_section(analysis->findings.sections, "health"), nullptr);
}

TEST_F(AnalyzeVerb, ChosenSteps) {
  AnalyzeOptions options;
  options.steps = "4";
  const auto four = run(options);
  ASSERT_TRUE(four) << message(four);
  EXPECT_EQ(figure(*four, "all", "slices"), 2);
  EXPECT_EQ(figure(*four, "all", "span_ns"), 1'000'000);
  EXPECT_EQ(figure(*four, "all", "compute_ns"), 400'000);
  EXPECT_EQ(figure(*four, "all", "idle_ns"), 600'000);
  EXPECT_EQ(figure(*four, "idle_by_cause", "host_ns") + figure(*four, "idle_by_cause", "launch_ns"), 600'000);
  const Section* steps = find_section(four->findings.ranks[0].devices[0].sections, "steps");
  ASSERT_NE(steps, nullptr);
  EXPECT_EQ(steps->tables[0].rows.size(), 1u);

  options.steps = "4-9";
  const auto last_two = run(options);
  ASSERT_TRUE(last_two);
  EXPECT_EQ(figure(*last_two, "all", "slices"), 4);  // a range may reach beyond the last step
  options.steps = "last";
  const auto last = run(options);
  ASSERT_TRUE(last);
  EXPECT_EQ(figure(*last, "all", "span_ns"), 500'000);
}

TEST_F(AnalyzeVerb, StepsThatAreNotThere) {
  AnalyzeOptions options;
  options.steps = "7-8";
  EXPECT_NE(message(run(options)).find("has no step 7-8\n  It has steps 3 to 5"), std::string::npos) << message(run(options));
  for (const char* wrong : {"x", "5-3", "-", "3-", "-3", "1.5"}) {
    options.steps = wrong;
    EXPECT_NE(message(run(options)).find("names no steps"), std::string::npos) << wrong;
  }
  options.steps = "3";
  const auto without = run(options, R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9}])");
  EXPECT_NE(message(without).find("no steps were found"), std::string::npos) << message(without);
}

TEST_F(AnalyzeVerb, RanksGpusAndPatterns) {
  AnalyzeOptions options;
  options.rank = 5;
  EXPECT_NE(message(run(options)).find("there is no rank 5\n  The traces are of rank 0"), std::string::npos) << message(run(options));
  options = {};
  options.gpu = "no-such-gpu";
  EXPECT_FALSE(run(options));
  options.gpu = "a100-sxm-80gb";
  const auto other_gpu = run(options);
  ASSERT_TRUE(other_gpu) << message(other_gpu);
  EXPECT_EQ(other_gpu->findings.ranks[0].devices[0].gpu, "a100-sxm-80gb");
  options = {};
  options.patterns_file = folder_.write("patterns.yaml", "- {name: ^k1$, class: communication}\n");
  const auto mine = run(options);
  ASSERT_TRUE(mine) << message(mine);
  EXPECT_EQ(figure(*mine, "all", "communication_ns"), 500'000);
  EXPECT_EQ(figure(*mine, "all", "compute_ns"), 300'000);
}

TEST_F(AnalyzeVerb, NothingToAnalyse) {
  const auto empty = run({}, R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}]})");
  ASSERT_TRUE(empty) << message(empty);
  ASSERT_TRUE(empty->nothing_to_analyse);
  EXPECT_EQ(empty->nothing_to_analyse->kind, Error::Kind::nothing_to_analyse);
  EXPECT_TRUE(empty->findings.ranks.empty());
  EXPECT_NE(find_section(empty->findings.sections, "health"), nullptr);
}

TEST_F(AnalyzeVerb, CpuOnlyIsStillAnswered) {
  const auto cpu = run({}, R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9}])");
  ASSERT_TRUE(cpu) << message(cpu);
  EXPECT_FALSE(cpu->nothing_to_analyse);
  ASSERT_EQ(cpu->findings.ranks.size(), 1u);
  EXPECT_TRUE(cpu->findings.ranks[0].devices.empty());
  EXPECT_NE(find_section(cpu->findings.ranks[0].sections, "operators"), nullptr);
}

TEST(Version, IsThreeNumbers) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(std::string(version()).c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace stepscope
