// Calls as Kineto records them, for the tests of cost/: the members' JSON texts, in the order dims, types, concrete inputs, strides.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cost/operator_cost.h"

namespace stepscope {

inline std::string recorded_detail(std::string_view dims, std::string_view types, std::string_view concrete = {}, std::string_view strides = {}) {
  std::string text = "\"Input Dims\": " + std::string(dims) + ", \"Input type\": " + std::string(types);
  if (!concrete.empty()) text += ", \"Concrete Inputs\": " + std::string(concrete);
  if (!strides.empty()) text += ", \"Input Strides\": " + std::string(strides);
  return text;
}

// The work of a call; absent where there is no formula or the record does not tell.
inline std::optional<Work> work_of(std::string_view name, std::string_view dims, std::string_view types, std::string_view concrete = {},
                                   std::string_view strides = {}) {
  const OperatorCost* cost = find_operator_cost(name);
  if (cost == nullptr) {
    ADD_FAILURE() << name << " has no formula";
    return std::nullopt;
  }
  const std::optional<OperatorCall> call = parse_operator_call(name, recorded_detail(dims, types, concrete, strides));
  if (!call) {
    ADD_FAILURE() << name << ": the record does not parse";
    return std::nullopt;
  }
  return cost->work(*call);
}

// EXPECT that a call costs exactly these; the figures are small enough to be exact in a double.
#define EXPECT_WORK(work, expected_flops, expected_bytes) \
  do {                                                    \
    const std::optional<Work> made = (work);              \
    ASSERT_TRUE(made);                                    \
    EXPECT_EQ(made->flops, (expected_flops));             \
    EXPECT_EQ(made->bytes, (expected_bytes));             \
    EXPECT_FALSE(made->description.empty());              \
  } while (false)

}  // namespace stepscope
