// Cells of findings from the types that questions compute with.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/findings.h"

namespace stepscope {

inline Value absent() {
  return std::monostate{};
}
inline Value text(std::string_view words) {
  return std::string(words);
}
inline Value whole(std::integral auto number) {
  return static_cast<std::int64_t>(number);
}
inline Value whole_if(bool known, std::int64_t number) {
  Value value;
  if (known) value = number;
  return value;
}
template <class Number>
Value if_known(const std::optional<Number>& number) {
  return number ? Value{*number} : absent();
}
// part / all; absent where there is nothing to have a share of.
template <class Number>
Value share(Number part, Number all) {
  return all == Number{} ? absent() : Value{static_cast<double>(part) / static_cast<double>(all)};
}
// Amount per second of a duration in ns; absent where no time passed.
inline Value per_second(double amount, std::int64_t nanoseconds) {
  return nanoseconds <= 0 ? absent() : Value{amount * 1e9 / static_cast<double>(nanoseconds)};
}

}  // namespace stepscope
