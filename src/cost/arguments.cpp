#include "cost/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace stepscope {

namespace {

// The value's text, or empty where the argument is missing or its value was not recorded.
std::string_view concrete(const OperatorCall& call, std::size_t index) {
  return index < call.arguments.size() ? std::string_view(call.arguments[index].concrete) : std::string_view();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> integer(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> boolean(std::string_view text) {
  text = trimmed(text);
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

// "[a, b]" through element(); absent on anything else.
template <class Value>
std::optional<std::vector<Value>> list(std::string_view text, std::optional<Value> (*element)(std::string_view)) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  std::vector<Value> values;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::optional<Value> value = element(text.substr(0, comma));
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (trimmed(text).empty()) return std::nullopt;
  }
  return values;
}

bool is_complex(DataType type) {
  return type == DataType::complex64 || type == DataType::complex128;
}

bool is_packed(const Argument& tensor) {
  return tensor.type == DataType::fp4 && tensor.type_name.ends_with("_x2");
}

}  // namespace

const Argument* tensor_argument(const OperatorCall& call, std::size_t index) {
  return index < call.arguments.size() && call.arguments[index].is_tensor ? &call.arguments[index] : nullptr;
}

std::optional<double> value_count(const Argument& tensor) {
  const std::optional<double> elements = sizes_product(tensor.shape);
  if (!elements) return std::nullopt;
  return *elements * (is_packed(tensor) ? 2 : 1);
}

std::optional<double> tensor_bytes(const Argument& tensor) {
  if (tensor.strides.size() != tensor.shape.size() || std::ranges::count(tensor.strides, 0) == 0) {
    const std::optional<double> count = value_count(tensor);
    return count ? bytes_of(*count, tensor.type) : std::nullopt;
  }
  Argument distinct;
  distinct.type = tensor.type;
  distinct.type_name = tensor.type_name;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.strides[i] != 0 || tensor.shape[i] == 0) distinct.shape.push_back(tensor.shape[i]);
  const std::optional<double> count = value_count(distinct);
  return count ? bytes_of(*count, distinct.type) : std::nullopt;
}

std::optional<double> bytes_of(double count, DataType type) {
  const std::optional<double> bytes = element_bytes(type);
  if (!bytes) return std::nullopt;
  return count * *bytes;
}

ByteSum& ByteSum::add(std::optional<double> bytes) {
  total_ = total_ && bytes ? std::optional(*total_ + *bytes) : std::nullopt;
  return *this;
}

ByteSum& ByteSum::add(const Argument* tensor) {
  return tensor == nullptr ? *this : add(tensor_bytes(*tensor));
}

std::optional<bool> boolean_argument(const OperatorCall& call, std::size_t index) {
  return boolean(concrete(call, index));
}
std::optional<std::int64_t> integer_argument(const OperatorCall& call, std::size_t index) {
  return integer(concrete(call, index));
}
std::optional<std::vector<std::int64_t>> integers_argument(const OperatorCall& call, std::size_t index) {
  return list<std::int64_t>(concrete(call, index), integer);
}
std::optional<std::vector<bool>> booleans_argument(const OperatorCall& call, std::size_t index) {
  return list<bool>(concrete(call, index), boolean);
}

DataType type_argument(const OperatorCall& call, std::size_t index) {
  // In the order of c10/core/ScalarType.h; types that we do not distinguish are unknown.
  using enum DataType;
  static constexpr DataType by_number[] = {uint8,     int8,       int16,   int32,   int64,   fp16,     fp32,     fp64,     unknown,
                                           complex64, complex128, boolean, unknown, unknown, unknown,  bf16,     unknown,  unknown,
                                           unknown,   unknown,    unknown, unknown, unknown, fp8_e5m2, fp8_e4m3, fp8_e5m2, fp8_e4m3};
  const std::optional<std::int64_t> number = integer_argument(call, index);
  if (number == 44) return fp8_e8m0;
  if (number == 45) return fp4;
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= std::size(by_number)) return unknown;
  return by_number[*number];
}

std::optional<double> sizes_product(const Shape& shape, std::size_t first) {
  if (first > shape.size()) return std::nullopt;
  const std::optional<std::int64_t> count = element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()));
  if (!count) return std::nullopt;
  return static_cast<double>(*count);
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[offset + i];
    if (size == 1) size = shorter[i];
    if (shorter[i] != 1 && shorter[i] != size) return std::nullopt;
  }
  return result;
}

bool is_floating(DataType type) {
  using enum DataType;
  return (type >= fp64 && type <= fp4) || type == fp8_e8m0;
}

DataType promoted_type(DataType a, DataType b) {
  using enum DataType;
  if (a == b) return a;
  if (a == unknown || b == unknown) return unknown;
  if (is_complex(a) || is_complex(b)) return a == complex128 || b == complex128 || a == fp64 || b == fp64 ? complex128 : complex64;
  if (is_floating(a) && is_floating(b)) {
    if (a == fp64 || b == fp64) return fp64;
    // fp16 with bf16, and the 8-bit types with anything but themselves, meet in fp32 or fail; only the first happens in arithmetic.
    return element_bytes(a) > element_bytes(b) ? a : element_bytes(b) > element_bytes(a) ? b : fp32;
  }
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  if (a == boolean) return b;
  if (b == boolean) return a;
  if ((a == uint8 && b == int8) || (a == int8 && b == uint8)) return int16;
  return element_bytes(a) >= element_bytes(b) ? a : b;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) text += fmt::format("{}{}", text.size() == 1 ? "" : ", ", size);
  return text + "]";
}

std::string tensor_text(const Shape& shape, DataType type) {
  return fmt::format("{} {}", shape_text(shape), data_type_name(type));
}

}  // namespace stepscope
