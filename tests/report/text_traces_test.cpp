// The page of every real trace we have: it fits, it begins with the verdict, and its sentences agree with the findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/text.h"
#include "report/report.h"
#include "verbs/stepscope.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\033') {
      at = text.find('m', at);
      continue;
    }
    plain += text[at];
  }
  return plain;
}

void expect_fits(const std::string& page, int columns) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_LE(display_width(line), columns) << line;
    ASSERT_EQ(printable(line), line);  // nothing that a terminal would obey
    ASSERT_FALSE(line.ends_with(' ')) << line;
  }
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class EveryTrace : public testing::TestWithParam<std::string> {};

TEST_P(EveryTrace, PageFitsAndIsTrue) {
  AnalyzeOptions options;
  options.paths = {STEPSCOPE_SHARED_DIR "/" + GetParam()};
  const Result<Analysis> analysis = analyze(options);
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message();
  const ReportInput input{analysis->timeline, analysis->facts, analysis->findings, analysis->read_seconds, analysis->analysis_seconds};

  const std::string page = text_report(input, {});
  expect_fits(page, 100);
  expect_fits(text_report(input, {.verbosity = 1}), 100);
  expect_fits(text_report(input, {.columns = 60}), 60);
  expect_fits(without_escapes(text_report(input, {.colour = true})), 100);
  EXPECT_TRUE(without_escapes(text_report(input, {.colour = true})) == page);
  const std::string ascii = text_report(input, {.ascii = true, .verbosity = 1});
  expect_fits(ascii, 100);
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));

  std::size_t devices = 0;
  bool steps = true;
  for (const RankFindings& rank : analysis->findings.ranks) {
    for (const DeviceFindings& device : rank.devices) {
      devices += find_section(device.sections, "all") != nullptr;
      steps = steps && (find_section(device.sections, "steps") != nullptr || find_section(device.sections, "inferred_steps") != nullptr);
    }
  }
  EXPECT_EQ(has(page, "No device activity in this trace"), devices == 0);
  EXPECT_EQ(has(page, "No steps were marked"), devices == 1 && !steps);
  EXPECT_EQ(page.find("\nStep ") != std::string::npos, devices == 1 && steps);
  EXPECT_EQ(has(page, " devices, step "), devices > 1 && steps);
  EXPECT_TRUE(has(page, "\nCapture: "));
}

std::vector<std::string> shared_inputs() {
  std::vector<std::string> inputs;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(STEPSCOPE_SHARED_DIR "/traces", absent)) {
    if (entry.is_directory() && entry.path().filename() != "expected") inputs.push_back("traces/" + entry.path().filename().string());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

INSTANTIATE_TEST_SUITE_P(Traces, EveryTrace, testing::ValuesIn(shared_inputs()), [](const auto& test) {
  std::string name = test.param.substr(test.param.find('/') + 1);
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTrace);

// Damaged inputs: whatever could be read of them is shown, and fits.
TEST(TextOfFaults, PagesFit) {
  std::error_code absent;
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(STEPSCOPE_SHARED_DIR "/faults", absent)) {
    AnalyzeOptions options;
    options.paths = {entry.path().string()};
    const Result<Analysis> analysis = analyze(options);
    if (!analysis) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const ReportInput input{analysis->timeline, analysis->facts, analysis->findings, 0, 0};
    const std::string page = text_report(input, {});
    expect_fits(page, 100);
    expect_fits(text_report(input, {.verbosity = 1}), 100);
    const Section* health = find_section(analysis->findings.sections, "health");
    const Table* repairs = health != nullptr ? health->table("repairs") : nullptr;
    ASSERT_NE(repairs, nullptr);
    // What was repaired is told before any figure.
    const std::size_t told = page.find("\nCapture: "), figures = page.find("\nStep ");
    EXPECT_EQ(has(page, "of repair: "), !repairs->rows.empty());
    if (!repairs->rows.empty() && figures != std::string::npos) {
      EXPECT_LT(told, figures);
    }
    ++pages;
  }
  if (absent) GTEST_SKIP() << "no shared faults at " STEPSCOPE_SHARED_DIR;
  EXPECT_GE(pages, 25u);
}

TEST(TextOfTraces, SharedTracesAreThere) {
  if (shared_inputs().empty()) GTEST_SKIP() << "no shared traces at " STEPSCOPE_SHARED_DIR;
  EXPECT_GE(shared_inputs().size(), 30u);
}

}  // namespace
}  // namespace stepscope
