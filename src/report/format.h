// Values for people: the one place where the terminal report turns numbers with a Unit into text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/findings.h"

namespace stepscope {

// A value that stands alone, with its unit: "412 ms", "1.24 GB", "61.2 %", "12,345", "yes", "–" where it is absent. Three significant digits; identifiers
// (Unit::none) are written out.
std::string format_value(const Value& value, Unit unit);

// "61 %": a share in a sentence. Below 10 % with one decimal where `exact`.
std::string format_percent(double ratio, bool exact = false);

// "12,345"
std::string format_count(std::int64_t count);

// Absent for text, booleans and absent values, and for numbers that are not finite.
std::optional<double> number_of(const Value& value);

// How the cells of one column are written: all in one unit with the same decimals, so that the eye compares digits, not units. Where the values lie too far
// apart for that (the least would show as zeros) each cell has a unit of its own.
class ColumnFormat {
 public:
  ColumnFormat(Unit unit, std::span<const Value* const> values);
  // What belongs to the column's header: "ms", "GB/s"; "" where the cells say it themselves or there is none.
  const std::string& unit_name() const { return unit_name_; }
  std::string cell(const Value& value) const;
  bool is_numeric() const { return numeric_; }  // aligned at the right

 private:
  Unit unit_;
  std::string unit_name_;
  double divisor_ = 1;
  int decimals_ = 0;
  bool per_cell_ = false;
  bool numeric_ = false;
};

}  // namespace stepscope
