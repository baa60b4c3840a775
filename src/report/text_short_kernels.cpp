// Short kernels on the terminal: three lines instead of a histogram.
#include <fmt/core.h>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

void write_short_kernels(TextPage& page, const TextOptions& options, const Section& section) {
  if (options.verbosity > 0) return write_section(page, options, section, "");
  const double kernels = figure(&section, "kernels").value_or(0), time = figure(&section, "total_ns").value_or(0);
  Table table{.key = "short_kernels",
              .title = section.title,
              .columns = {{"below", "Shorter than"},
                          {"count", "Kernels", Unit::count},
                          {"share_of_count", "Of all", Unit::ratio},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"share_of_time", "Of all", Unit::ratio}},
              .rows = {}};
  for (const int microseconds : {5, 10, 20}) {
    const auto count = figure(&section, fmt::format("under_{}us_count", microseconds)), sum = figure(&section, fmt::format("under_{}us_ns", microseconds));
    if (!count || !sum || kernels <= 0 || time <= 0) return write_section(page, options, section, "");
    table.rows.push_back(
        {fmt::format("{} µs", microseconds), static_cast<std::int64_t>(*count), *count / kernels, static_cast<std::int64_t>(*sum), *sum / time});
  }
  page.heading(printable(section.title));
  page.paragraph(printable(section.summary), 2);
  write_table(page, table, {.rows = 3, .all_columns = true, .indent = 2});
  for (const std::string& caveat : section.caveats) page.note(caveat);
}

}  // namespace stepscope
