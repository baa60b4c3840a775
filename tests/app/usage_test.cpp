// Help, and what the program says when it is not understood.
#include <gtest/gtest.h>

#include <sstream>

#include "app/run_program.h"
#include "base/text.h"

namespace stepscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST(Usage, HelpIsAnAnswer) {
  const Outcome run = run_program({"--help"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.error, "");
  EXPECT_TRUE(has(run.output, "Usage: stepscope VERB"));
  EXPECT_TRUE(has(run.output, "analyze"));
  EXPECT_TRUE(has(run.output, "Examples:"));
  EXPECT_TRUE(has(run.output, "Exit codes: 0 done"));
  expect_narrow(run.output);
  EXPECT_EQ(run_program({"-h"}).output, run.output);
  EXPECT_EQ(run_program({"help"}).output, run.output);
}

TEST(Usage, NoWordsAtAllIsAnError) {
  const Outcome run = run_program({});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_TRUE(has(run.error, "Usage: stepscope VERB"));
}

TEST(Usage, Version) {
  const Outcome run = run_program({"--version"});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(run.output.starts_with("stepscope ") && run.output.ends_with("\n") && run.output.size() < 40) << run.output;
}

TEST(Usage, HelpOfAVerbHasEveryOptionAndExamples) {
  const Outcome run = run_program({"analyze", "--help"});
  EXPECT_EQ(run.code, 0);
  for (const char* option : {"--steps", "--rank", "--gpu", "--patterns", "--format", "-o, --output", "--top", "--threads", "--colour", "-q, --quiet",
                             "-v, --verbose", "-h, --help"}) {
    EXPECT_TRUE(has(run.output, option)) << option;
  }
  EXPECT_TRUE(has(run.output, "Examples:\n  stepscope analyze trace.json.gz\n"));
  EXPECT_TRUE(has(run.output, "Exit codes:"));
  expect_narrow(run.output);
  EXPECT_EQ(run_program({"help", "analyze"}).output, run.output);
  EXPECT_EQ(run_program({"analyze", "-h", "--no-such-option", "--steps"}).output, run.output);  // help wins over mistakes
}

struct Mistake {
  std::vector<std::string> words;
  std::vector<const char*> told;
};

TEST(Usage, EveryMistakeIsToldWithWhatWasExpected) {
  const Mistake mistakes[] = {
      {{"analyz"}, {"unknown verb 'analyz'", "did you mean analyze?", "stepscope --help"}},
      {{"frobnicate"}, {"unknown verb 'frobnicate'", "stepscope --help"}},
      {{"--halp"}, {"unknown option '--halp'", "did you mean --help?"}},
      {{"/dev/null"}, {"a verb comes before '/dev/null'", "stepscope analyze /dev/null"}},
      {{"help", "analyse"}, {"unknown verb 'analyse'", "did you mean analyze?"}},
      {{"analyze"}, {"no PATH was given", "stepscope analyze trace.json.gz", "stepscope analyze --help"}},
      {{"analyze", "x", "--stpes", "3"}, {"unknown option --stpes", "did you mean --steps?"}},
      {{"analyze", "x", "--outptu=y"}, {"unknown option --outptu", "did you mean --output?"}},
      {{"analyze", "x", "--steps", "3..5"}, {"--steps 3..5", "all, last, one step (5) or a range of steps (3-5)", "--steps 3-5"}},
      {{"analyze", "x", "--steps", "5-3"}, {"--steps 5-3", "expected"}},
      {{"analyze", "x", "--steps", "-1"}, {"--steps -1", "expected"}},
      {{"analyze", "x", "--steps"}, {"--steps needs a value", "for example"}},
      {{"analyze", "x", "--rank", "first"}, {"--rank first", "a whole number from 0", "--rank 3"}},
      {{"analyze", "x", "--rank=-1"}, {"--rank -1", "a whole number from 0"}},
      {{"analyze", "x", "--rank", "99999999999999999999"}, {"--rank 99999999999999999999", "a whole number"}},
      {{"analyze", "x", "--format", "xml"}, {"--format xml", "text, json or html", "--format json"}},
      {{"analyze", "x", "--top", "many"}, {"--top many", "a whole number of rows", "--top 25"}},
      {{"analyze", "x", "--threads", "0"}, {"--threads 0", "from 1 to 1024"}},
      {{"analyze", "x", "--colour", "red"}, {"--colour red", "auto, always or never"}},
      {{"analyze", "x", "-o", "/no/such/folder/x.json"}, {"/no/such/folder/x.json", "cannot be written", "Make its folder first"}},
      {{"analyze", "x", "-o", "/tmp"}, {"/tmp", "cannot be written", "-o /tmp/report.json"}},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome run = run_program(mistake.words);
    EXPECT_EQ(run.code, 2) << mistake.words.back();
    EXPECT_EQ(run.output, "") << mistake.words.back();
    for (const char* part : mistake.told) EXPECT_TRUE(has(run.error, part)) << part << " in: " << run.error;
    expect_narrow(run.error);
  }
}

}  // namespace
}  // namespace stepscope
