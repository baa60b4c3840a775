#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cost/recorded_call.h"

namespace stepscope {
namespace {

TEST(ParseOperatorCall, ReadsTheFourLists) {
  const auto call = parse_operator_call(
      "aten::addmm",
      R"("External id": 7,"Input Dims": [[512], [141, 512], [512, 512], [], []], "Record function id": 0, "Concrete Inputs": ["", "", "", "1", "0.5"], "Input type": ["c10::BFloat16", "c10::BFloat16", "float", "Scalar", ""], "Input Strides": [[1], [512, 1], [1, 512], [], []], "x": {"y": [1, "]"]})");
  ASSERT_TRUE(call);
  ASSERT_EQ(call->arguments.size(), 5u);
  EXPECT_EQ(call->arguments[1].shape, (Shape{141, 512}));
  EXPECT_EQ(call->arguments[2].strides, (Shape{1, 512}));
  EXPECT_EQ(call->arguments[0].type, DataType::bf16);
  EXPECT_EQ(call->arguments[2].type, DataType::fp32);
  EXPECT_TRUE(call->arguments[0].is_tensor);
  EXPECT_FALSE(call->arguments[3].is_tensor);
  EXPECT_EQ(call->arguments[3].type_name, "Scalar");
  EXPECT_EQ(call->arguments[4].concrete, "0.5");
  EXPECT_FALSE(call->arguments[4].is_tensor);
}

TEST(ParseOperatorCall, ListsOfTensorsKeepTheirShapes) {
  const auto call = parse_operator_call(
      "aten::_foreach_add_",
      R"("Input Dims":[[[128,128],[128]],[[128,128],[]],[]],"Input type":["TensorList",["float","long int"],"Scalar"],"Input Strides":[[[128,1],[1]],[],[]])");
  ASSERT_TRUE(call);
  ASSERT_EQ(call->arguments[0].list.size(), 2u);
  EXPECT_EQ(call->arguments[0].list[0].shape, (Shape{128, 128}));
  EXPECT_EQ(call->arguments[0].list[0].strides, (Shape{128, 1}));
  EXPECT_EQ(call->arguments[0].list[0].type, DataType::unknown);
  EXPECT_FALSE(call->arguments[0].is_tensor);
  ASSERT_EQ(call->arguments[1].list.size(), 2u);
  EXPECT_EQ(call->arguments[1].list[1].type, DataType::int64);
}

TEST(ParseOperatorCall, WithoutShapesThereIsNothing) {
  EXPECT_FALSE(parse_operator_call("aten::mm", ""));
  EXPECT_FALSE(parse_operator_call("aten::mm", R"("External id": 3)"));
  EXPECT_FALSE(parse_operator_call("aten::mm", R"("note": "\"Input Dims\"")")) << "the words inside a text are no member";
}

TEST(ParseOperatorCall, MalformedTextIsRefused) {
  for (const char* text :
       {R"("Input Dims": [[1, 2)", R"("Input Dims": [[1, "a"]])", R"("Input Dims": [[1, 2]],,)", R"("Input Dims": [[1 2]])", R"("Input Dims": 5)",
        R"("Input Dims")", R"("Input Dims": [[1, 2]], "Input type": [5])", R"("Input Dims": [[1.5]])", R"("Input Dims": [[99999999999999999999]])",
        R"("Input Dims": [[1]] "x": 1)", R"("Input Dims": [[1]], "x": ])", R"("Input Dims": [[1]], "x": "abc)"})
    EXPECT_FALSE(parse_operator_call("aten::mm", text)) << text;
}

TEST(ParseOperatorCall, DeepNestingNeedsNoStack) {
  const std::string deep(300'000, '[');
  EXPECT_FALSE(parse_operator_call("x", R"("Input Dims": )" + deep));
  EXPECT_FALSE(parse_operator_call("x", R"("y": )" + deep + R"(, "Input Dims": [])"));
}

// No text of JSON's characters makes the parser, or a formula behind it, fail.
RC_GTEST_PROP(ParseOperatorCall, AnyTextIsEitherReadOrRefused, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "[", "]", ",", "\"", "\\", "{", "}", ":", "1", "-7", "9223372036854775807", "\"float\"",
      "\"Input Dims\":", "\"Input type\":", "\"Concrete Inputs\":", "[[2,3],[3,4]]", "[\"float\",\"float\"]", "[\"\",\"[1, 1]\"]", "\"TensorList\"", " "));
  std::string text = "\"Input Dims\": ";
  for (const std::string& piece : pieces) text += piece;
  for (const OperatorCost* cost : all_operator_costs())
    if (const auto call = parse_operator_call(cost->operators[0], text)) {
      const std::optional<Work> work = cost->work(*call);
      RC_ASSERT(!work || work->bytes >= 0);
    }
}

// Shapes of any size, also negative and huge, give an answer or none, never a crash or a hang.
RC_GTEST_PROP(OperatorCosts, AnyShapesEndInAnAnswerOrNone, ()) {
  const auto size = rc::gen::weightedOneOf<std::int64_t>(
      {{5, rc::gen::inRange<std::int64_t>(0, 9)}, {1, rc::gen::element<std::int64_t>(-1, 1'000'000'007, INT64_MAX, INT64_MIN)}});
  const auto shapes = *rc::gen::container<std::vector<std::vector<std::int64_t>>>(6, rc::gen::resize(5, rc::gen::container<std::vector<std::int64_t>>(size)));
  const auto values = *rc::gen::container<std::vector<std::string>>(
      16, rc::gen::element<std::string>("", "1", "0", "-1", "True", "False", "[1, 1]", "[0, 0]", "[2]", "[]", "[True, True, True]", "0.5",
                                        "9223372036854775807", "[9223372036854775807, 1]"));
  std::vector<std::string> dims, types, concrete;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool tensor = i < shapes.size();
    dims.push_back(fmt::format("[{}]", tensor ? fmt::format("{}", fmt::join(shapes[i], ",")) : ""));
    types.push_back(tensor ? "\"float\"" : "\"Scalar\"");
    concrete.push_back(fmt::format("\"{}\"", values[i]));
  }
  const auto list = [](const std::vector<std::string>& texts) { return fmt::format("[{}]", fmt::join(texts, ",")); };
  const std::string detail = recorded_detail(list(dims), list(types), list(concrete));
  for (const OperatorCost* cost : all_operator_costs())
    for (const std::string_view name : cost->operators) {
      const auto call = parse_operator_call(name, detail);
      RC_ASSERT(call.has_value());
      const std::optional<Work> work = cost->work(*call);
      if (work) RC_ASSERT(work->flops >= 0 && work->bytes >= 0);
    }
}

}  // namespace
}  // namespace stepscope
