#include "facts/recorded_argument.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(RecordedArgument, FindsValuesOfEveryKind) {
  const std::string_view detail =
      R"("grid": [864,1,1], "Collective name" : "allreduce", "In msg nelems": 2873320 , "note": "a \"b\", c", "o": {"x": [1, "]"]}, "q": "128")";
  EXPECT_EQ(recorded_argument(detail, "grid"), "[864,1,1]");
  EXPECT_EQ(recorded_argument(detail, "Collective name"), "allreduce");
  EXPECT_EQ(recorded_argument(detail, "note"), R"(a \"b\", c)");
  EXPECT_EQ(recorded_argument(detail, "o"), R"({"x": [1, "]"]})");
  EXPECT_EQ(recorded_number(detail, "In msg nelems"), 2873320);
  EXPECT_EQ(recorded_number(detail, "q"), 128);
  EXPECT_EQ(recorded_argument(detail, "x"), std::nullopt) << "a key of an inner object is not an argument";
  EXPECT_EQ(recorded_number(detail, "grid"), std::nullopt);
}

TEST(RecordedArgument, WholeNumbersOnly) {
  EXPECT_EQ(recorded_number(R"("a": 8.0)", "a"), 8);
  EXPECT_EQ(recorded_number(R"("a": 8.5)", "a"), std::nullopt);
  EXPECT_EQ(recorded_number(R"("a": 99999999999999999999)", "a"), std::nullopt);
  EXPECT_EQ(recorded_number(R"("a": -1)", "a"), -1);
}

TEST(RecordedArgument, MalformedTextIsAbsent) {
  for (const std::string_view detail :
       {"", "grid", "\"grid", "\"grid\"", "\"grid\":", "\"grid\": [1,2", "\"grid\": 1]", "\"grid\": \"x", "\"a\" 1, \"grid\": 2", "\"grid\": \"\""})
    EXPECT_EQ(recorded_argument(detail, "grid"), std::nullopt) << detail;
}

}  // namespace
}  // namespace stepscope
