// The words of an edit: patterns, durations, factors, amounts. Each reader names the parameter in its Error and says what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "edit/edit.h"

namespace stepscope {

// Alternatives "a*|b?": * stands for any characters, ? for one; the case of letters does not matter; the whole text must match. O(pattern · text).
class Glob {
 public:
  explicit Glob(std::string_view pattern);
  bool matches(std::string_view text) const;
  // The longest run of plain characters in the pattern, in lower case.
  std::string_view longest_literal() const { return literal_; }

 private:
  std::vector<std::string> alternatives_;  // in lower case
  std::string literal_;
};

std::string lower_case(std::string_view text);

// "12us", "3 ms", "1.5s", "100ns", "2min"; "0" needs no unit. Not negative.
std::optional<Nanoseconds> read_duration(std::string_view text);
// A finite number, not negative: "0.5", "2", "50%".
std::optional<double> read_factor(std::string_view text);
// "25MB" (1e6), "25MiB" (2^20), "25e6"; not negative.
std::optional<double> read_bytes(std::string_view text);
// A whole number from 1.
std::optional<std::int64_t> read_count(std::string_view text);

// The parameter of an edit, or absent where it is not given.
std::optional<std::string_view> parameter(const Edit& edit, std::string_view name);
// The same, read: an Error where it is given and is not what was expected.
Result<std::optional<Nanoseconds>> duration_parameter(const Edit& edit, std::string_view name);
Result<std::optional<double>> factor_parameter(const Edit& edit, std::string_view name);
Result<std::optional<double>> bytes_parameter(const Edit& edit, std::string_view name);
Result<std::optional<std::int64_t>> count_parameter(const Edit& edit, std::string_view name);

std::unexpected<Error> edit_error(std::string problem, std::string remedy = {});

}  // namespace stepscope
