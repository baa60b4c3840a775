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

constexpr int gap = 2;            // blanks between columns
constexpr int least_text = 16;    // a text column is not made narrower than this
constexpr int wanted_first = 54;  // names of kernels and operators are worth more than the spread of their times
constexpr int least_first = 28;   // nor the first one than this, while other columns can go

struct LaidColumn {
  std::size_t source = 0;
  std::vector<std::string> cells;
  std::string title_above, title;  // two lines
  bool numeric = false;
  int width = 0;  // natural, then final
};

// A C++ signature or a generated name that readable_kernel_name() can make sense of; not an operator, a Python frame or prose.
bool looks_like_kernel(std::string_view name) {
  if (name.starts_with("void ") || name.starts_with("_Z") || name.starts_with("Cijk_")) return true;
  if (name.ends_with('>') && !name.starts_with('<')) return name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos;
  const std::size_t open = name.find('(');
  return name.ends_with(')') && open != std::string_view::npos && open > 0 && name[open - 1] != ' ';
}

std::string text_cell(std::string cell, int width) {
  if (display_width(cell) > width && looks_like_kernel(cell)) cell = readable_kernel_name(cell);
  if (display_width(cell) > width && cell.starts_with("aten::")) cell.erase(0, 6);
  return shorten_middle(cell, width);
}

int width_of_cells(const LaidColumn& column) {
  int width = 0;
  for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
  return width;
}

// Breaks "Device, own ms" into two lines where that makes the column narrower.
void break_title(LaidColumn& column) {
  const std::string title = column.title;
  std::size_t best = std::string::npos;
  int best_width = display_width(title);
  for (std::size_t at = title.find(' '); at != std::string::npos; at = title.find(' ', at + 1)) {
    const int width = std::max(display_width(title.substr(0, at)), display_width(title.substr(at + 1)));
    if (width < best_width) {
      best = at;
      best_width = width;
    }
  }
  if (best == std::string::npos || best_width >= column.width) return;
  if (const int cells = width_of_cells(column); display_width(title) <= cells) return;
  column.title_above = title.substr(0, best);
  column.title = title.substr(best + 1);
  column.width = std::max(width_of_cells(column), best_width);
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
    std::string cell = format.cell(*value);
    if (display_width(cell) > wanted_first && looks_like_kernel(cell)) cell = readable_kernel_name(cell);
    column.cells.push_back(std::move(cell));
  }
  std::string title = printable(header.title);
  if (!format.unit_name().empty()) title += " " + format.unit_name();
  column.title = title;
  column.width = std::max(width_of_cells(column), display_width(title));
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

// `margins`: what stands before each row; as wide as the header is indented.
void write_block(TextPage& page, const std::vector<LaidColumn>& columns, const std::vector<std::string>& margins, int indent) {
  const std::string header_margin(static_cast<std::size_t>(indent), ' '), between(gap, ' ');
  const auto write_header = [&](const auto& text_of) {
    std::string line;
    for (const LaidColumn& column : columns) line += (&column != &columns.front() ? between : "") + laid_cell(column, text_of(column));
    page.line(header_margin + page.paint(Ink::faint, line.substr(0, line.find_last_not_of(' ') + 1)));
  };
  if (std::ranges::any_of(columns, [](const LaidColumn& c) { return !c.title_above.empty(); })) {
    write_header([](const LaidColumn& c) -> std::string_view { return c.title_above; });
  }
  write_header([](const LaidColumn& c) -> std::string_view { return c.title; });
  for (std::size_t row = 0; row < margins.size(); ++row) {
    std::string line = margins[row];
    for (const LaidColumn& column : columns) {
      if (&column != &columns.front()) line += between;
      line += column.numeric ? pad_left(column.cells[row], column.width) : pad_right(text_cell(column.cells[row], column.width), column.width);
    }
    page.line(line);
  }
}

// The class of a device slice is shown as the glyph that it has in the bars.
std::optional<Ink> ink_of_class(const Value& value) {
  const auto* name = std::get_if<std::string>(&value);
  if (name == nullptr) return std::nullopt;
  if (*name == "compute") return Ink::compute;
  if (*name == "communication") return Ink::communication;
  if (*name == "memory") return Ink::memory;
  return std::nullopt;
}

