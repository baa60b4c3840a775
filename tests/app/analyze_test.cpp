// `stepscope analyze` as a user runs it: exit codes, where the report goes, what is said beside it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/run_program.h"
#include "app/small_trace.h"
#include "base/text.h"
#include "temporary_folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

bool is_html(const std::string& text) {
  return text.starts_with("<!doctype html") || text.starts_with("<!DOCTYPE html");
}

TEST(Analyze, TextGoesToStandardOutput) {
  const TemporaryFolder folder;
  const Outcome run = run_program({"analyze", folder.write("trace.json", small_trace())});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.error, "");  // no progress where standard error is no terminal
  EXPECT_TRUE(has(run.output, "Step ")) << run.output;
  EXPECT_TRUE(has(run.output, "gemm_kernel"));
  EXPECT_FALSE(has(run.output, "\033["));  // nor colours where standard output is none
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST(Analyze, FormsFollowTheOptionOrTheEnding) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  EXPECT_TRUE(run_program({"analyze", trace, "--format", "json"}).output.starts_with("{"));
  EXPECT_TRUE(is_html(run_program({"analyze", trace, "--format", "html"}).output));  // a pipe, no terminal
  const Outcome run = run_program({"analyze", trace, "-o", folder / "a.json", "-o", folder / "a.html", "-o", folder / "a.txt", "-o", "-"});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(content_of(folder / "a.json").starts_with("{"));
  EXPECT_TRUE(is_html(content_of(folder / "a.html")));
  EXPECT_TRUE(has(content_of(folder / "a.txt"), "Step "));
  EXPECT_TRUE(has(run.output, "Step "));
  EXPECT_EQ(run_program({"analyze", trace, "--format", "json", "-o", folder / "b.html"}).code, 0);
  EXPECT_TRUE(content_of(folder / "b.html").starts_with("{"));  // what was asked for goes before the ending
}

TEST(Analyze, TwoAlikeStepsAreNotSlowAndNoSectionIsEmpty) {
  const TemporaryFolder folder;
  const Outcome run = run_program({"analyze", folder.write("trace.json", small_trace())});
  EXPECT_FALSE(has(run.output, "Slow steps")) << run.output;
  EXPECT_FALSE(has(run.output, "FLOP utilisation")) << run.output;  // no shapes: said once, under the work
  EXPECT_TRUE(has(run.output, "record_shapes=True"));
}

TEST(Analyze, RanksAreCountedFromTheLowestToTheHighest) {
  const TemporaryFolder folder;
  const auto of_rank = [](int rank) {
    std::string trace = small_trace();
    return trace.replace(trace.find("{"), 1, "{\"distributedInfo\":{\"rank\":" + std::to_string(rank) + ",\"world_size\":8},");
  };
  const std::string a = folder.write("a.json", of_rank(5)), b = folder.write("b.json", of_rank(2)), c = folder.write("c.json", of_rank(4));
  EXPECT_TRUE(has(run_program({"analyze", a, b, c}).output, "ranks 2 to 5"));
  const std::string again = folder.write("d.json", of_rank(5));
  EXPECT_TRUE(has(run_program({"analyze", a, again}).output, "2 files · all of rank 5"));
}

// An expression that a backtracking search would never be done with.
TEST(Analyze, APatternCannotHoldUpTheProgram) {
  const TemporaryFolder folder;
  std::string trace = small_trace();
  for (std::size_t at; (at = trace.find("gemm_kernel")) != std::string::npos;) trace.replace(at, 11, std::string(60, 'a') + "!");
  const std::string file = folder.write("trace.json", trace);
  EXPECT_EQ(run_program({"analyze", file, "--patterns", folder.write("slow.yaml", "- {name: '(a+)+$', class: memory}\n")}).code, 0);
  const Outcome found =
      run_program({"analyze", file, "--format", "json", "--patterns", folder.write("found.yaml", "- {name: '^(a|aa)+!$', class: communication}\n")});
  EXPECT_TRUE(has(found.output, "\"communication_ns\": 720000")) << found.output.substr(0, 2000);
  const Outcome refused = run_program({"analyze", file, "--patterns", folder.write("back.yaml", "- {name: '(a)\\1', class: memory}\n")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.error, "is no regular expression")) << refused.error;
}

TEST(Analyze, AReportNeverReplacesAnInput) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  fs::create_symlink("trace.json", folder / "link.json");
  const std::string folder_path = fs::path(trace).parent_path().string();
  for (const auto& [input, output] : {std::pair{trace, trace}, {trace, folder / "link.json"}, {folder_path, trace}}) {
    const Outcome run = run_program({"analyze", input, "-o", output});
    EXPECT_EQ(run.code, 2);
    EXPECT_TRUE(has(run.error, output)) << run.error;
    EXPECT_TRUE(has(run.error, "which the report would replace")) << run.error;
    EXPECT_EQ(content_of(trace), small_trace());
  }
  // What is no trace may be replaced, also in the directory of the traces: an older report.
  fs::remove(folder / "link.json");
  for (int time = 0; time < 2; ++time) EXPECT_EQ(run_program({"analyze", folder_path, "-o", folder / "report.json"}).code, 0);
}

