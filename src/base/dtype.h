// Element types as frameworks name them, and tensor shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepscope {

enum class DataType : std::uint8_t {
  unknown,
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  fp4,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  complex64,
  complex128,
  fp8_e8m0 /* a power of two: the scales of block formats */
};
inline constexpr std::size_t data_type_count = 18;

// Understands "float", "c10::BFloat16", "c10::Half", "BFloat16", "Float8_e4m3fn", "c10::Float8_e5m2", "long int", "unsigned char", "Float", "bf16", …
DataType parse_data_type(std::string_view name);
std::string_view data_type_name(DataType type);      // "bf16"
std::optional<double> element_bytes(DataType type);  // 2; 0.5 for fp4; absent for unknown

using Shape = std::vector<std::int64_t>;
// Product of the sizes; 1 for a scalar (empty shape). Absent on a negative size or overflow of int64.
std::optional<std::int64_t> element_count(const Shape& shape);

}  // namespace stepscope
