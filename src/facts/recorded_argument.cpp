#include "facts/recorded_argument.h"

#include <charconv>

namespace stepscope {

namespace {

constexpr std::size_t malformed = std::string_view::npos;

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) ++at;
  return at;
}

// The place after the closing quote of the string that opens at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return malformed;
}

// The place after the value that begins at `at`: a string, a nested array or object, or a bare word.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = end_of_string(text, at);
        if (at == malformed || depth == 0) return at;
        continue;
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (depth == 0) return malformed;
        if (--depth == 0) return at + 1;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default:
        break;
    }
    ++at;
  }
  return depth == 0 ? at : malformed;
}

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<std::string_view> recorded_argument(std::string_view detail, std::string_view key) {
  std::size_t at = skip_blanks(detail, 0);
  while (at < detail.size() && detail[at] == '"') {
    const std::size_t after_key = end_of_string(detail, at);
    if (after_key == malformed) return std::nullopt;
    const std::string_view this_key = detail.substr(at + 1, after_key - at - 2);
    at = skip_blanks(detail, after_key);
    if (at >= detail.size() || detail[at] != ':') return std::nullopt;
    at = skip_blanks(detail, at + 1);
    const std::size_t after_value = end_of_value(detail, at);
    if (after_value == malformed) return std::nullopt;
    if (this_key == key) {
      std::string_view value = without_trailing_blanks(detail.substr(at, after_value - at));
      if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
      if (value.empty()) return std::nullopt;
      return value;
    }
    at = skip_blanks(detail, after_value);
    if (at >= detail.size() || detail[at] != ',') return std::nullopt;
    at = skip_blanks(detail, at + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> recorded_number(std::string_view detail, std::string_view key) {
  const auto words = recorded_argument(detail, key);
  if (!words) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(words->data(), words->data() + words->size(), number);
  if (error != std::errc{}) return std::nullopt;
  std::string_view rest{end, static_cast<std::size_t>(words->data() + words->size() - end)};
  if (rest.starts_with('.') && rest.find_first_not_of('0', 1) == std::string_view::npos) rest = {};
  if (!rest.empty()) return std::nullopt;
  return number;
}

}  // namespace stepscope
