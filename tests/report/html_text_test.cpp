// What a trace may call things, and what of it may stand in a page that is passed on.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <limits>

#include "report/page_text.h"

namespace stepscope {
namespace {

std::string json(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

std::string number(double value) {
  std::string result;
  append_json_number(result, value);
  return result;
}

TEST(PageText, JsonStringsEscapeWhatJsonForbids) {
  EXPECT_EQ(json("gemm"), R"("gemm")");
  EXPECT_EQ(json("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json("a\nb\tc\x01"), R"("a\nb\tc\u0001")");
  EXPECT_EQ(json(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(json("µs – ok"), "\"µs – ok\"");
}

TEST(PageText, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(json("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(json("\xC3"), "\"\xEF\xBF\xBD\"");                                  // cut off
  EXPECT_EQ(json("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // overlong
  EXPECT_EQ(json("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a surrogate
  EXPECT_EQ(json("\xF4\x90\x80\x80").size(), 2 + 4 * 3u);                       // beyond U+10FFFF
  EXPECT_EQ(json("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");                  // a good one stays
}

TEST(PageText, AnyBytesMakeAReadableJsonString) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  all += "</script><!--";
  const std::string text = json(all);
  simdjson::dom::parser parser;
  std::string_view read;
  ASSERT_EQ(parser.parse(text).get(read), simdjson::SUCCESS);
  EXPECT_TRUE(read.ends_with("</script><!--"));
}

TEST(PageText, NumbersKeepTenDigitsAndNoNumberIsNull) {
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(9.895e14), "9.895e+14");
  EXPECT_EQ(number(123456789012.0), "123456789012");
  EXPECT_EQ(number(1.0 / 3), "0.3333333333");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "null");
}

TEST(PageText, ShortenedCutsBetweenCharacters) {
  EXPECT_EQ(shortened("gemm", 10), "gemm");
  EXPECT_EQ(shortened("abcdefghij", 8), "abcde…");
  EXPECT_EQ(shortened("aµµµµ", 7), "aµ…");  // a µ would be halved at byte 4
}

TEST(PageText, AbsolutePathsLoseTheirDirectories) {
  EXPECT_EQ(without_directories("/home/ann/job/train.py(12): main"), "train.py(12): main");
  EXPECT_EQ(without_directories("/scratch/ann/trace.json.gz"), "trace.json.gz");
  EXPECT_EQ(without_directories("cannot read '/data/secret project/rank0.json' at byte 3"), "cannot read 'rank0.json' at byte 3");
  EXPECT_EQ(without_directories("C:\\Users\\ann\\trace.json: byte 7"), "trace.json: byte 7");
  EXPECT_EQ(without_directories("~/runs/trace.json"), "trace.json");
  EXPECT_EQ(without_directories("file:///srv/ann/x.json"), "file://x.json");
  EXPECT_EQ(without_directories("/home/ann"), "~");
  EXPECT_EQ(without_directories("cwd=/home/ann/"), "cwd=…");
  EXPECT_EQ(without_directories("/a/x.py(1): f -> /b/y.py(2): g"), "x.py(1): f -> y.py(2): g");
}

TEST(PageText, WhatIsNoAbsolutePathStays) {
  for (const std::string_view text : {"torch/nn/modules/module.py(1501): _call_impl", "bytes / second", "1/2", "void gemm<int, 4>(float*)", "https://",
                                      "a // b", "/", "<built-in method mm>", "nccl:all_reduce", "Memcpy HtoD (Pageable -> Device)", "aten::add/relu"}) {
    EXPECT_EQ(without_directories(text), text);
  }
}

}  // namespace
}  // namespace stepscope
