// A section as the terminal shows it from its own words and units: a new question appears without an edit here. Only what is left out of a page without -v,
// to keep it short, is named.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

constexpr int indent = 2, gap = 4;
constexpr int tree_rows = 60;

// Figures side by side: titles at the left of their cell, values at its right.
void write_figures(TextPage& page, const std::vector<Figure>& figures) {
  struct Cell {
    std::string title, value;
  };
  std::vector<Cell> cells;
  int title_width = 0, value_width = 0;
  const int room = page.columns() - indent;
  for (const Figure& figure : figures) {
    Cell cell{printable(figure.title), format_value(figure.value, figure.unit)};
    if (display_width(cell.title) + 2 + display_width(cell.value) > room) {  // prose: a line of its own
      page.paragraph(cell.title + ": " + cell.value, indent);
      continue;
    }
    title_width = std::max(title_width, display_width(cell.title));
    value_width = std::max(value_width, display_width(cell.value));
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) return;
  title_width = std::min(title_width, room - 2 - value_width);
  const int cell_width = title_width + 2 + value_width;
  const std::size_t across = static_cast<std::size_t>(std::max(1, (room + gap) / (cell_width + gap)));
  const std::size_t down = (cells.size() + across - 1) / across;
  for (std::size_t row = 0; row < down; ++row) {
    std::string line(indent, ' ');
    for (std::size_t column = 0; column < across; ++column) {
      const std::size_t at = column * down + row;  // read downwards
      if (at >= cells.size()) break;
      if (column > 0) line.append(gap, ' ');
      line += page.paint(Ink::faint, pad_right(shorten_middle(cells[at].title, title_width), title_width)) + "  " + pad_left(cells[at].value, value_width);
    }
    page.line(line);
  }
}

// Told elsewhere on the page, or detail: only with -v.
constexpr std::string_view figures_told_by_the_bars[] = {"host_ns", "launch_ns", "scheduling_ns", "dependency_ns", "graph_ns", "unknown_ns", "unlinked_ns"};
constexpr std::string_view detail_tables[] = {"by_step", "by_stream", "histogram", "delay_histogram"};
// Sections whose summary and tables say what their figures do.
constexpr std::string_view sections_without_figures[] = {"critical_path", "operators", "launches", "queue", "synchronisations", "copies", "modules"};
// Tables that are the heart of a page: shown with all of --top; others with half of it.
constexpr std::string_view main_tables[] = {"kernels", "by_name", "collectives", "work"};

template <std::size_t N>
bool is_among(const std::string_view (&list)[N], std::string_view key) {
  return std::ranges::find(list, key) != std::end(list);
}

int rows_of(const Table& table, const TextOptions& options) {
  if (table.key == "call_tree") return std::max(options.top, tree_rows);
  if (options.verbosity > 0 || is_among(main_tables, table.key)) return options.top;
  const int rows = std::max(std::min(options.top, 3), options.top / 2);
  const int all = static_cast<int>(std::min<std::size_t>(table.rows.size(), 1'000'000));
  return all <= rows + 2 && all <= options.top ? all : rows;  // a last line that stands for one or two rows is no shorter than they are
}

// A tree in the order of a walk: names stand as deep as their rows.
Table indented_by_depth(Table table) {
  constexpr double deepest = 20;
  const auto depth = column_of(table, "depth"), parent = column_of(table, "parent");
  if (!depth) return table;
  for (auto& row : table.rows) {
    auto* name = std::get_if<std::string>(&row.front());
    if (name != nullptr) name->insert(0, static_cast<std::size_t>(2 * std::clamp(number_of(row[*depth]).value_or(0), 0.0, deepest)), ' ');
    // Said by the indentation.
    row[*depth] = Value{};
    if (parent) row[*parent] = Value{};
  }
  return table;
}

// A curve over time, as the memory section has it: of the device with the highest values.
void write_series(TextPage& page, const Table& table) {
  const auto time = column_of(table, "time_ns"), value = column_of(table, "allocated_bytes"), device = column_of(table, "device");
  if (!time || !value || !device) return;
  const auto highest = std::ranges::max_element(table.rows, {}, [&](const auto& row) { return number_of(row[*value]).value_or(0); });
  std::vector<std::pair<double, double>> curve;
  for (const auto& row : table.rows) {
    if (row[*device] == (*highest)[*device]) curve.emplace_back(number_of(row[*time]).value_or(0), number_of(row[*value]).value_or(0));
  }
  if (curve.size() < 2) return;
  const double begin = curve.front().first, length = curve.back().first - begin;
  std::vector<double> marks(static_cast<std::size_t>(page.columns() - indent));
  // Each mark shows the highest value in its share of the time; where nothing changed, the last value stays.
  std::size_t reached = 0;
  double last = 0;
  for (const auto& [at, bytes] : curve) {
    const double share = length > 0 ? (at - begin) / length : 1;
    const std::size_t mark = std::min(marks.size() - 1, static_cast<std::size_t>(share * static_cast<double>(marks.size())));
    while (reached < mark) marks[++reached] = last;
    marks[mark] = std::max(marks[mark], bytes);
    last = bytes;
  }
  page.line();
  page.paragraph(fmt::format("{} over {}: {} allocated at most", format_value((*highest)[*device], Unit::none), format_value(length, Unit::nanoseconds),
                             format_value((*highest)[*value], table.columns[*value].unit)),
                 indent, Ink::strong);
  page.line(std::string(indent, ' ') + sparkline(marks));
}

}  // namespace

void write_section_body(TextPage& page, const TextOptions& options, const Section& section) {
  const bool all = options.verbosity > 0;
  std::vector<Figure> figures = section.figures;
  if (!all && is_among(sections_without_figures, section.key)) figures.clear();
  if (!all && section.key == "idle_by_cause") std::erase_if(figures, [](const Figure& figure) { return number_of(figure.value) == 0.0; });
  if (!all) {
    std::erase_if(figures,
                  [](const Figure& figure) { return is_among(figures_told_by_the_bars, figure.key) || std::holds_alternative<std::monostate>(figure.value); });
  }
  write_figures(page, figures);
  bool first = figures.empty();
  for (const Table& table : section.tables) {
    if (table.rows.empty() || (!all && is_among(detail_tables, table.key))) continue;
    if (table.key == "series") {
      write_series(page, table);
      continue;
    }
    if (!all && std::ranges::none_of(table.columns, &ColumnHeader::in_text)) continue;
    const bool titled = section.tables.size() > 1 && table.title != section.title;
    if (!first || titled) page.line();
    first = false;
    if (titled) page.paragraph(printable(table.title), indent, Ink::strong);
    write_table(page, table.key == "call_tree" ? indented_by_depth(table) : table, {.rows = rows_of(table, options), .all_columns = all, .indent = indent});
  }
  for (const std::string& caveat : section.caveats) page.note(caveat);
}

void write_section(TextPage& page, const TextOptions& options, const Section& section, std::string_view title_addition) {
  page.heading(printable(section.title) + std::string(title_addition));
  if (!section.summary.empty()) page.paragraph(printable(section.summary), indent);
  write_section_body(page, options, section);
}

}  // namespace stepscope
