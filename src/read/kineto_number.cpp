#include "read/kineto_number.h"

#include <charconv>
#include <limits>

namespace stepscope {

namespace {

struct Scaled {
  bool negative = false;
  bool saturated = false;
  std::uint64_t magnitude = 0;  // at most `most`
};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// |text| · 10^shift, truncated, at most `most`. Grammar: [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent.
std::optional<Scaled> scale(std::string_view text, int shift, std::uint64_t most) {
  Scaled result;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) result.negative = text[at++] == '-';
  const std::size_t whole_begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  const std::string_view whole = text.substr(whole_begin, at - whole_begin);
  std::string_view fraction;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction_begin = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    fraction = text.substr(fraction_begin, at - fraction_begin);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  std::int64_t exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool down = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) down = text[at++] == '-';
    if (at == text.size() || !is_digit(text[at])) return std::nullopt;
    // Beyond a million the digits themselves cannot matter any more: the result is 0 or saturated.
    for (; at < text.size() && is_digit(text[at]); ++at)
      if (exponent < 1'000'000) exponent = exponent * 10 + (text[at] - '0');
    if (down) exponent = -exponent;
  }
  if (at != text.size()) return std::nullopt;
  // How many of the digits (whole, then fraction, then zeros) stand before the shifted decimal point.
  const std::int64_t taken = static_cast<std::int64_t>(whole.size()) + exponent + shift;
  const auto count = static_cast<std::int64_t>(whole.size() + fraction.size());
  for (std::int64_t i = 0; i < taken; ++i) {
    if (i >= count && result.magnitude == 0) break;
    const auto place = static_cast<std::size_t>(i);
    const unsigned digit = i >= count ? 0u : static_cast<unsigned>((place < whole.size() ? whole[place] : fraction[place - whole.size()]) - '0');
    if (result.magnitude > (most - digit) / 10) {
      result.magnitude = most;
      result.saturated = true;
      break;
    }
    result.magnitude = result.magnitude * 10 + digit;
  }
  return result;
}

// What nearly all numbers are: at most 15 digits, and at most as many behind a point.
std::optional<std::uint64_t> plain(std::string_view text, std::string_view& fraction) {
  std::size_t at = 0;
  std::uint64_t value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) value = value * 10 + static_cast<unsigned>(text[at] - '0');
  if (at == 0 || at > 15) return std::nullopt;
  fraction = {};
  if (at == text.size()) return value;
  if (text[at] != '.' || at + 1 == text.size() || text.size() - at > 16) return std::nullopt;
  fraction = text.substr(at + 1);
  for (const char c : fraction)
    if (!is_digit(c)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Number<Nanoseconds>> parse_microseconds(std::string_view text) {
  std::string_view fraction;
  if (const auto whole = plain(text, fraction)) {
    std::uint64_t value = *whole * 1000;
    for (std::size_t i = 0, weight = 100; i < 3 && i < fraction.size(); ++i, weight /= 10) value += static_cast<unsigned>(fraction[i] - '0') * weight;
    return Number<Nanoseconds>{static_cast<Nanoseconds>(value), false};
  }
  const auto scaled = scale(text, 3, static_cast<std::uint64_t>(latest_time));
  if (!scaled) return std::nullopt;
  const auto value = static_cast<Nanoseconds>(scaled->magnitude);
  return Number<Nanoseconds>{scaled->negative ? -value : value, scaled->saturated};
}

std::optional<Number<std::int64_t>> parse_int64(std::string_view text) {
  std::string_view fraction;
  if (const auto whole = plain(text, fraction)) return Number<std::int64_t>{static_cast<std::int64_t>(*whole), false};
  const auto scaled = scale(text, 0, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!scaled) return std::nullopt;
  const auto value = static_cast<std::int64_t>(scaled->magnitude);
  return Number<std::int64_t>{scaled->negative ? -value : value, scaled->saturated};
}

std::optional<Number<std::uint64_t>> parse_uint64(std::string_view text) {
  std::string_view fraction;
  if (const auto whole = plain(text, fraction)) return Number<std::uint64_t>{*whole, false};
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    Number<std::uint64_t> number;
    const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), number.value, 16);
    if (end != text.data() + text.size()) return std::nullopt;
    if (problem == std::errc::result_out_of_range) number = {std::numeric_limits<std::uint64_t>::max(), true};
    return number;
  }
  const auto scaled = scale(text, 0, std::numeric_limits<std::uint64_t>::max());
  if (!scaled || (scaled->negative && scaled->magnitude != 0)) return std::nullopt;
  return Number<std::uint64_t>{scaled->magnitude, scaled->saturated};
}

std::optional<double> parse_real(std::string_view text) {
  if (!scale(text, 0, 1)) return std::nullopt;  // the grammar: no "nan", no "inf"
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc{} && end == text.data() + text.size()) return value;
  return std::nullopt;
}

}  // namespace stepscope
