#include "report/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"
#include "base/time.h"

namespace stepscope {

namespace {

constexpr std::string_view absent_text = "–";

struct Step {
  double size;
  std::string_view name;
};

// The units of a quantity, largest first.
std::span<const Step> steps_of(Unit unit) {
  static constexpr Step durations[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  static constexpr Step moved[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
  static constexpr Step stored[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
  static constexpr Step bandwidths[] = {{1e9, "GB/s"}};
  static constexpr Step operations[] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1, "FLOP"}};
  static constexpr Step rates[] = {{1e12, "TFLOP/s"}};
  static constexpr Step intensities[] = {{1, "FLOP/B"}};
  switch (unit) {
    case Unit::nanoseconds:
      return durations;
    case Unit::bytes:
      return moved;
    case Unit::memory_bytes:
      return stored;
    case Unit::bytes_per_second:
      return bandwidths;
    case Unit::flops:
      return operations;
    case Unit::flops_per_second:
      return rates;
    case Unit::flops_per_byte:
      return intensities;
    case Unit::none:
    case Unit::slices:
    case Unit::count:
    case Unit::ratio:
      break;
  }
  return {};
}

// The largest unit in which the number is at least 1 as it will be shown (999.6 µs shows as 1.00 ms).
const Step& step_for(std::span<const Step> steps, double magnitude) {
  for (const Step& step : steps) {
    if (magnitude >= 0.9995 * step.size) return step;
  }
  return steps.back();
}

// Decimals for three significant digits, and none for whole numbers of the smallest unit.
int decimals_for(double shown) {
  const double size = std::fabs(shown);
  return size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
}

std::string fixed(double number, int decimals) {
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (text.starts_with("-0") && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);  // no negative zero
  return text;
}

std::string with_unit(double number, Unit unit) {
  const std::span<const Step> steps = steps_of(unit);
  const Step& step = step_for(steps, std::fabs(number));
  const double shown = number / step.size;
  const bool whole = step.size == 1 && shown == std::floor(shown);
  return fmt::format("{} {}", fixed(shown, whole ? 0 : decimals_for(shown)), step.name);
}

// A count may be a mean: then it has decimals.
std::string counted(const Value& value, double number) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return format_count(*whole);
  if (std::fabs(number) < 9e15 && number == std::floor(number)) return format_count(static_cast<std::int64_t>(number));
  return fixed(number, decimals_for(number));
}

std::string plain(const Value& value) {
  if (const auto* words = std::get_if<std::string>(&value)) return printable(*words);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "yes" : "no";
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || !std::isfinite(*number)) return std::string(absent_text);
  return fmt::format("{:.4g}", *number);
}

// "61.2 %"; a share that is there but too small to show says so.
std::string percentage(double ratio) {
  const double percent = 100 * ratio;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fixed(percent, 1) + " %";
}

}  // namespace

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value); number != nullptr && std::isfinite(*number)) return *number;
  return std::nullopt;
}

std::string format_count(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::ptrdiff_t sign = count < 0 ? 1 : 0;
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > sign; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string format_percent(double ratio, bool exact) {
  const double percent = 100 * ratio;
  if (exact && std::fabs(percent) < 9.95) return percentage(ratio);
  if (percent > 0 && percent < 0.5) return "<1 %";
  return fixed(percent, 0) + " %";
}

std::string format_value(const Value& value, Unit unit) {
  const std::optional<double> number = number_of(value);
  if (!number || unit == Unit::none) return plain(value);
  if (unit == Unit::ratio) return percentage(*number);
  if (unit == Unit::count) return counted(value, *number);
  return with_unit(*number, unit);
}

ColumnFormat::ColumnFormat(Unit unit, std::span<const Value* const> values) : unit_(unit) {
  double largest = 0, least = std::numeric_limits<double>::infinity();
  bool whole = true, any = false, words = false;
  for (const Value* value : values) {
    words = words || std::holds_alternative<std::string>(*value) || std::holds_alternative<bool>(*value);
    const std::optional<double> number = number_of(*value);
    if (!number) continue;
    any = true;
    const double size = std::fabs(*number);
    largest = std::max(largest, size);
    if (size > 0) least = std::min(least, size);
    whole = whole && *number == std::floor(*number);
  }
  numeric_ = any && !words;
  const std::span<const Step> steps = steps_of(unit);
  if (steps.empty()) {
    const bool quantities = unit == Unit::count || unit == Unit::none;
    if (quantities && numeric_ && !whole) decimals_ = largest >= 99.95 ? 1 : 2;
    return;
  }
  const Step& step = step_for(steps, largest);
  divisor_ = step.size;
  unit_name_ = step.name;
  if (step.size == 1 && whole) return;
  decimals_ = largest == 0 ? 0 : decimals_for(largest / divisor_);
  // Two significant digits of the least value, in at most three decimals.
  while (decimals_ < 3 && least / divisor_ * std::pow(10, decimals_) < 9.5 && std::isfinite(least)) ++decimals_;
  per_cell_ = steps.size() > 1 && std::isfinite(least) && least / divisor_ * std::pow(10, decimals_) < 0.95;
  if (per_cell_) unit_name_.clear();
}

std::string ColumnFormat::cell(const Value& value) const {
  const std::optional<double> number = number_of(value);
  const bool quantity = unit_ == Unit::count || (unit_ == Unit::none && decimals_ > 0);
  if (!number || unit_ == Unit::ratio || per_cell_ || (unit_ == Unit::none && !quantity)) return format_value(value, unit_);
  if (quantity) return decimals_ == 0 ? counted(value, *number) : fixed(*number, decimals_);
  return fixed(*number / divisor_, decimals_);
}

}  // namespace stepscope
