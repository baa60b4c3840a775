#include "edit/words.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace stepscope {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

Glob::Glob(std::string_view pattern) {
  const std::string lower = lower_case(pattern);
  std::string_view rest = lower;
  while (true) {
    const std::size_t bar = rest.find('|');
    alternatives_.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  std::string run;
  for (const char c : lower + "*") {
    if (c != '*' && c != '?' && c != '|') {
      run += c;
      continue;
    }
    if (run.size() > literal_.size()) literal_ = run;
    run.clear();
  }
}

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Only the last star needs to be tried again: it can take what an earlier one could have taken.
bool matches_one(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// A number and the word that follows it.
struct NumberAndUnit {
  double number;
  std::string unit;  // in lower case, except that nothing is changed in byte units
};
std::optional<NumberAndUnit> number_and_unit(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return NumberAndUnit{number, std::string(unit)};
}

struct UnitSize {
  std::string_view unit;
  double size;
};
template <std::size_t N>
std::optional<double> in_units(std::string_view text, const UnitSize (&units)[N]) {
  const auto read = number_and_unit(text);
  if (!read) return std::nullopt;
  for (const auto& [unit, size] : units)
    if (read->unit == unit && read->number * size < 9e18) return read->number * size;
  return std::nullopt;
}

template <class T>
Result<std::optional<T>> read_parameter(const Edit& edit, std::string_view name, std::optional<T> (*read)(std::string_view), std::string_view expected) {
  const auto text = parameter(edit, name);
  if (!text) return std::optional<T>{};
  if (const std::optional<T> value = read(*text)) return value;
  return edit_error(fmt::format("{}={} is not {}", name, *text, expected));
}

}  // namespace

bool Glob::matches(std::string_view text) const {
  for (const std::string& alternative : alternatives_)
    if (matches_one(alternative, text)) return true;
  return false;
}

std::optional<Nanoseconds> read_duration(std::string_view text) {
  if (text == "0") return 0;
  static constexpr UnitSize units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
  const auto value = in_units(text, units);
  return value ? std::optional(static_cast<Nanoseconds>(std::llround(*value))) : std::nullopt;
}

std::optional<double> read_factor(std::string_view text) {
  static constexpr UnitSize units[] = {{"", 1}, {"%", 0.01}, {"x", 1}};
  return in_units(text, units);
}

std::optional<double> read_bytes(std::string_view text) {
  static constexpr UnitSize units[] = {{"", 1},     {"B", 1},        {"kB", 1e3},        {"KB", 1e3},          {"MB", 1e6},
                                       {"GB", 1e9}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  return in_units(text, units);
}

std::optional<std::int64_t> read_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::optional<std::string_view> parameter(const Edit& edit, std::string_view name) {
  const auto found = edit.parameters.find(name);
  return found == edit.parameters.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

Result<std::optional<Nanoseconds>> duration_parameter(const Edit& edit, std::string_view name) {
  return read_parameter<Nanoseconds>(edit, name, read_duration, "a duration with its unit, such as 12us, 3ms or 0");
}
Result<std::optional<double>> factor_parameter(const Edit& edit, std::string_view name) {
  return read_parameter<double>(edit, name, read_factor, "a factor from 0, such as 0.5, 2 or 50%");
}
Result<std::optional<double>> bytes_parameter(const Edit& edit, std::string_view name) {
  return read_parameter<double>(edit, name, read_bytes, "an amount of bytes, such as 25MB or 64MiB");
}
Result<std::optional<std::int64_t>> count_parameter(const Edit& edit, std::string_view name) {
  return read_parameter<std::int64_t>(edit, name, read_count, "a whole number from 1");
}

std::unexpected<Error> edit_error(std::string problem, std::string remedy) {
  return std::unexpected(Error{.file = "", .byte = std::nullopt, .problem = std::move(problem), .remedy = std::move(remedy)});
}

}  // namespace stepscope
