// docs/advice.md lists every rule with what it finds and where its thresholds come from.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "advise/rule.h"

namespace stepscope {
namespace {

TEST(AdviceDocument, ListsEveryRule) {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/docs/advice.md", std::ios::binary);
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  for (const Rule* rule : all_rules()) {
    std::string row = "| `";
    for (const std::string_view part :
         {rule->name, std::string_view("` | "), rule->help, std::string_view(" | "), rule->guard, std::string_view(" | "), rule->source})
      row += part;
    EXPECT_NE(document.find(row), std::string::npos) << "docs/advice.md lacks: " << row;
  }
  EXPECT_GE(all_rules().size(), 60u);
}

}  // namespace
}  // namespace stepscope
