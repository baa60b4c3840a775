// Numbers as trace writers spell them, converted from their digits: never through a double, truncated toward zero, saturated where they do not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace stepscope {

// Times are kept within ±(2^62 − 1) ns (146 years), so that differences and ends of slices fit in int64 as well.
inline constexpr Nanoseconds latest_time = (Nanoseconds{1} << 62) - 1;

template <class T>
struct Number {
  T value{};
  bool saturated = false;  // the digits say a number outside the range of T, or of times
};

// "1419247332972.313" (microseconds) is 1419247332972313 ns: int(Decimal(text) * 1000). Absent where text is no decimal number.
std::optional<Number<Nanoseconds>> parse_microseconds(std::string_view text);
// Decimal integers; a fraction is cut off.
std::optional<Number<std::int64_t>> parse_int64(std::string_view text);
// As parse_int64; negative numbers have no unsigned value and are absent. "0x1f" is read as hexadecimal.
std::optional<Number<std::uint64_t>> parse_uint64(std::string_view text);
// For counters, whose values are real numbers.
std::optional<double> parse_real(std::string_view text);

}  // namespace stepscope