// The column that is shown as glyphs before each row; nullopt = none.
std::optional<std::size_t> glyph_column(const Table& table, const TableStyle& style) {
  if (style.all_columns) return std::nullopt;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].key == "class" && std::ranges::all_of(table.rows, [&](const auto& row) { return ink_of_class(row[column]).has_value(); }))
      return column;
  }
  return std::nullopt;
}

// What a page can do without when names would be cut: the spread of times, the last first.
bool is_expendable(const ColumnHeader& header) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"p90", "max", "min_", "longest"},
                             [&](std::string_view word) { return header.key.find(word) != std::string::npos; });
}

bool says_nothing(const Table& table, std::size_t column, bool zeros_too) {
  return std::ranges::all_of(table.rows, [&](const auto& row) {
    const Value& value = row[column];
    if (const auto* words = std::get_if<std::string>(&value)) return words->empty();
    const std::optional<double> number = number_of(value);
    return number ? zeros_too && *number == 0 : !std::holds_alternative<bool>(value);
  });
}

// A value that adds up over rows, judged by its unit and the words of its key.
bool is_additive(const ColumnHeader& header) {
  const bool amount =
      header.unit == Unit::nanoseconds || header.unit == Unit::bytes || header.unit == Unit::flops || (header.unit == Unit::count && header.key == "count");
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
    if (sum > 0) text += fmt::format(", {}{}", format_value(sum, header.unit), header.unit == Unit::count ? " " + header.title : "");
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
  const std::optional<std::size_t> glyphs = glyph_column(table, style);
  const int room = page.columns() - style.indent - (glyphs ? 2 : 0);
  const bool has_short_names = std::ranges::any_of(table.columns, [](const ColumnHeader& header) { return header.key == "short_name"; });
  std::vector<LaidColumn> columns;
  for (std::size_t source = 0; source < table.columns.size(); ++source) {
    if (!table.columns[source].in_text && !style.all_columns) continue;
    if (table.columns[source].key == "name" && has_short_names) continue;  // kilobytes of C++ beside the name for people
    if (source == glyphs) continue;
    // The first column names the rows, whatever it says.
    if (!columns.empty() && says_nothing(table, source, !style.all_columns)) continue;
    columns.push_back(lay_column(table, source, rows));
  }
  if (columns.empty()) return;  // nothing of it is for the terminal
  if (total_width(columns) > room) {
    for (LaidColumn& column : columns) {
      if (column.numeric) break_title(column);
    }
  }
  while (!style.all_columns && !columns.front().numeric &&
         total_width(columns) - columns.front().width + std::min(columns.front().width, wanted_first) > room) {
    const auto expendable =
        std::find_if(columns.rbegin(), columns.rend(), [&](const LaidColumn& column) { return is_expendable(table.columns[column.source]); });
    if (expendable == columns.rend()) break;
    columns.erase(std::next(expendable).base());
  }
  std::vector<std::string> margins(rows, std::string(static_cast<std::size_t>(style.indent), ' '));
  if (glyphs) {
    for (std::size_t row = 0; row < rows; ++row) margins[row] += bar_glyph(page, *ink_of_class(table.rows[row][*glyphs])) + " ";
  }
  const LaidColumn first = columns.front();
  std::vector<LaidColumn> block;
  while (!columns.empty()) {
    block.clear();
    if (columns.front().source != first.source) block.push_back(first);
    int needed = block.empty() ? 0 : std::min(first.width, least_first) + gap;
    std::size_t taken = 0;
    while (taken < columns.size()) {
      const LaidColumn& column = columns[taken];
      const int least = column.numeric ? column.width : std::min(column.width, column.source == first.source ? least_first : least_text);
      if (taken > 0 && needed + least > room) break;
      needed += least + gap;
      ++taken;
    }
    block.insert(block.end(), columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(taken));
    columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(taken));
    squeeze(block, room);
    for (LaidColumn& column : block) column.width = std::min(column.width, room);
    write_block(page, block, margins, style.indent + (glyphs ? 2 : 0));
    if (!style.all_columns) break;
  }
  if (table.rows.size() > rows) page.line(std::string(static_cast<std::size_t>(style.indent), ' ') + page.paint(Ink::faint, rest_line(table, rows)));
}

}  // namespace stepscope
