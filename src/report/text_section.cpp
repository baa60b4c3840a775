// A section as the terminal shows it from its own words and units: a new question appears without an edit here. Only what is left out of a page without -v,
// to keep it short, is named.
#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

constexpr int indent = 2, gap = 4;

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
constexpr std::string_view sections_without_figures[] = {"operators", "launches", "queue", "synchronisations", "copies"};
// Tables that are the heart of a page: shown with all of --top; others with half of it.
constexpr std::string_view main_tables[] = {"kernels", "by_name", "collectives", "work"};

template <std::size_t N>
bool is_among(const std::string_view (&list)[N], std::string_view key) {
  return std::ranges::find(list, key) != std::end(list);
}

int rows_of(const Table& table, const TextOptions& options) {
  return options.verbosity > 0 || is_among(main_tables, table.key) ? options.top : std::max(std::min(options.top, 3), options.top / 2);
}

}  // namespace

void write_section_body(TextPage& page, const TextOptions& options, const Section& section) {
  const bool all = options.verbosity > 0;
  std::vector<Figure> figures = section.figures;
  if (!all && is_among(sections_without_figures, section.key)) figures.clear();
  if (!all) std::erase_if(figures, [](const Figure& figure) { return is_among(figures_told_by_the_bars, figure.key); });
  write_figures(page, figures);
  bool first = figures.empty();
  for (const Table& table : section.tables) {
    if (table.rows.empty() || (!all && is_among(detail_tables, table.key))) continue;
    if (!first) page.line();
    first = false;
    if (section.tables.size() > 1) page.paragraph(printable(table.title), indent, Ink::strong);
    write_table(page, table, {.rows = rows_of(table, options), .all_columns = all, .indent = indent});
  }
  for (const std::string& caveat : section.caveats) page.paragraph("Note: " + printable(caveat), indent, Ink::faint);
}

void write_section(TextPage& page, const TextOptions& options, const Section& section, std::string_view title_addition) {
  page.heading(printable(section.title) + std::string(title_addition));
  if (!section.summary.empty()) page.paragraph(printable(section.summary), indent);
  write_section_body(page, options, section);
}

}  // namespace stepscope
