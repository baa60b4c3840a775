#include "base/dtype.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(DataType, NamesOfKinetoNcclAndNumpyAreUnderstood) {
  EXPECT_EQ(parse_data_type("c10::BFloat16"), DataType::bf16);
  EXPECT_EQ(parse_data_type("BFloat16"), DataType::bf16);
  EXPECT_EQ(parse_data_type("torch.bfloat16"), DataType::bf16);
  EXPECT_EQ(parse_data_type("c10::Half"), DataType::fp16);
  EXPECT_EQ(parse_data_type("float"), DataType::fp32);
  EXPECT_EQ(parse_data_type("long int"), DataType::int64);
  EXPECT_EQ(parse_data_type("unsigned char"), DataType::uint8);
  EXPECT_EQ(parse_data_type("c10::Float8_e4m3fnuz"), DataType::fp8_e4m3);
  EXPECT_EQ(parse_data_type("c10::Float8_e5m2"), DataType::fp8_e5m2);
  EXPECT_EQ(parse_data_type("c10::complex<float>"), DataType::complex64);
}

TEST(DataType, WhatIsNoElementTypeIsUnknown) {
  for (const char* name : {"", "Scalar", "TensorList", "ScalarList", "c10::", "floatish"}) EXPECT_EQ(parse_data_type(name), DataType::unknown) << name;
  EXPECT_FALSE(element_bytes(DataType::unknown));
}

TEST(DataType, EveryKnownTypeHasASizeAndANameThatIsUnderstoodAgain) {
  for (std::size_t i = 1; i < data_type_count; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(data_type_name(type)), type) << data_type_name(type);
    ASSERT_TRUE(element_bytes(type)) << data_type_name(type);
    EXPECT_GT(*element_bytes(type), 0);
  }
  EXPECT_EQ(element_bytes(DataType::fp4), 0.5);
  EXPECT_EQ(element_bytes(DataType::complex128), 16);
}

TEST(ElementCount, IsTheProductOrAbsent) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({141, 512}), 141 * 512);
  EXPECT_EQ(element_count({7, 0, 3}), 0);
  EXPECT_FALSE(element_count({4, -1}));
  EXPECT_FALSE(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}));
}

}  // namespace
}  // namespace stepscope
