// Numbers are aligned at the right, all cells of a column in one unit (format.h), which stands in the header. Text columns share what room the numbers
// leave. Header words break into two lines where the title is wider than its column's cells.
#include "report/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "base/kernel_name.h"
#include "base/text.h"
#include "report/format.h"

namespace stepscope {

namespace {

constexpr int gap = 2;           // blanks between columns
constexpr int least_text = 16;   // a text column is not made narrower than this
constexpr int least_first = 28;  // nor the first one than this, while other columns can go

struct LaidColumn {
  std::size_t source = 0;
  std::vector<std::string> cells;
  std::string title_above, title;  // two lines
  bool numeric = false;
  int width = 0;  // natural, then final
};

// A C++ signature or a generated name that readable_kernel_name() can make sense of; not an operator, a Python frame or prose.
bool looks_like_kernel(std::string_view name) {
  return name.starts_with("void ") || name.starts_with("_Z") || name.starts_with("Cijk_") || (name.ends_with(')') && name.find("::") != std::string_view::npos);
}

std::string text_cell(std::string cell, int width) {
  if (display_width(cell) > width && looks_like_kernel(cell)) cell = readable_kernel_name(cell);
  return shorten_middle(cell, width);
}

// Breaks "Device, own ms" into two lines where that makes the column narrower.
void set_title(LaidColumn& column, const std::string& title) {
  int cells = 0;
  for (const std::string& cell : column.cells) cells = std::max(cells, display_width(cell));
  column.title = title;
  if (column.numeric && display_width(title) > std::max(cells, 7)) {
    std::size_t best = std::string::npos;
    int best_width = display_width(title);
    for (std::size_t at = title.find(' '); at != std::string::npos; at = title.find(' ', at + 1)) {
      const int width = std::max(display_width(title.substr(0, at)), display_width(title.substr(at + 1)));
      if (width < best_width) {
        best = at;
        best_width = width;
      }
    }
    if (best != std::string::npos) {
      column.title_above = title.substr(0, best);
      column.title = title.substr(best + 1);
    }
  }
  column.width = std::max({cells, display_width(column.title), display_width(column.title_above)});
}

LaidColumn lay_column(const Table& table, std::size_t source, std::size_t rows) {
  LaidColumn column;
  column.source = source;
  const ColumnHeader& header = table.columns[source];
  std::vector<const Value*> values;
  for (std::size_t row = 0; row < rows; ++row) values.push_back(&table.rows[row][source]);
  const ColumnFormat format(header.unit, values);
  column.numeric = format.is_numeric();
  for (const Value* value : values) {
    column.cells.push_back(format.cell(*value));
  }
  std::string title = printable(header.title);
  if (!format.unit_name().empty()) title += " " + format.unit_name();
  set_title(column, title);
  return column;
}

int total_width(std::span<const LaidColumn> columns) {
  int width = columns.empty() ? 0 : gap * static_cast<int>(columns.size() - 1);
  for (const LaidColumn& column : columns) width += column.width;
  return width;
}

// Takes width from the widest text column, one after the other, until the table fits or none can give more.
void squeeze(std::vector<LaidColumn>& columns, int room) {
  int excess = total_width(columns) - room;
  while (excess > 0) {
    LaidColumn* widest = nullptr;
    int second = least_text;
    for (LaidColumn& column : columns) {
      if (column.numeric) continue;
      if (widest == nullptr || column.width > widest->width) {
        if (widest != nullptr) second = std::max(second, widest->width);
        widest = &column;
      } else {
        second = std::max(second, column.width);
      }
    }
    if (widest == nullptr) return;
    const int least = columns.size() > 1 ? least_text : 1;
    const int floor = std::max(least, std::min(second, widest->width - 1));
    const int given = std::min(excess, widest->width - floor);
    if (given <= 0) return;
    widest->width -= given;
    excess -= given;
  }
}

std::string laid_cell(const LaidColumn& column, std::string_view text) {
  return column.numeric ? pad_left(text, column.width) : pad_right(shorten_end(text, column.width), column.width);
}

void write_block(TextPage& page, std::vector<LaidColumn>& columns, std::size_t rows, const TableStyle& style) {
  const std::string margin(static_cast<std::size_t>(style.indent), ' ');
  const std::string between(gap, ' ');
  const auto write = [&](const auto& text_of, Ink ink) {
    std::string line;
    for (const LaidColumn& column : columns) {
      if (!line.empty()) line += between;
      line += laid_cell(column, text_of(column));
    }
    page.line(margin + page.paint(ink, line.substr(0, line.find_last_not_of(' ') + 1)));
  };
  if (std::any_of(columns.begin(), columns.end(), [](const LaidColumn& c) { return !c.title_above.empty(); })) {
    write([](const LaidColumn& c) -> std::string_view { return c.title_above; }, Ink::faint);
  }
  write([](const LaidColumn& c) -> std::string_view { return c.title; }, Ink::faint);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    for (LaidColumn& column : columns) {
      if (&column != &columns.front()) line += between;
      line += column.numeric ? pad_left(column.cells[row], column.width) : pad_right(text_cell(column.cells[row], column.width), column.width);
    }
    page.line(margin + line);
  }
}

// A value that adds up over rows, judged by its unit and the words of its key.
bool is_additive(const ColumnHeader& header) {
  const bool amount = header.unit == Unit::nanoseconds || header.unit == Unit::bytes || header.unit == Unit::flops || header.unit == Unit::count;
  if (!amount) return false;
  for (const std::string_view word : {"min", "max", "median", "mean", "p50", "p90", "p99", "start", "begin", "end_", "offset", "average"}) {
    if (header.key.find(word) != std::string::npos) return false;
  }
  return true;
}

std::string rest_line(const Table& table, std::size_t rows) {
  const std::size_t left = table.rows.size() - rows;
  std::string text = fmt::format("… and {} more", format_count(static_cast<std::int64_t>(left)));
  if (const int column = ranking_column(table); column >= 0) {
    double sum = 0;
    for (std::size_t row = rows; row < table.rows.size(); ++row) sum += number_of(table.rows[row][static_cast<std::size_t>(column)]).value_or(0);
    const ColumnHeader& header = table.columns[static_cast<std::size_t>(column)];
    text += fmt::format(", {}{}", format_value(sum, header.unit), header.unit == Unit::count ? " " + header.title : "");
  }
  return text;
}

}  // namespace

