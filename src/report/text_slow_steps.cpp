// Slow steps on the terminal: what made the slowest one slow; the others are named in a line.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

constexpr double worth_telling = 0.02;  // of the median step
constexpr double worth_naming = 0.05;   // for the steps beside the slowest
constexpr std::size_t most_named = 4;

}  // namespace

void write_slow_steps(TextPage& page, const TextOptions& options, const Section& section) {
  const Table* steps = section.table("steps");
  const Table* parts = section.table("parts");
  if (options.verbosity > 0 || steps == nullptr || parts == nullptr || steps->rows.empty()) return write_section(page, options, section, "");

  std::size_t slowest = 0;
  const auto slower_by = [&](std::size_t row) { return cell(*steps, row, "difference_ns").value_or(0); };
  for (std::size_t row = 1; row < steps->rows.size(); ++row) {
    if (slower_by(row) > slower_by(slowest)) slowest = row;
  }
  page.heading(printable(section.title));
  page.paragraph(printable(section.summary), 2);
  const double reference = figure(&section, "reference_span_ns").value_or(0);
  if (slower_by(slowest) < worth_telling * reference) return;

  std::string others;
  std::size_t named = 0, count = 0;
  std::vector<std::size_t> slowest_first;
  for (std::size_t row = 0; row < steps->rows.size(); ++row) slowest_first.push_back(row);
  std::ranges::stable_sort(slowest_first, [&](std::size_t a, std::size_t b) { return slower_by(a) > slower_by(b); });
  for (const std::size_t row : slowest_first) {
    if (row == slowest || slower_by(row) < worth_naming * reference) continue;
    ++count;
    if (named == most_named) continue;
    others += fmt::format("{}step {} (by {}, mostly {})", named++ > 0 ? ", " : "", text_cell(*steps, row, "step"), text_cell(*steps, row, "difference_ns"),
                          shorten_middle(text_cell(*steps, row, "mostly"), 40));
  }
  if (count > 0) page.paragraph("Also slower: " + others + (count > named ? fmt::format(" and {} more", count - named) : "") + ".", 2);

  Table shown = *parts;
  const std::string step = text_cell(*steps, slowest, "step");
  const std::optional<std::size_t> step_column = column_of(shown, "step"), more_column = column_of(shown, "difference_ns");
  if (!step_column || !more_column) return;
  std::erase_if(shown.rows, [&](const std::vector<Value>& row) { return format_value(row[*step_column], Unit::none) != step; });
  std::ranges::stable_sort(shown.rows, [&](const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::fabs(number_of(a[*more_column]).value_or(0)) > std::fabs(number_of(b[*more_column]).value_or(0));
  });
  shown.columns[*step_column].in_text = false;
  page.line();
  page.paragraph(fmt::format("What differs in step {}", step), 2, Ink::strong);
  write_table(page, shown, {.rows = std::max(3, options.top / 2), .all_columns = false, .indent = 2});
  for (const std::string& caveat : section.caveats) page.note(caveat);
}

}  // namespace stepscope
