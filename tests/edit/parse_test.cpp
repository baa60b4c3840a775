#include <gtest/gtest.h>

#include <rapidcheck.h>

#include "edit/edit.h"
#include "edit/words.h"
#include "temporary_folder.h"

namespace stepscope {
namespace {

std::string error_of(std::string_view text) {
  const Result<Edit> edit = parse_edit(text);
  return edit ? "(no error)" : edit.error().message();
}

TEST(ParseEdit, KindAndParameters) {
  const Result<Edit> edit = parse_edit("scale name=gemm* by=0.5");
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->kind, "scale");
  EXPECT_EQ(edit->parameters.at("name"), "gemm*");
  EXPECT_EQ(edit->parameters.at("by"), "0.5");
  EXPECT_EQ(edit->parameters.size(), 2u);
  EXPECT_EQ(edit_text(*edit), "scale by=0.5 name=gemm*");
}

TEST(ParseEdit, CommasBlanksAndQuotes) {
  const Result<Edit> edit = parse_edit("  remove,name=\"void f<int, float>(a \\\"b\\\")\" ,  phase=forward ");
  ASSERT_TRUE(edit) << edit.error().message();
  EXPECT_EQ(edit->parameters.at("name"), "void f<int, float>(a \"b\")");
  EXPECT_EQ(edit->parameters.at("phase"), "forward");
  EXPECT_EQ(parse_edit(edit_text(*edit))->parameters, edit->parameters);
}

TEST(ParseEdit, MistakesAreToldWithWhatWasExpected) {
  EXPECT_NE(error_of("").find("an edit is empty"), std::string::npos);
  EXPECT_NE(error_of("scael name=a by=2").find("there is no edit 'scael'\n  known: balance, data_loading"), std::string::npos);
  EXPECT_NE(error_of("scale name=a").find("the edit scale needs by= (factor on the duration)"), std::string::npos);
  EXPECT_NE(error_of("scale by=2").find("does not say which operations"), std::string::npos);
  EXPECT_NE(error_of("scale name=a by=2 colour=red").find("the edit scale does not know colour=\n  it knows by=, name="), std::string::npos);
  EXPECT_NE(error_of("scale name=a name=b by=2").find("name= is given twice"), std::string::npos);
  EXPECT_NE(error_of("scale name=a by").find("'by' in the edit"), std::string::npos);
  EXPECT_NE(error_of("scale name=\"a by=2").find("quote is not closed"), std::string::npos);
  EXPECT_NE(error_of("scale name= by=2").find("name= of the edit scale has no value"), std::string::npos);
  EXPECT_NE(error_of("scale phase=sideways by=2").find("known: forward, backward, optimizer, data, other"), std::string::npos);
  EXPECT_NE(error_of("balance rank=3").find("does not know rank="), std::string::npos);
}

TEST(ParseEdit, WhatWasWrittenIsReadAgain) {
  rc::check([](const std::string& value) {
    if (value.empty() || value.find('\0') != std::string::npos) return;
    const Edit edit{.kind = "remove", .parameters = {{"name", value}}, .operations = std::nullopt};
    const Result<Edit> again = parse_edit(edit_text(edit));
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->parameters == edit.parameters);
  });
}

TEST(ParseEdit, AnyTextIsReadOrRefused) {
  rc::check([](const std::string& text) {
    const Result<Edit> edit = parse_edit(text);
    if (!edit) RC_ASSERT(!edit.error().problem.empty());
  });
}

TEST(Words, Durations) {
  EXPECT_EQ(read_duration("12us"), 12'000);
  EXPECT_EQ(read_duration("1.5 ms"), 1'500'000);
  EXPECT_EQ(read_duration("0"), 0);
  EXPECT_EQ(read_duration("7ns"), 7);
  EXPECT_EQ(read_duration("2s"), 2'000'000'000);
  for (const char* wrong : {"12", "us", "-1us", "1e300s", "nanus", "1 parsec", "infs", ""}) EXPECT_EQ(read_duration(wrong), std::nullopt) << wrong;
}

TEST(Words, FactorsAmountsAndCounts) {
  EXPECT_EQ(read_factor("0.5"), 0.5);
  EXPECT_EQ(read_factor("50%"), 0.5);
  EXPECT_EQ(read_factor("-1"), std::nullopt);
  EXPECT_EQ(read_factor("nan"), std::nullopt);
  EXPECT_EQ(read_bytes("25MB"), 25e6);
  EXPECT_EQ(read_bytes("1KiB"), 1024.0);
  EXPECT_EQ(read_bytes("1 furlong"), std::nullopt);
  EXPECT_EQ(read_count("4"), 4);
  EXPECT_EQ(read_count("0"), std::nullopt);
  EXPECT_EQ(read_count("4.5"), std::nullopt);
}

TEST(Words, Globs) {
  EXPECT_TRUE(Glob("gemm*").matches("GEMM_128"));
  EXPECT_FALSE(Glob("gemm*").matches("a_gemm"));
  EXPECT_TRUE(Glob("*a*b?c").matches("xxaxxbbxbyc"));
  EXPECT_FALSE(Glob("a?c").matches("ac"));
  EXPECT_TRUE(Glob("x|relu|y").matches("relu"));
  EXPECT_TRUE(Glob("*").matches(""));
  EXPECT_FALSE(Glob("").matches("a"));
  EXPECT_EQ(Glob("*Flash*_fwd").longest_literal(), "flash");
  // No pattern takes longer than its length times the text's.
  const std::string text(20'000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(Glob(pattern + "b").matches(text));
}

class EditFile : public testing::Test {
 protected:
  std::string error(const std::string& yaml) {
    const auto edits = read_edits(folder_.write("edits.yaml", yaml));
    return edits ? "(no error)" : edits.error().message();
  }
  TemporaryFolder folder_;
};

TEST_F(EditFile, ListOfMappings) {
  const auto edits = read_edits(folder_.write("edits.yaml", "edits:\n  - edit: scale\n    name: [gemm*, '*cutlass*']\n    by: 0.5\n  - {edit: balance}\n"));
  ASSERT_TRUE(edits) << edits.error().message();
  ASSERT_EQ(edits->size(), 2u);
  EXPECT_EQ(edit_text(edits->at(0)), "scale by=0.5 name=gemm*|*cutlass*");
  EXPECT_EQ(edits->at(1).kind, "balance");
}

TEST_F(EditFile, Mistakes) {
  EXPECT_NE(error("").find("does not hold `edits:`"), std::string::npos);
  EXPECT_NE(error("edits: []").find("nothing to change"), std::string::npos);
  EXPECT_NE(error("edits: [3]").find("edit 1: is not a mapping"), std::string::npos);
  EXPECT_NE(error("edits: [{name: a}]").find("edit 1: does not say `edit: KIND`"), std::string::npos);
  EXPECT_NE(error("edits: [{edit: scale, name: a, by: {x: 1}}]").find("'by' must be one value"), std::string::npos);
  EXPECT_NE(error("edits: [{edit: balance}, {edit: nonsense}]").find("edit 2: there is no edit 'nonsense'"), std::string::npos);
  EXPECT_NE(error("edits: [{edit: balance}]\nother: 1").find("another key"), std::string::npos);
  EXPECT_NE(error("edits: [").find("not YAML"), std::string::npos);
  const auto missing = read_edits("/no/such/file.yaml");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("there is no such file"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