int ranking_column(const Table& table) {
  int best = -1;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (!is_additive(table.columns[column])) continue;
    double above = 0;
    bool first = true, sorted = true, positive = false;
    for (const auto& row : table.rows) {
      const std::optional<double> number = number_of(row[column]);
      if (!number) continue;
      sorted = sorted && (first || *number <= above) && *number >= 0;
      positive = positive || *number > 0;
      above = *number;
      first = false;
    }
    if (!sorted || !positive) continue;
    // A time before an amount before a count.
    if (best < 0 || (table.columns[column].unit == Unit::nanoseconds && table.columns[static_cast<std::size_t>(best)].unit != Unit::nanoseconds)) {
      best = static_cast<int>(column);
    }
  }
  return best;
}

void write_table(TextPage& page, const Table& table, const TableStyle& style) {
  if (table.rows.empty() || table.columns.empty()) return;
  const std::size_t rows = std::min(table.rows.size(), static_cast<std::size_t>(std::max(1, style.rows)));
  const int room = page.columns() - style.indent;
  const bool has_short_names = std::ranges::any_of(table.columns, [](const ColumnHeader& header) { return header.key == "short_name"; });
  std::vector<LaidColumn> columns;
  for (std::size_t source = 0; source < table.columns.size(); ++source) {
    if (!table.columns[source].in_text && !style.all_columns) continue;
    if (table.columns[source].key == "name" && has_short_names) continue;  // kilobytes of C++ beside the name for people
    LaidColumn column = lay_column(table, source, rows);
    // A column in which nothing is known says nothing; the first one names the rows.
    const bool empty = std::all_of(column.cells.begin(), column.cells.end(), [](const std::string& cell) { return cell == "–" || cell.empty(); });
    if (!empty || columns.empty()) columns.push_back(std::move(column));
  }
  if (columns.empty()) return;  // a table that is only for charts
  std::vector<LaidColumn> block;
  std::vector<LaidColumn> later(std::make_move_iterator(columns.begin()), std::make_move_iterator(columns.end()));
  const LaidColumn first = later.front();
  while (!later.empty()) {
    block.clear();
    if (later.front().source != first.source) block.push_back(first);
    std::size_t taken = 0;
    int needed = 0;
    for (const LaidColumn& column : block) needed += std::min(column.width, least_first) + gap;
    while (taken < later.size()) {
      const LaidColumn& column = later[taken];
      const int least = column.numeric ? column.width : std::min(column.width, column.source == first.source ? least_first : least_text);
      if (taken > 0 && needed + least > room) break;
      needed += least + gap;
      ++taken;
    }
    block.insert(block.end(), later.begin(), later.begin() + static_cast<std::ptrdiff_t>(taken));
    later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(taken));
    squeeze(block, room);
    for (LaidColumn& column : block) column.width = std::min(column.width, room);
    write_block(page, block, rows, style);
    if (!style.all_columns) break;
  }
  if (table.rows.size() > rows) page.line(std::string(static_cast<std::size_t>(style.indent), ' ') + page.paint(Ink::faint, rest_line(table, rows)));
}

}  // namespace stepscope
