// Bars, sparklines and tables of the terminal page.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "report/text_page.h"
#include "report/text_table.h"

namespace stepscope {
namespace {

const TextPage plain(100, false, false);

std::string written(const Table& table, const TableStyle& style, int columns = 100) {
  TextPage page(columns, false, false);
  write_table(page, table, style);
  return std::move(page).finish();
}

TEST(Bar, SharesItsCellsByLargestRemainders) {
  // 10 cells: 6.1, 2.2, 0.9 and 0.8 become 6, 2, 1 and 1.
  EXPECT_EQ(bar(plain, {{61, Ink::compute}, {22, Ink::communication}, {9, Ink::memory}, {8, Ink::host}}, 100, 10), "██████▓▓▒░");
  EXPECT_EQ(bar(plain, {{50, Ink::compute}, {50, Ink::other}}, 100, 4), "██  ");
  EXPECT_EQ(bar(plain, {{30, Ink::compute}}, 100, 10), "███       ");  // to a scale that it does not fill
  EXPECT_EQ(bar(plain, {{-5, Ink::compute}, {5, Ink::host}}, 5, 3), "░░░");
  EXPECT_EQ(bar(plain, {{1, Ink::compute}}, 0, 3), "   ");
  EXPECT_EQ(bar(plain, {}, 1, 0), "");
}

TEST(Bar, IsAsWideAsAsked) {
  rc::check("every bar has its width", [](const std::vector<std::uint16_t>& lengths) {
    const int columns = *rc::gen::inRange(0, 120);
    std::vector<BarPart> parts;
    double total = 0;
    for (const std::uint16_t length : lengths) {
      parts.push_back({static_cast<double>(length), static_cast<Ink>(4 + parts.size() % 6)});
      total += length;
    }
    RC_ASSERT(display_width(bar(plain, parts, total, columns)) == columns);
    RC_ASSERT(display_width(bar(plain, parts, total / 3, columns)) == columns);  // parts that exceed the total are cut
  });
}

TEST(Sparkline, HeightsAreEighthsOfTheLargest) {
  EXPECT_EQ(sparkline({0, 1, 2, 4, 8}), "▁▁▂▄█");
  EXPECT_EQ(sparkline({0, 0}), "▁▁");
  EXPECT_EQ(sparkline({}), "");
}

TEST(TextPage, AsciiHasTheSameWidths) {
  TextPage page(40, false, true);
  page.heading("Kernels – µs");
  page.line("█▓▒░· …×");
  page.line("\u6838\u51FD");
  EXPECT_EQ(std::move(page).finish(), "\nKernels - us ---------------------------\n#=+-. ~x\n??\n");
}

TEST(TextPage, NumbersStayWithTheirUnits) {
  TextPage page(20, false, false);
  page.paragraph("it takes exactly 41 ms, or 9 % of all");
  EXPECT_EQ(std::move(page).finish(), "it takes exactly\n41 ms, or 9 % of all\n");
}

TEST(TextPage, AReasonIsNotedOnce) {
  TextPage page(80, false, false);
  page.note("Rates of X: the data sheet");
  page.note("Dense rate of X: the data sheet");
  page.note("Another");
  EXPECT_EQ(std::move(page).finish(), "  Note: Rates of X: the data sheet\n  Note: Another\n");
}

Table kernels() {
  return {.key = "kernels",
          .title = "Kernels",
          .columns = {{"name", "Kernel"},
                      {"count", "Count", Unit::count},
                      {"total_ns", "Total", Unit::nanoseconds},
                      {"min_ns", "Min", Unit::nanoseconds, false},
                      {"unknown", "Unknown", Unit::bytes},
                      {"zero", "Zero", Unit::count}},
          .rows = {{std::string("first"), std::int64_t{1'200}, std::int64_t{9'000'000}, std::int64_t{10}, Value{}, std::int64_t{0}},
                   {std::string("second"), std::int64_t{3}, std::int64_t{250'000}, std::int64_t{20}, Value{}, std::int64_t{0}},
                   {std::string("third"), std::int64_t{3}, std::int64_t{50'000}, std::int64_t{30}, Value{}, std::int64_t{0}}}};
}

TEST(TextTable, AlignsNumbersAndLeavesOutWhatSaysNothing) {
  EXPECT_EQ(written(kernels(), {}),
            "  Kernel  Count  Total ms\n"
            "  first   1,200     9.000\n"
            "  second      3     0.250\n"
            "  third       3     0.050\n");
  EXPECT_EQ(written(kernels(), {.rows = 1}),
            "  Kernel  Count  Total ms\n"
            "  first   1,200      9.00\n"
            "  … and 2 more, 300 µs\n");
  EXPECT_EQ(written(kernels(), {.all_columns = true}),
            "  Kernel  Count  Total ms  Min ns  Zero\n"
            "  first   1,200     9.000      10     0\n"
            "  second      3     0.250      20     0\n"
            "  third       3     0.050      30     0\n");
}

TEST(TextTable, ColumnsThatDoNotFitFollowInABlockOfTheirOwn) {
  Table table{.key = "wide", .title = "Wide", .columns = {{"name", "Name"}}, .rows = {{std::string("row")}}};
  for (int i = 0; i < 6; ++i) {
    table.columns.push_back({std::string("c").append(std::to_string(i)), std::string("Column").append(std::to_string(i)), Unit::count});
    table.rows.front().push_back(std::int64_t{i});
  }
  EXPECT_EQ(written(table, {.all_columns = true}, 40),
            "  Name  Column0  Column1  Column2\n"
            "  row         0        1        2\n"
            "  Name  Column3  Column4  Column5\n"
            "  row         3        4        5\n");
  EXPECT_EQ(written(table, {}, 40),
            "  Name  Column1  Column2  Column3\n"  // Column0 is all zeros
            "  row         1        2        3\n");
}

TEST(TextTable, RanksByTheTimeThatSortsTheRows) {
  EXPECT_EQ(ranking_column(kernels()), 2);
  Table unsorted = kernels();
  std::swap(unsorted.rows[0], unsorted.rows[2]);
  EXPECT_EQ(ranking_column(unsorted), -1);
}

TEST(TextTable, ClassesAreGlyphs) {
  const Table table{.key = "k",
                    .title = "K",
                    .columns = {{"short_name", "Kernel"}, {"class", "Class"}, {"count", "Count", Unit::count}},
                    .rows = {{std::string("a"), std::string("compute"), std::int64_t{1}}, {std::string("b"), std::string("memory"), std::int64_t{2}}}};
  EXPECT_EQ(written(table, {}),
            "    Kernel  Count\n"
            "  █ a           1\n"
            "  ▒ b           2\n");
}

}  // namespace
}  // namespace stepscope
