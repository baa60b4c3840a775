// stepscope whatif as a user runs it.
#include <gtest/gtest.h>

#include <sstream>

#include "app/run_program.h"
#include "app/small_trace.h"
#include "base/text.h"
#include "temporary_folder.h"

namespace stepscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class WhatIfCommandLine : public testing::Test {
 protected:
  void SetUp() override { trace_ = folder_.write("rank0.json", small_trace()); }
  TemporaryFolder folder_;
  std::string trace_;
};

TEST_F(WhatIfCommandLine, Text) {
  const Outcome run = run_program({"whatif", trace_, "--edit", "scale name=gemm* by=0.5"});
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_TRUE(has(run.output, "730 µs instead of 760 µs (−3.95 %)")) << run.output;
  EXPECT_TRUE(has(run.output, "scaled 6 operations (720 µs) by 0.5"));
  EXPECT_TRUE(has(run.output, "Where the time moved"));
  EXPECT_TRUE(has(run.output, "Critical path"));
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST_F(WhatIfCommandLine, JsonAndHtml) {
  const Outcome json = run_program({"whatif", trace_, "-e", "free name=gemm*", "--format", "json"});
  EXPECT_EQ(json.code, 0) << json.error;
  EXPECT_TRUE(has(json.output, R"("schema": "stepscope.whatif/1")")) << json.output.substr(0, 200);
  EXPECT_TRUE(has(json.output, R"("by_edit")"));
  const Outcome html = run_program({"whatif", trace_, "-e", "free name=gemm*", "--format", "html"});
  EXPECT_EQ(html.code, 0) << html.error;
  EXPECT_TRUE(html.output.starts_with("<!doctype html>"));
  EXPECT_TRUE(has(html.output, "prefers-color-scheme: dark"));
  EXPECT_FALSE(has(html.output, "http"));  // nothing is fetched
  EXPECT_FALSE(has(html.output, "<script"));
}

TEST_F(WhatIfCommandLine, NamesCannotLeaveTheirPlaceOnThePage) {
  std::string text = small_trace();
  for (std::size_t at = 0; (at = text.find("gemm_kernel", at)) != std::string::npos;) text.replace(at, 11, "gemm<script>alert(1)</script>");
  const std::string trace = folder_.write("hostile.json", text);
  const Outcome html = run_program({"whatif", trace, "-e", "free name=gemm*", "--format", "html"});
  EXPECT_EQ(html.code, 0) << html.error;
  EXPECT_FALSE(has(html.output, "<script"));
}

TEST_F(WhatIfCommandLine, ListOfEdits) {
  const Outcome run = run_program({"whatif", "--list-edits"});
  EXPECT_EQ(run.code, 0);
  for (const char* part : {"balance", "fused_attention", "until=", "for example: scale name=*gemm* by=0.5", "module="})
    EXPECT_TRUE(has(run.output, part)) << part;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST_F(WhatIfCommandLine, Mistakes) {
  const auto said = [&](std::vector<std::string> words) {
    const Outcome run = run_program(words);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.output, "");
    return run.error;
  };
  EXPECT_TRUE(has(said({"whatif"}), "no PATH was given"));
  EXPECT_TRUE(has(said({"whatif", trace_}), "nothing is to be changed"));
  EXPECT_TRUE(has(said({"whatif", trace_, "-e", "scael name=a"}), "there is no edit 'scael'"));
  EXPECT_TRUE(has(said({"whatif", trace_, "-e", "scale name=gemn* by=2"}), "near names: gemm_kernel"));
  EXPECT_TRUE(has(said({"whatif", trace_, "--edits", "/no/such.yaml"}), "there is no such file"));
  EXPECT_TRUE(has(said({"whatif", trace_, "-e", "balance"}), "several ranks"));
  EXPECT_TRUE(has(said({"whatif", trace_, "-e", "no_sync", "-o", trace_}), "is the input"));
  EXPECT_TRUE(has(said({"whatif", trace_, "--gpu", "nonsense", "-e", "launch_cost"}), "nonsense"));
}

}  // namespace
}  // namespace stepscope
