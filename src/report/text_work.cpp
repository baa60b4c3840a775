// Work and roofline on the terminal: of each operator the rate that bounds it, and how near it comes.
#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

// The two rates of a row become one: that of the resource which bounds the work.
void put_bounding_rate(Table& table) {
  const auto flops = column_of(table, "achieved_flops_per_s"), bytes = column_of(table, "achieved_bytes_per_s"), bound = column_of(table, "bound_by");
  if (!flops || !bytes || !bound) return;
  for (auto& row : table.rows) {
    const auto* by = std::get_if<std::string>(&row[*bound]);
    const bool compute = by != nullptr && *by == "compute";
    const std::size_t rate = compute ? *flops : *bytes;
    row[*flops] = by != nullptr && number_of(row[rate]) ? Value{format_value(row[rate], table.columns[rate].unit)} : Value{};
  }
  table.columns[*flops].unit = Unit::none;
  table.columns[*bytes].in_text = table.columns[*bound].in_text = false;
  if (const auto share = column_of(table, "share")) table.columns[*share].in_text = false;
}

}  // namespace

void write_work(TextPage& page, const TextOptions& options, const Section& section) {
  Section shown = section;
  if (options.verbosity == 0) {
    if (!figure(&section, "flops") && !figure(&section, "model_flops")) shown.figures.clear();  // nothing is known: the caveats say why
    for (Table& table : shown.tables) {
      if (table.key != "without_formula") put_bounding_rate(table);
    }
  }
  write_section(page, options, shown, "");
}

}  // namespace stepscope
