#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <simdjson.h>

#include <limits>

namespace stepscope {
namespace {

std::string written(std::string_view text) {
  JsonWriter json;
  json.value(text);
  return json.take();
}

TEST(JsonWriter, Containers) {
  JsonWriter json;
  json.begin_object();
  json.key("a");
  json.value(std::int64_t{-1});
  json.key("b");
  json.begin_array();
  json.value(true);
  json.null();
  json.value(0.5);
  json.begin_object();
  json.end_object();
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.text(), R"({"a": -1, "b": [true, null, 0.5, {}]})");
}

TEST(JsonWriter, OneMemberPerLine) {
  JsonWriter json;
  json.begin_array(true);
  json.value("x");
  json.begin_object(true);
  json.end_object();
  json.end_array();
  EXPECT_EQ(json.text(), "[\n \"x\",\n {}\n]");
}

TEST(JsonWriter, Escapes) {
  EXPECT_EQ(written("quote \" backslash \\ line\nend\ttab"), R"("quote \" backslash \\ line\nend\ttab")");
  EXPECT_EQ(written(std::string_view("\0\x01\x1F", 3)), R"("\u0000\u0001\u001f")");
  EXPECT_EQ(written("µs 日本 😀"), "\"µs 日本 😀\"");
}

TEST(JsonWriter, BrokenBytesAreReplaced) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(written("a\xFF"
                    "b"),
            "\"a" + r + "b\"");
  EXPECT_EQ(written("\xC0\xAF"), "\"" + r + r + "\"");                  // overlong
  EXPECT_EQ(written("\xED\xA0\x80"), "\"" + r + r + r + "\"");          // a surrogate
  EXPECT_EQ(written("\xF4\x90\x80\x80"), "\"" + r + r + r + r + "\"");  // above U+10FFFF
  EXPECT_EQ(written("\xE6\x97"), "\"" + r + r + "\"");                  // ends early
}

TEST(JsonWriter, NumbersThatJsonCannotHold) {
  JsonWriter json;
  json.begin_array();
  json.value(std::numeric_limits<double>::quiet_NaN());
  json.value(std::numeric_limits<double>::infinity());
  json.value(std::numeric_limits<std::int64_t>::min());
  json.end_array();
  EXPECT_EQ(json.text(), "[null, null, -9223372036854775808]");
}

TEST(JsonWriter, AnyBytesAndNumbersReadBack) {
  EXPECT_TRUE(rc::check("what is written is valid JSON in valid UTF-8 and reads back as it was", [] {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    const double number = *rc::gen::arbitrary<double>();
    JsonWriter json;
    json.begin_object();
    json.key(bytes);
    json.value(bytes);
    json.key("number");
    json.value(number);
    json.end_object();
    RC_ASSERT(simdjson::validate_utf8(json.text()));
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    RC_ASSERT(parser.parse(json.text()).get(document) == simdjson::SUCCESS);
    double read = 0;
    RC_ASSERT(document["number"].get(read) == simdjson::SUCCESS);
    RC_ASSERT(read == number);
    std::string_view text;
    for (const auto member : simdjson::dom::object(document)) {
      if (member.key == "number" || member.value.get(text) != simdjson::SUCCESS) continue;
      if (simdjson::validate_utf8(bytes)) RC_ASSERT(text == bytes);
    }
  }));
}

}  // namespace
}  // namespace stepscope
