// The steps of a device: few as bars to one scale, many as a sparkline; those that are far off are named.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

constexpr std::size_t most_bars = 12;
constexpr double notable_difference = 0.1;  // between a step's time on the host and its window on the device

// A step's device time in the parts of the breakdown; `causes` (null = not known) has the same steps in the same order.
std::vector<BarPart> parts_of(const Table& steps, const Table* causes, std::size_t row) {
  const auto value = [&](std::string_view key) { return cell(steps, row, key).value_or(0); };
  const double host = causes != nullptr ? cell(*causes, row, "host_ns").value_or(0) : 0;
  const double launch = causes != nullptr ? cell(*causes, row, "launch_ns").value_or(0) : 0;
  return {{value("compute_ns"), Ink::compute},
          {value("exposed_communication_ns"), Ink::communication},
          {value("exposed_memory_ns"), Ink::memory},
          {host, Ink::host},
          {launch, Ink::launch},
          {value("idle_ns") - host - launch, Ink::other}};
}

void write_bars(TextPage& page, const Table& table, const Table* causes) {
  double longest = 0;
  int name_width = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    longest = std::max(longest, cell(table, row, "span_ns").value_or(0));
    name_width = std::max(name_width, display_width(text_cell(table, row, "step")));
  }
  if (longest <= 0) return;
  bool differ = false;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double host = cell(table, row, "step_time_ns").value_or(0), device = cell(table, row, "span_ns").value_or(0);
    differ = differ || std::fabs(device - host) > notable_difference * std::max(host, device);
  }
  bool any_steady = false;  // where none is, nothing was left out
  for (std::size_t row = 0; row < table.rows.size(); ++row) any_steady = any_steady || !is_outlier(table, row);
  const int bar_width = page.columns() - 2 - 5 - name_width - 2 - 9 - 2 - 10;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string line = fmt::format("  step {}  {}  {}", pad_left(text_cell(table, row, "step"), name_width),
                                         pad_left(text_cell(table, row, "step_time_ns"), 9), bar(page, parts_of(table, causes, row), longest, bar_width));
    page.line(line + (any_steady && is_outlier(table, row) ? page.paint(Ink::faint, "  left out") : ""));
  }
  if (differ)
    page.note(fmt::format("The times are the host's; the bars are the steps' windows on the device, the longest {}", format_value(longest, Unit::nanoseconds)));
}

void write_sparkline(TextPage& page, const Table& table) {
  const std::size_t room = static_cast<std::size_t>(page.columns() - 2);
  const std::size_t per_mark = (table.rows.size() + room - 1) / room;  // steps that share a mark show the longest of them
  std::vector<double> marks;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double time = cell(table, row, "step_time_ns").value_or(0);
    if (row % per_mark == 0) {
      marks.push_back(time);
    } else {
      marks.back() = std::max(marks.back(), time);
    }
  }
  page.line("  " + sparkline(marks));
  page.line("  " + page.paint(Ink::faint, fmt::format("steps {} to {}{}", text_cell(table, 0, "step"), text_cell(table, table.rows.size() - 1, "step"),
                                                      per_mark > 1 ? fmt::format(", {} per mark", per_mark) : "")));
}

// "step 7 (1.21 s), step 9 (640 ms)": steps inside the capture that are left out of the means.
void write_outliers(TextPage& page, const Table& table) {
  std::string text;
  std::size_t named = 0, count = 0;
  for (std::size_t row = 1; row + 1 < table.rows.size(); ++row) {
    if (!is_outlier(table, row)) continue;
    ++count;
    if (named == 6) continue;
    text += fmt::format("{}step {} ({})", named++ > 0 ? ", " : "", text_cell(table, row, "step"), text_cell(table, row, "step_time_ns"));
  }
  if (count > 0) page.paragraph("Far from the median: " + text + (count > named ? fmt::format(" and {} more", count - named) : "") + ".", 2, Ink::warning);
}

}  // namespace

void write_steps(TextPage& page, const TextOptions& options, const Section* times, const Section* steps, const Section* idle) {
  const Section& first = times != nullptr ? *times : *steps;
  page.heading(printable(first.title));
  if (!first.summary.empty()) page.paragraph(printable(first.summary), 2);
  const Table* device_table = steps != nullptr && !steps->tables.empty() ? &steps->tables.front() : nullptr;
  const Table* host_table = times != nullptr && !times->tables.empty() ? &times->tables.front() : nullptr;
  const Table* causes = idle != nullptr ? idle->table("by_step") : nullptr;
  if (causes != nullptr && device_table != nullptr && causes->rows.size() != device_table->rows.size()) causes = nullptr;
  const Table* table = device_table != nullptr && !device_table->rows.empty() ? device_table : host_table;
  if (table != nullptr && !table->rows.empty()) {
    if (table == device_table && table->rows.size() <= most_bars) {
      write_bars(page, *table, causes);
    } else if (table->rows.size() > 1) {
      write_sparkline(page, *table);
    }
    write_outliers(page, *table);
  }
  for (const Section* section : {times, steps}) {
    if (section == nullptr) continue;
    if (options.verbosity > 0) {
      if (section == steps && times != nullptr) {
        page.line();
        page.paragraph(printable(section->title), 2, Ink::strong);
      }
      write_section_body(page, options, *section);
    } else {
      for (const std::string& caveat : section->caveats) page.note(caveat);
    }
  }
}

}  // namespace stepscope
