#include "verbs/patterns.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace stepscope {
namespace {

std::string problem_of(std::string_view yaml) {
  const auto patterns = parse_patterns(yaml, "kernels.yaml");
  return patterns ? std::string("(accepted)") : patterns.error().message();
}

TEST(Patterns, AListOrAMapOfOne) {
  for (const char* yaml : {"- name: ^my_ring\n  class: communication\n  category: ring\n- {name: fused, class: compute}\n",
                           "patterns:\n  - name: ^my_ring\n    class: communication\n    category: ring\n  - {name: fused, class: compute}\n"}) {
    const auto patterns = parse_patterns(yaml, "kernels.yaml");
    ASSERT_TRUE(patterns) << patterns.error().message();
    ASSERT_EQ(patterns->size(), 2u);
    EXPECT_EQ((*patterns)[0].expression, "^my_ring");
    EXPECT_EQ((*patterns)[0].activity, ActivityClass::communication);
    EXPECT_EQ((*patterns)[0].category, "ring");
    EXPECT_EQ((*patterns)[1].activity, ActivityClass::compute);
    EXPECT_EQ((*patterns)[1].category, "");
  }
  EXPECT_TRUE(parse_patterns("[]", "kernels.yaml"));
}

TEST(Patterns, MistakesAreNamedWithTheirLine) {
  EXPECT_NE(problem_of("- name: x\n  class: computing\n").find("line 2: no class is called \"computing\""), std::string::npos);
  EXPECT_NE(problem_of("- name: x\n- name: y\n  class: compute\n").find("line 1: the pattern has no `class`"), std::string::npos);
  EXPECT_NE(problem_of("- class: compute\n").find("has no `name`"), std::string::npos);
  EXPECT_NE(problem_of("- name: x\n  class: compute\n  colour: red\n").find("line 3: no key is called \"colour\""), std::string::npos);
  EXPECT_NE(problem_of("- name: \"(\"\n  class: compute\n").find("is no regular expression"), std::string::npos);
  EXPECT_NE(problem_of("- just text\n").find("to be a map"), std::string::npos);
  EXPECT_NE(problem_of("text").find("a list of patterns was expected"), std::string::npos);
  EXPECT_NE(problem_of("- name: [1, 2]\n  class: compute\n").find("to be text"), std::string::npos);
  EXPECT_NE(problem_of("- name: x\n class: {").find("kernels.yaml: line"), std::string::npos);
  EXPECT_NE(problem_of("").find("a list of patterns was expected"), std::string::npos);
}

TEST(Patterns, FilesThatCannotBeRead) {
  const auto absent = read_patterns("/no/such/file.yaml");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message().find("/no/such/file.yaml: cannot be read"), std::string::npos);
  const TemporaryFolder folder;
  const auto folder_itself = read_patterns(folder.path());
  EXPECT_FALSE(folder_itself);
  const auto read = read_patterns(folder.write("kernels.yaml", "- {name: x, class: memory}\n"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->front().activity, ActivityClass::memory);
}

}  // namespace
}  // namespace stepscope
