// Capture health on the terminal: one line at the top of every page; the whole at the end, or before the figures where it makes them doubtful.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

std::size_t rows_of(const Section* health, std::string_view key) {
  const Table* table = health != nullptr ? health->table(key) : nullptr;
  return table != nullptr ? table->rows.size() : 0;
}

// "truncated" -> "truncated"; "invalid_utf8" -> "invalid utf8"
std::string words(std::string_view kind) {
  std::string text = printable(kind);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void write_items(TextPage& page, const Table& table, std::string_view lead, Ink ink) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string explanation = text_cell(table, row, "explanation"), where = text_cell(table, row, "where");
    std::string text = fmt::format("{}{}", lead, words(text_cell(table, row, "kind")));
    if (const auto count = cell(table, row, "count"); count && *count > 1) text += fmt::format(" ({} times)", format_count(static_cast<std::int64_t>(*count)));
    if (!explanation.empty() && explanation != "–") text += ": " + explanation;
    if (!where.empty() && where != "–") text += fmt::format(" [{}]", where);
    page.paragraph(text, 2, ink);
  }
}

}  // namespace

std::string health_line(const Findings& findings) {
  const Section* health = find_section(findings.sections, "health");
  if (health == nullptr) return "Capture: health unknown.";
  const std::size_t repairs = rows_of(health, "repairs"), notes = rows_of(health, "notes");
  if (repairs == 0) return notes == 0 ? "Capture: clean." : fmt::format("Capture: no repairs, {} note{}.", notes, notes == 1 ? "" : "s");
  const Table& table = *health->table("repairs");
  std::string text = fmt::format("Capture: {} kind{} of repair: ", repairs, repairs == 1 ? "" : "s");
  for (std::size_t row = 0; row < std::min<std::size_t>(repairs, 3); ++row) {
    if (row > 0) text += ", ";
    text += words(text_cell(table, row, "kind"));
    if (const auto count = cell(table, row, "count"); count && *count > 1) text += fmt::format(" ×{}", format_count(static_cast<std::int64_t>(*count)));
  }
  return text + (repairs > 3 ? ", …" : ".");
}

bool health_comes_first(const Findings& findings) {
  return rows_of(find_section(findings.sections, "health"), "repairs") > 0;
}

void write_health(TextPage& page, const TextOptions& options, const Findings& findings) {
  const Section* health = find_section(findings.sections, "health");
  if (health == nullptr) return;
  page.heading(printable(health->title));
  if (!health->summary.empty()) page.paragraph(printable(health->summary), 2);
  if (const Table* repairs = health->table("repairs")) write_items(page, *repairs, "Repaired: ", Ink::plain);
  if (const Table* notes = health->table("notes")) write_items(page, *notes, "", Ink::plain);
  Section rest = *health;
  std::erase_if(rest.tables, [](const Table& table) { return table.key == "repairs" || table.key == "notes"; });
  write_section_body(page, options, rest);
}

}  // namespace stepscope
