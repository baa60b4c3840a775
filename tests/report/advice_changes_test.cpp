// Advice as changes to apply: only what is known to help stands in the script as a command.
#include "report/advice_changes.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "advise/advice_section.h"
#include "report/sections.h"

namespace stepscope {
namespace {

constexpr Rule rule{.name = "mem.example", .help = "", .guard = "", .source = "", .detect = nullptr};

Advice advice(std::string_view variable, Confidence confidence, std::optional<double> gain) {
  Advice one;
  one.rule = &rule;
  one.finding.title = "Something";
  one.finding.observation = "It was seen.";
  one.finding.evidence = {SliceId{17}, SliceId{3}};
  one.finding.changes = {{"environment", Change::Form::environment, std::string(variable) + "=1"}, {"PyTorch", Change::Form::code, "model.eval()"}};
  one.finding.confidence = confidence;
  one.finding.would_settle = "A run of it.";
  if (!gain) one.finding.unknown = "Nothing tells.";
  one.gain_ns = gain;
  one.alone_ns = 2e6;
  if (gain == 0) one.caveats = {"What it would save, the ones above save already."};
  return one;
}

AdviceList list() {
  return {.step_ns = 100e6,
          .after_all_ns = 95e6,
          .advice = {advice("SURE", Confidence::high, 5e6), advice("MAYBE", Confidence::low, 4e6), advice("DONE", Confidence::high, 0),
                     advice("UNKNOWN", Confidence::high, {})}};
}

TEST(AdviceEnvironment, ExportsWhatIsSureAndKeepsTheRestAsComments) {
  const std::string script = advice_environment(list());
  EXPECT_NE(script.find("\nexport SURE=1\n"), std::string::npos) << script;
  for (const char* name : {"MAYBE", "DONE", "UNKNOWN"}) EXPECT_NE(script.find(std::string("\n# export ") + name + "=1\n"), std::string::npos) << script;
  EXPECT_NE(script.find("−5.00 ms per step (5.0 %)"), std::string::npos) << script;
  EXPECT_NE(script.find("nothing more than the ones above save already"), std::string::npos) << script;
  EXPECT_NE(script.find("gain not known"), std::string::npos) << script;
  EXPECT_NE(script.find("# Confidence: low. To be sure: A run of it."), std::string::npos) << script;
  EXPECT_EQ(script.find("0 ns"), std::string::npos) << script;
  std::size_t at = 0;
  while (at < script.size()) {  // a shell that reads it does nothing but export
    const std::size_t end = script.find('\n', at);
    const std::string line = script.substr(at, end - at);
    EXPECT_TRUE(line.empty() || line.starts_with("#") || line.starts_with("export ")) << line;
    at = end + 1;
  }
}

TEST(AdviceYaml, NamesItsEvidenceAndCaveats) {
  const YAML::Node yaml = YAML::Load(advice_yaml(list()));
  ASSERT_EQ(yaml["advice"].size(), 4u);
  EXPECT_EQ(yaml["advice"][0]["gain_ns"].as<std::int64_t>(), 5'000'000);
  EXPECT_EQ(yaml["advice"][0]["alone_ns"].as<std::int64_t>(), 2'000'000);
  EXPECT_EQ(yaml["advice"][0]["slices"].as<std::vector<int>>(), (std::vector<int>{17, 3}));
  EXPECT_EQ(yaml["advice"][1]["confidence"].as<std::string>(), "low");
  EXPECT_EQ(yaml["advice"][2]["caveats"][0].as<std::string>(), "What it would save, the ones above save already.");
  EXPECT_TRUE(yaml["advice"][3]["gain_ns"].IsNull());
}

TEST(AdviceMarkdown, NamesItsEvidence) {
  const std::string page = advice_markdown(list());
  EXPECT_NE(page.find("Seen in slices 17, 3."), std::string::npos) << page;
  EXPECT_NE(page.find("Confidence: low. To be sure: A run of it."), std::string::npos) << page;
}

TEST(AdviceJson, EvidenceIsAnArrayOfNumbers) {
  const std::string json = sections_json({.title = "", .schema = "stepscope.advice/1", .sections = {advice_section(list())}});
  EXPECT_NE(json.find("\"slices\": [17, 3]"), std::string::npos) << json;
}

}  // namespace
}  // namespace stepscope
