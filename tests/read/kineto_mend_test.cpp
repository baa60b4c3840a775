#include "read/kineto_mend.h"

#include <gtest/gtest.h>

#include <string>

namespace stepscope {
namespace {

struct Mended {
  Lex found;
  std::string text;
  Repairs repairs;
  std::size_t used;
};

Mended mend(std::string_view text) {
  Mended result;
  const char* at = text.data();
  result.found = mend_event(at, text.data() + text.size(), 0, result.text, result.repairs);
  result.used = static_cast<std::size_t>(at - text.data());
  return result;
}

TEST(KinetoMend, UnescapedQuotesAndLineBreaks) {
  const Mended mended = mend("{\"ph\": \"X\", \"name\": \"lib = Library(\"_demo\", \"IMPL\")\n(1): <module>\", \"pid\": 1000} ,");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, R"~({"ph": "X", "name": "lib = Library(\"_demo\", \"IMPL\")\n(1): <module>", "pid": 1000})~");
  EXPECT_EQ(mended.repairs.count(Repair::damaged_string), 1u);
}

TEST(KinetoMend, AQuoteBeforeACommaAndAnotherQuotedWord) {
  const Mended mended = mend(R"~({"name": "f("a", "b")", "ts": 1},)~");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, R"~({"name": "f(\"a\", \"b\")", "ts": 1})~");
}

TEST(KinetoMend, BackslashesThatAreNoEscapes) {
  // \d is no escape, so \n is not one either; the last backslash swallows the closing quote.
  const Mended mended = mend(R"~({"name": "C:\dir\new\", "pid": 1, "args": {"f": "D:\x\", "g": 2}},)~");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, R"~({"name": "C:\\dir\\new\\", "pid": 1, "args": {"f": "D:\\x\\", "g": 2}})~");
  EXPECT_EQ(mended.repairs.count(Repair::damaged_string), 2u);
}

TEST(KinetoMend, BytesThatAreNoTextAreReplaced) {
  const Mended mended = mend("{\"name\": \"a\xFF\xFE\x1F z\xC3\xA9\", \"ts\": 1},");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, "{\"name\": \"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD z\xC3\xA9\", \"ts\": 1}");
  EXPECT_EQ(mended.repairs.count(Repair::invalid_utf8), 1u);
  EXPECT_EQ(mended.repairs.count(Repair::damaged_string), 0u);
  EXPECT_EQ(mend("{\"name\": \"a\\ud800b\"},").text, "{\"name\": \"a\\ufffdb\"}");
}

TEST(KinetoMend, WordsThatAreNoNumbers) {
  const Mended mended =
      mend(R"~({"a": NaN, "b": Infinity, "c": -nan, "d": -inf, "e": [nan(ind), 1], "f": .5, "g": ncclFloat32, h: 0x7f, "i": true, "j": None},)~");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, R"~({"a": null, "b": null, "c": null, "d": null, "e": [null, 1], "f": ".5", "g": "ncclFloat32", "h": "0x7f", "i": true, "j": null})~");
  EXPECT_EQ(mended.repairs.count(Repair::not_a_number), 6u);
  EXPECT_EQ(mended.repairs.count(Repair::quoted_number), 1u);
  EXPECT_EQ(mended.repairs.count(Repair::unquoted_word), 3u);
}

TEST(KinetoMend, CommasAndValuesThatAreMissing) {
  const Mended mended = mend(R"~({"ph": "X" "pid": 1, , "tid": , "args": {"x": 1 "y": 2,}, "ts": 3,},)~");
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.text, R"~({"ph": "X", "pid": 1, "tid": null, "args": {"x": 1, "y": 2}, "ts": 3})~");
  EXPECT_EQ(mended.repairs.count(Repair::missing_comma), 2u);
}

TEST(KinetoMend, WhatIsNestedTooDeepIsLeftOut) {
  const std::string deep = "{\"args\": {\"x\": " + std::string(200, '[') + "1" + std::string(200, ']') + "}, \"ts\": 1},";
  const Mended mended = mend(deep);
  ASSERT_EQ(mended.found, Lex::ok);
  EXPECT_EQ(mended.repairs.count(Repair::deep_nesting), 1u);
  EXPECT_EQ(mended.text, "{\"args\": {\"x\": " + std::string(63, '[') + "null" + std::string(63, ']') + "}, \"ts\": 1}");
}

TEST(KinetoMend, SaysWhenTheTextEndsOrMakesNoSense) {
  EXPECT_EQ(mend(R"~({"name": "a"b)~").found, Lex::more);
  EXPECT_EQ(mend(R"~({"name": "a")~").found, Lex::more);
  EXPECT_EQ(mend(R"~({"name": "a"})~").found, Lex::more);  // whether the brace belongs to the string shows only behind it
  EXPECT_EQ(mend(R"~({"name" "a"},)~").found, Lex::bad);
  EXPECT_EQ(mend("{\"name\": \"" + std::string(100'000, 'a') + "\n\"},").found, Lex::bad);  // no string is that long
}

TEST(KinetoMend, FindsTheNextEvent) {
  const std::string text = R"~(x", "args": {"name": 1}}, {"q": 1}, [{"ph": "X"}]  {"pid" : 2)~";
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  char before = 'x';
  const char* event = find_event(at, end, before);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(std::string_view(event, 11), R"~({"ph": "X"})~");
  at = event + 1;
  before = '{';
  EXPECT_EQ(find_event(at, end, before), nullptr);  // a bracket stands before the last one: the list has ended
  const std::string two = R"~([{"ph": "X"}, {"ts": 1, "args": {"name": 1}}, {"ph)~";
  EXPECT_EQ(find_last_event(two.data(), two.data() + two.size()) - two.data(), 14);
  EXPECT_EQ(find_last_event(two.data(), two.data() + 18), nullptr);  // of the second one no key is to be seen yet
}

}  // namespace
}  // namespace stepscope
