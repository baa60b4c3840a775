#include "report/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace stepscope {
namespace {

TEST(Format, ValuesAlone) {
  EXPECT_EQ(format_value(std::int64_t{412'345'678}, Unit::nanoseconds), "412 ms");
  EXPECT_EQ(format_value(std::int64_t{3'210}, Unit::nanoseconds), "3.21 µs");
  EXPECT_EQ(format_value(std::int64_t{999'600}, Unit::nanoseconds), "1.00 ms");
  EXPECT_EQ(format_value(std::int64_t{17}, Unit::nanoseconds), "17 ns");
  EXPECT_EQ(format_value(std::int64_t{0}, Unit::nanoseconds), "0 ns");
  EXPECT_EQ(format_value(std::int64_t{-2'500'000}, Unit::nanoseconds), "-2.50 ms");
  EXPECT_EQ(format_value(72'000'000'000.0, Unit::nanoseconds), "72.0 s");
  EXPECT_EQ(format_value(std::int64_t{1'240'000'000}, Unit::bytes), "1.24 GB");
  EXPECT_EQ(format_value(std::int64_t{1} << 34, Unit::memory_bytes), "16.0 GiB");
  EXPECT_EQ(format_value(2.039e12, Unit::bytes_per_second), "2039 GB/s");
  EXPECT_EQ(format_value(2e6, Unit::bytes_per_second), "0.002 GB/s");
  EXPECT_EQ(format_value(73'924'608.0, Unit::flops), "73.9 MFLOP");
  EXPECT_EQ(format_value(3.12e14, Unit::flops_per_second), "312 TFLOP/s");
  EXPECT_EQ(format_value(0.612, Unit::ratio), "61.2 %");
  EXPECT_EQ(format_value(0.0001, Unit::ratio), "<0.1 %");
  EXPECT_EQ(format_value(0.0, Unit::ratio), "0.0 %");
  EXPECT_EQ(format_value(std::int64_t{1'234'567}, Unit::count), "1,234,567");
  EXPECT_EQ(format_value(std::int64_t{-123}, Unit::count), "-123");
  EXPECT_EQ(format_value(3.4159, Unit::count), "3.42");
  EXPECT_EQ(format_value(std::int64_t{1234567}, Unit::none), "1234567");  // an identifier
  EXPECT_EQ(format_value(true, Unit::none), "yes");
  EXPECT_EQ(format_value(std::string("aten::mm\x1b[2J"), Unit::none), "aten::mm\uFFFD[2J");
}

TEST(Format, UnknownStaysUnknown) {
  EXPECT_EQ(format_value({}, Unit::nanoseconds), "–");
  EXPECT_EQ(format_value({}, Unit::none), "–");
  EXPECT_EQ(format_value(std::numeric_limits<double>::quiet_NaN(), Unit::ratio), "–");
  EXPECT_EQ(format_value(std::numeric_limits<double>::infinity(), Unit::bytes), "–");
}

TEST(Format, SharesInSentences) {
  EXPECT_EQ(format_percent(0.614), "61 %");
  EXPECT_EQ(format_percent(0.004), "<1 %");
  EXPECT_EQ(format_percent(0.0), "0 %");
  EXPECT_EQ(format_percent(0.0149, true), "1.5 %");
  EXPECT_EQ(format_percent(1.0), "100 %");
}

std::vector<std::string> column(Unit unit, const std::vector<Value>& values, std::string* unit_name) {
  std::vector<const Value*> pointers;
  for (const Value& value : values) pointers.push_back(&value);
  const ColumnFormat format(unit, pointers);
  *unit_name = format.unit_name();
  std::vector<std::string> cells;
  for (const Value& value : values) cells.push_back(format.cell(value));
  return cells;
}

using Cells = std::vector<std::string>;

TEST(Format, AColumnHasOneUnit) {
  std::string unit;
  EXPECT_EQ(column(Unit::nanoseconds, {std::int64_t{251'000'000}, std::int64_t{38'250'000}, std::int64_t{3'100'000}}, &unit), (Cells{"251.0", "38.2", "3.1"}));
  EXPECT_EQ(unit, "ms");
  EXPECT_EQ(column(Unit::nanoseconds, {std::int64_t{12'000}, std::int64_t{250}, Value{}}, &unit), (Cells{"12.00", "0.25", "–"}));
  EXPECT_EQ(unit, "µs");
  EXPECT_EQ(column(Unit::nanoseconds, {std::int64_t{17}, std::int64_t{250}}, &unit), (Cells{"17", "250"}));
  EXPECT_EQ(unit, "ns");
  EXPECT_EQ(column(Unit::bytes, {std::int64_t{0}, std::int64_t{0}}, &unit), (Cells{"0", "0"}));
  EXPECT_EQ(column(Unit::count, {std::int64_t{1'200}, std::int64_t{7}}, &unit), (Cells{"1,200", "7"}));
  EXPECT_EQ(unit, "");
  EXPECT_EQ(column(Unit::count, {1.5, 20.0}, &unit), (Cells{"1.50", "20.00"}));
  EXPECT_EQ(column(Unit::ratio, {0.5, 0.0003}, &unit), (Cells{"50.0 %", "<0.1 %"}));
}

TEST(Format, ValuesFarApartHaveUnitsOfTheirOwn) {
  std::string unit;
  EXPECT_EQ(column(Unit::nanoseconds, {std::int64_t{2'000'000'000}, std::int64_t{1'500}}, &unit), (Cells{"2.00 s", "1.50 µs"}));
  EXPECT_EQ(unit, "");
}

}  // namespace
}  // namespace stepscope
