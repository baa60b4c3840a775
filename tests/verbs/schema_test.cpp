// docs/analysis-schema.md lists every key that the JSON report holds: of the bundled example and of every trace and damaged input in ../shared.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "verbs/stepscope.h"

namespace stepscope {
namespace {

// "section|key" of each row of the tables below a "### `section`" heading.
std::set<std::string> documented_keys() {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/docs/analysis-schema.md");
  std::set<std::string> keys;
  std::string line, section;
  while (std::getline(file, line)) {
    if (line.starts_with("### `")) section = line.substr(5, line.find('`', 5) - 5);
    if (line.starts_with("| `") && !section.empty()) keys.insert(section + "|" + line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

void collect(const std::vector<Section>& sections, std::set<std::string>& keys) {
  for (const Section& section : sections) {
    const bool is_array = section.figures.empty() && section.tables.size() == 1 && section.tables.front().key == section.key;
    for (const Figure& figure : section.figures) keys.insert(section.key + "|" + figure.key);
    for (const Table& table : section.tables)
      for (const ColumnHeader& column : table.columns) keys.insert(section.key + "|" + (is_array ? "" : table.key) + "[]." + column.key);
  }
}

void collect(const std::string& path, std::set<std::string>& keys) {
  AnalyzeOptions options;
  options.paths = {path};
  const Result<Analysis> analysis = analyze(options);
  if (!analysis) return;  // refusals have no report
  collect(analysis->findings.sections, keys);
  for (const RankFindings& rank : analysis->findings.ranks) {
    collect(rank.sections, keys);
    for (const DeviceFindings& device : rank.devices) collect(device.sections, keys);
  }
}

void expect_documented(const std::set<std::string>& keys) {
  const std::set<std::string> documented = documented_keys();
  ASSERT_GT(documented.size(), 100u);
  for (const std::string& key : keys) EXPECT_TRUE(documented.contains(key)) << "docs/analysis-schema.md lacks " << key;
}

TEST(Schema, HoldsEveryKeyOfTheBundledExample) {
  std::set<std::string> keys;
  collect(STEPSCOPE_SOURCE_DIR "/examples/gpt_training_step.generated.json.gz", keys);
  ASSERT_GT(keys.size(), 100u);
  expect_documented(keys);
}

TEST(Schema, HoldsEveryKeyOfRealAndDamagedTraces) {
  if (!std::filesystem::exists(STEPSCOPE_SHARED_DIR "/traces")) GTEST_SKIP() << "no ../shared/traces";
  std::set<std::string> keys;
  for (const char* folder : {"/traces", "/faults"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(STEPSCOPE_SHARED_DIR) + folder)) collect(entry.path().string(), keys);
  expect_documented(keys);
}

// What the document promises and nothing ever writes would be as misleading as what it leaves out.
TEST(Schema, PromisesNothingThatNoInputShows) {
  if (!std::filesystem::exists(STEPSCOPE_SHARED_DIR "/traces")) GTEST_SKIP() << "no ../shared/traces";
  std::set<std::string> keys;
  collect(STEPSCOPE_SOURCE_DIR "/examples/gpt_training_step.generated.json.gz", keys);
  for (const char* folder : {"/traces", "/faults"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(STEPSCOPE_SHARED_DIR) + folder)) collect(entry.path().string(), keys);
  for (const std::string& key : documented_keys()) EXPECT_TRUE(keys.contains(key)) << "docs/analysis-schema.md has " << key;
}

}  // namespace
}  // namespace stepscope
