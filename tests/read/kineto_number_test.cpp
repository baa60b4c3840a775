#include "read/kineto_number.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace stepscope {
namespace {

Nanoseconds microseconds(std::string_view text) {
  const auto number = parse_microseconds(text);
  EXPECT_TRUE(number.has_value()) << text;
  return number ? number->value : -1;
}

TEST(KinetoNumber, MicrosecondsAreReadDigitByDigit) {
  EXPECT_EQ(microseconds("1708722576381804.001"), 1708722576381804001);
  EXPECT_EQ(microseconds("1419247332972.313"), 1419247332972313);
  EXPECT_EQ(microseconds("0.001"), 1);
  EXPECT_EQ(microseconds("1.5"), 1500);
  EXPECT_EQ(microseconds("60"), 60000);
  EXPECT_EQ(microseconds("1700000000000000.0"), 1700000000000000000);
  EXPECT_EQ(microseconds("0"), 0);
}

TEST(KinetoNumber, WhatIsBelowANanosecondIsCutOff) {
  EXPECT_EQ(microseconds("0.0019"), 1);
  EXPECT_EQ(microseconds("-0.0019"), -1);
  EXPECT_EQ(microseconds("2.9999999999999999999"), 2999);
}

TEST(KinetoNumber, ExponentsMoveThePoint) {
  EXPECT_EQ(microseconds("1e-05"), 0);
  EXPECT_EQ(microseconds("1e-3"), 1);
  EXPECT_EQ(microseconds("1.5E3"), 1500000);
  EXPECT_EQ(microseconds("1234e-6"), 1);
  EXPECT_EQ(microseconds("0e999999999999"), 0);
}

TEST(KinetoNumber, WhatDoesNotFitIsSaturatedAndSaid) {
  for (const std::string_view text : {"1e300", "99999999999999999999", "4611686018427387.904"}) {
    const auto number = parse_microseconds(text);
    ASSERT_TRUE(number.has_value()) << text;
    EXPECT_EQ(number->value, latest_time) << text;
    EXPECT_TRUE(number->saturated) << text;
  }
  EXPECT_EQ(parse_microseconds("-1e300")->value, -latest_time);
  EXPECT_FALSE(parse_microseconds("4611686018427387.903")->saturated);
  EXPECT_EQ(parse_int64("9223372036854775808")->value, std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(parse_int64("9223372036854775808")->saturated);
  EXPECT_FALSE(parse_int64("9223372036854775807")->saturated);
  EXPECT_FALSE(parse_uint64("18446744073709551615")->saturated);
  EXPECT_EQ(parse_uint64("18446744073709551615")->value, 18446744073709551615u);
  EXPECT_TRUE(parse_uint64("18446744073709551616")->saturated);
}

TEST(KinetoNumber, WhatIsNoNumberIsAbsent) {
  for (const std::string_view text : {"", "-", "+", ".", "nan", "1.2.3", "1e", "1e+", "12a", " 1", "0x", "Infinity", "1,5"}) {
    EXPECT_FALSE(parse_microseconds(text).has_value()) << text;
    EXPECT_FALSE(parse_int64(text).has_value()) << text;
    EXPECT_FALSE(parse_uint64(text).has_value()) << text;
    EXPECT_FALSE(parse_real(text).has_value()) << text;
  }
}

TEST(KinetoNumber, UnsignedNumbersHaveNoSignAndMayBeHexadecimal) {
  EXPECT_FALSE(parse_uint64("-1").has_value());
  EXPECT_EQ(parse_uint64("-0")->value, 0u);
  EXPECT_EQ(parse_uint64("0x7fda0e810200")->value, 0x7fda0e810200u);
  EXPECT_FALSE(parse_uint64("0x7g").has_value());
  EXPECT_TRUE(parse_uint64("0x1ffffffffffffffff")->saturated);
}

TEST(KinetoNumber, RealsAreForCounters) {
  EXPECT_EQ(parse_real("1.25"), 1.25);
  EXPECT_EQ(parse_real("-3e2"), -300.0);
}

// Law: any time within range, written as microseconds with three decimals, comes back unchanged.
TEST(KinetoNumber, EveryTimeComesBack) {
  rc::check([] {
    const auto time = *rc::gen::inRange<Nanoseconds>(-latest_time, latest_time);
    const auto magnitude = static_cast<std::uint64_t>(time < 0 ? -time : time);
    const std::string text = fmt::format("{}{}.{:03}", time < 0 ? "-" : "", magnitude / 1000, magnitude % 1000);
    const auto number = parse_microseconds(text);
    RC_ASSERT(number.has_value());
    RC_ASSERT(number->value == time);
    RC_ASSERT(!number->saturated);
  });
}

TEST(KinetoNumber, EveryIdComesBack) {
  rc::check([](std::uint64_t id) {
    const auto number = parse_uint64(std::to_string(id));
    RC_ASSERT(number.has_value());
    RC_ASSERT(number->value == id);
  });
}

}  // namespace
}  // namespace stepscope
