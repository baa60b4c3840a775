#include "base/dtype.h"

#include <algorithm>
#include <array>

namespace stepscope {

namespace {

struct Spelling {
  std::string_view name;
  DataType type;
};

// C++ names (Kineto), PyTorch's scalar type names (NCCL arguments, execution traces), NumPy-like and our own names. Namespaces are cut off first.
constexpr Spelling spellings[] = {
    {"double", DataType::fp64},
    {"Double", DataType::fp64},
    {"float64", DataType::fp64},
    {"fp64", DataType::fp64},
    {"float", DataType::fp32},
    {"Float", DataType::fp32},
    {"float32", DataType::fp32},
    {"fp32", DataType::fp32},
    {"tf32", DataType::tf32},
    {"TFloat32", DataType::tf32},
    {"Half", DataType::fp16},
    {"half", DataType::fp16},
    {"float16", DataType::fp16},
    {"fp16", DataType::fp16},
    {"BFloat16", DataType::bf16},
    {"bfloat16", DataType::bf16},
    {"bf16", DataType::bf16},
    {"Float8_e4m3fn", DataType::fp8_e4m3},
    {"Float8_e4m3fnuz", DataType::fp8_e4m3},
    {"float8_e4m3fn", DataType::fp8_e4m3},
    {"float8_e4m3fnuz", DataType::fp8_e4m3},
    {"fp8_e4m3", DataType::fp8_e4m3},
    {"fp8", DataType::fp8_e4m3},
    {"Float8_e5m2", DataType::fp8_e5m2},
    {"Float8_e5m2fnuz", DataType::fp8_e5m2},
    {"float8_e5m2", DataType::fp8_e5m2},
    {"float8_e5m2fnuz", DataType::fp8_e5m2},
    {"fp8_e5m2", DataType::fp8_e5m2},
    {"Float8_e8m0fnu", DataType::fp8_e8m0},
    {"float8_e8m0fnu", DataType::fp8_e8m0},
    {"fp8_e8m0", DataType::fp8_e8m0},
    {"Float4_e2m1fn_x2", DataType::fp4},
    {"float4_e2m1fn_x2", DataType::fp4},
    {"fp4", DataType::fp4},
    {"long", DataType::int64},
    {"long int", DataType::int64},
    {"long long", DataType::int64},
    {"long long int", DataType::int64},
    {"Long", DataType::int64},
    {"int64", DataType::int64},
    {"int64_t", DataType::int64},
    {"int", DataType::int32},
    {"Int", DataType::int32},
    {"int32", DataType::int32},
    {"int32_t", DataType::int32},
    {"short", DataType::int16},
    {"short int", DataType::int16},
    {"Short", DataType::int16},
    {"int16", DataType::int16},
    {"signed char", DataType::int8},
    {"Char", DataType::int8},
    {"char", DataType::int8},
    {"int8", DataType::int8},
    {"int8_t", DataType::int8},
    {"unsigned char", DataType::uint8},
    {"Byte", DataType::uint8},
    {"uint8", DataType::uint8},
    {"uint8_t", DataType::uint8},
    {"bool", DataType::boolean},
    {"Bool", DataType::boolean},
    {"boolean", DataType::boolean},
    {"complex<float>", DataType::complex64},
    {"ComplexFloat", DataType::complex64},
    {"complex64", DataType::complex64},
    {"complex<double>", DataType::complex128},
    {"ComplexDouble", DataType::complex128},
    {"complex128", DataType::complex128},
};

struct Description {
  std::string_view name;
  double bytes;  // 0 = unknown
};

// In the order of DataType.
constexpr Description descriptions[] = {
    {"unknown", 0}, {"fp64", 8},  {"fp32", 4},  {"tf32", 4}, {"fp16", 2},  {"bf16", 2}, {"fp8_e4m3", 1},  {"fp8_e5m2", 1},    {"fp4", 0.5},
    {"int64", 8},   {"int32", 4}, {"int16", 2}, {"int8", 1}, {"uint8", 1}, {"bool", 1}, {"complex64", 8}, {"complex128", 16}, {"fp8_e8m0", 1},
};
static_assert(std::size(descriptions) == data_type_count);

}  // namespace

DataType parse_data_type(std::string_view name) {
  for (const std::string_view scope : {"c10::", "at::", "torch.", "std::"})
    while (name.starts_with(scope)) name.remove_prefix(scope.size());
  const auto* found = std::ranges::find(spellings, name, &Spelling::name);
  return found == std::end(spellings) ? DataType::unknown : found->type;
}

std::string_view data_type_name(DataType type) {
  return descriptions[static_cast<std::size_t>(type)].name;
}

std::optional<double> element_bytes(DataType type) {
  const double bytes = descriptions[static_cast<std::size_t>(type)].bytes;
  return bytes == 0 ? std::nullopt : std::optional(bytes);
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count;
}

}  // namespace stepscope