TEST(Analyze, FilesAreThereWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  const std::string real = folder.write("old.json", "old");
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old.json", folder / "link.json");
  EXPECT_EQ(run_program({"analyze", trace, "-o", folder / "link.json"}).code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_TRUE(content_of(real).starts_with("{"));
  EXPECT_EQ(fs::status(real).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files_in(folder), 3u);  // no temporary file is left
  const mode_t mask = ::umask(0022);
  EXPECT_EQ(run_program({"analyze", trace, "-o", folder / "new.json"}).code, 0);
  ::umask(mask);
  EXPECT_EQ(fs::status(folder / "new.json").permissions(), static_cast<fs::perms>(0644));
  EXPECT_EQ(run_program({"analyze", trace, "-o", "/dev/null"}).code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Analyze, AnUnreadableInputLeavesTheOldReport) {
  const TemporaryFolder folder;
  const std::string report = folder.write("report.json", "old");
  const Outcome run = run_program({"analyze", folder / "missing.json", "-o", report});
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.error, "missing.json")) << run.error;
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(content_of(report), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(Analyze, ReadsStandardInput) {
  const Outcome run = run_program({"analyze", "-"}, {.input = small_trace()});
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(has(run.output, "gemm_kernel"));
}

TEST(Analyze, AReaderThatGoesAwayIsNoError) {
  const TemporaryFolder folder;
  const Outcome run = run_program({"analyze", folder.write("trace.json", small_trace())}, {.closed_output = true});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.error, "");
}

TEST(Analyze, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  const Outcome printed = run_program({"analyze", trace}, {.output_file = "/dev/full"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_TRUE(has(printed.error, "standard output")) << printed.error;
  const Outcome written = run_program({"analyze", trace, "-o", "/dev/full"});
  EXPECT_EQ(written.code, 2);
  EXPECT_TRUE(has(written.error, "/dev/full")) << written.error;
}

TEST(Analyze, NothingToAnalyseIsThreeAndStillReportsTheHealth) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}]})");
  const Outcome json = run_program({"analyze", trace, "--format", "json"});
  EXPECT_EQ(json.code, 3);
  EXPECT_TRUE(has(json.output, "\"health\"")) << json.output;
  EXPECT_TRUE(has(json.error, "trace.json")) << json.error;
  const Outcome text = run_program({"analyze", trace});
  EXPECT_EQ(text.code, 3);
  EXPECT_TRUE(has(text.output, "No device activity in this trace")) << text.output;
}

TEST(Analyze, ColoursOnATerminalOnly) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  const std::pair<std::string, std::string> terminal{"TERM", "xterm"}, wanted{"NO_COLOR", ""}, unwanted{"NO_COLOR", "1"}, dumb{"TERM", "dumb"};
  EXPECT_TRUE(has(run_program({"analyze", trace}, {.environment = {terminal, wanted}, .terminal = true}).output, "\033["));
  EXPECT_FALSE(has(run_program({"analyze", trace}, {.environment = {terminal, unwanted}, .terminal = true}).output, "\033["));
  EXPECT_FALSE(has(run_program({"analyze", trace}, {.environment = {dumb, wanted}, .terminal = true}).output, "\033["));
  EXPECT_FALSE(has(run_program({"analyze", trace, "--colour", "never"}, {.environment = {terminal, wanted}, .terminal = true}).output, "\033["));
  EXPECT_TRUE(has(run_program({"analyze", trace, "--color=always"}).output, "\033["));
}

TEST(Analyze, AnAsciiTerminalGetsAscii) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  const Outcome run = run_program({"analyze", trace}, {.environment = {{"LC_ALL", "C"}}, .terminal = true});
  EXPECT_EQ(run.code, 0);
  for (const char c : run.output) ASSERT_LT(static_cast<unsigned char>(c), 0x80) << run.output;
}

TEST(Analyze, HtmlOnATerminalBecomesAFile) {
  const TemporaryFolder folder;
  folder.write("job.pt.trace.json", small_trace());
  const Outcome run = run_program({"analyze", "job.pt.trace.json", "--format", "html"}, {.folder = folder.path(), .terminal = true});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(has(run.output, "Wrote job-report.html")) << run.output;
  EXPECT_TRUE(is_html(content_of(folder / "job-report.html")));
  const Outcome quiet = run_program({"analyze", "job.pt.trace.json", "--format", "html", "-q"}, {.folder = folder.path(), .terminal = true});
  EXPECT_EQ(quiet.output, "");
}

TEST(Analyze, TopAndVerboseDecideHowMuchIsShown) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", small_trace());
  const std::string page = run_program({"analyze", trace}).output, verbose = run_program({"analyze", trace, "-v"}).output;
  EXPECT_GT(verbose.size(), page.size());
  EXPECT_EQ(run_program({"analyze", trace, "--top", "0"}).code, 0);
  EXPECT_EQ(run_program({"analyze", trace, "--steps", "1", "--threads", "2", "--rank", "0"}).code, 0);
}

}  // namespace
}  // namespace stepscope
