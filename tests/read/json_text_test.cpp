#include "read/json_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <simdjson.h>

#include <string>

namespace stepscope {
namespace {

Lex lex(std::string_view text, JsonValue& value) {
  const char* at = text.data();
  return lex_value(at, text.data() + text.size(), value);
}

Lex lex(std::string_view text) {
  JsonValue value;
  return lex(text, value);
}

TEST(JsonText, FindsValues) {
  JsonValue value;
  ASSERT_EQ(lex(R"({"a": [1, 2.5e-3, "x\"y"], "b": null} tail)", value), Lex::ok);
  EXPECT_EQ(value.type, JsonValue::Type::object);
  EXPECT_EQ(value.text, R"({"a": [1, 2.5e-3, "x\"y"], "b": null})");
  ASSERT_EQ(lex("-12.5,", value), Lex::ok);
  EXPECT_EQ(value.text, "-12.5");
  ASSERT_EQ(lex("\"\"", value), Lex::ok);
  EXPECT_EQ(value.inside(), "");
  ASSERT_EQ(lex("null", value), Lex::ok);
  EXPECT_TRUE(value.is_null());
}

TEST(JsonText, TellsTheEndOfTheBufferFromAnError) {
  for (const char* text :
       {"{\"a\": [1, 2", "\"abc", "\"abc\\", "\"abc\\u12", "tru", "12", "-", "1.", "1e", "[", "{", "{\"a\"", "{\"a\":", "\"\xC3", "\"\\ud83d"})
    EXPECT_EQ(lex(text), Lex::more) << text;
  for (const char* text : {"}",
                           "]",
                           "[1 2]",
                           "[1,]",
                           "{\"a\" 1}",
                           "{\"a\": 1,}",
                           "{1: 2}",
                           "[01]",
                           "+1,",
                           ".5,",
                           "1.x",
                           "nul!",
                           "NaN,",
                           "-nan,",
                           "\"a\nb\"",
                           "\"\\q\"",
                           "\"\\u12g4\"",
                           "\"\\udc00\"",
                           "\"\\ud83dx    \"",
                           "\"\xFF\"",
                           "\"\xC0\x80\"",
                           "\"\xED\xA0\x80\"",
                           "[}",
                           "{]",
                           "[1}"})
    EXPECT_EQ(lex(text), Lex::bad) << text;
}

TEST(JsonText, NestsOnlySoDeep) {
  EXPECT_EQ(lex(std::string(64, '[') + std::string(64, ']')), Lex::ok);
  EXPECT_EQ(lex(std::string(65, '[') + std::string(65, ']')), Lex::bad);
  EXPECT_EQ(lex(std::string(1 << 20, '[')), Lex::bad);
}

TEST(JsonText, DecodesEscapes) {
  std::string text;
  decode_string(R"(a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00)", text);
  EXPECT_EQ(text, "a\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(JsonText, WalksMembersAndElements) {
  JsonValue object;
  ASSERT_EQ(lex(R"( {"a" : 1 ,"b":[ "x" , [2] ]})", object), Lex::bad);  // a value begins without spaces
  ASSERT_EQ(lex(R"({"a" : 1 ,"b":[ "x" , [2] ]})", object), Lex::ok);
  JsonMembers members(object.text);
  std::string_view key;
  JsonValue value;
  ASSERT_TRUE(members.next(key, value));
  EXPECT_EQ(key, "a");
  EXPECT_EQ(value.text, "1");
  ASSERT_TRUE(members.next(key, value));
  EXPECT_EQ(key, "b");
  JsonElements elements(value.text);
  ASSERT_TRUE(elements.next(value));
  EXPECT_EQ(value.text, "\"x\"");
  ASSERT_TRUE(elements.next(value));
  EXPECT_EQ(value.text, "[2]");
  EXPECT_FALSE(elements.next(value));
  EXPECT_FALSE(members.next(key, value));
}

// Against an independent parser: whatever bytes are put into some JSON, both take it or neither does.
TEST(JsonText, AgreesWithSimdjsonOnWhatIsJson) {
  const std::string original = R"({"name": "a\u00e9\"b", "args": {"x": [1, -2.5e+3, true, null, [], {}], "y": "é\\"}, "ts": 12.250})";
  int accepted = 0;
  rc::check([&] {
    std::string text = original;
    const int changes = *rc::gen::inRange(0, 3);
    for (int i = 0; i < changes; ++i) {
      const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          text[place] =
              *rc::gen::element<char>('"', '\\', '{', '}', '[', ']', ',', ':', '0', '9', '-', '.', 'e', 'n', ' ', '\n', 'u', 'd', '\x01', '\x80', '\xFF');
          break;
        case 1:
          text.erase(place, *rc::gen::inRange<std::size_t>(1, 4));
          break;
        default:
          text.insert(place, 1, *rc::gen::element<char>('"', '\\', '{', '}', '[', ']', ',', ':', '0', '1', '-', ' '));
      }
    }
    simdjson::dom::parser parser;
    const bool theirs = parser.parse(text).error() == simdjson::SUCCESS;
    JsonValue value;
    const char* at = skip_space(text.data(), text.data() + text.size());
    const std::string padded = std::string(at, static_cast<std::size_t>(text.data() + text.size() - at)) + " ";  // a number's end shows only behind it
    at = padded.data();
    const bool ours =
        lex_value(at, padded.data() + padded.size(), value) == Lex::ok && skip_space(at, padded.data() + padded.size()) == padded.data() + padded.size();
    RC_ASSERT(ours == theirs);
    accepted += ours;
  });
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace stepscope
