// docs/analyze.md explains every section that the page of the bundled trace has, with that section's own lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "report/report.h"
#include "verbs/stepscope.h"

namespace stepscope {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TextDocument, EverySectionOfThePageIsExplained) {
  AnalyzeOptions options;
  options.paths = {STEPSCOPE_SOURCE_DIR "/examples/gpt_training_step.generated.json.gz"};
  const Result<Analysis> analysis = analyze(options);
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message();
  const ReportInput input{analysis->timeline, analysis->facts, analysis->findings, 0, 0};
  const std::string document = content_of(STEPSCOPE_SOURCE_DIR "/docs/analyze.md");
  std::istringstream lines(text_report(input, {.top = 3}));
  std::size_t sections = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t rule = line.find(" ───");
    if (rule == std::string::npos || rule == 0) continue;
    ++sections;
    const std::string title = line.substr(0, std::min(rule, line.find(':')));
    EXPECT_NE(document.find("\n## " + title + "\n"), std::string::npos) << "docs/analyze.md does not explain the section \"" << title << "\"";
  }
  EXPECT_GE(sections, 15u);
}

}  // namespace
}  // namespace stepscope
