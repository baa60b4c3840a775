// A section as the terminal shows it when nothing is known about it but its own words and units: a new question appears without an edit here.
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

bool holds_kernel_names(const Section& section) {
  return section.key.starts_with("kernel");
}

}  // namespace

void write_section_body(TextPage& page, const TextOptions& options, const Section& section) {
  write_figures(page, section.figures);
  for (const Table& table : section.tables) {
    if (table.rows.empty()) continue;
    if (section.tables.size() > 1 || !section.figures.empty()) {
      page.line();
      if (section.tables.size() > 1) page.paragraph(printable(table.title), indent, Ink::strong);
    }
    write_table(page, table, {.rows = options.top, .all_columns = options.verbosity > 0, .kernel_names = holds_kernel_names(section), .indent = indent});
  }
  for (const std::string& caveat : section.caveats) page.paragraph("Note: " + printable(caveat), indent, Ink::faint);
}

void write_section(TextPage& page, const TextOptions& options, const Section& section, std::string_view title_addition) {
  page.heading(printable(section.title) + std::string(title_addition));
  if (!section.summary.empty()) page.paragraph(printable(section.summary), indent);
  write_section_body(page, options, section);
}

}  // namespace stepscope
