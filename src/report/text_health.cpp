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

// True of every capture of its kind, and of no consequence for a figure: only with -v.
constexpr std::string_view everyday_notes[] = {"launch_arrows"};

bool is_everyday(const Table& notes, std::size_t row) {
  return std::ranges::find(everyday_notes, text_cell(notes, row, "kind")) != std::end(everyday_notes);
}

std::size_t notes_of(const Section* health) {
  const Table* notes = health != nullptr ? health->table("notes") : nullptr;
  std::size_t count = 0;
  for (std::size_t row = 0; notes != nullptr && row < notes->rows.size(); ++row) count += !is_everyday(*notes, row);
  return count;
}

// Over the ranks that lost so many device records that their busy time is a lower bound.
KernelLaunches lost_launches(const Facts& facts) {
  KernelLaunches lost;
  for (const KernelLaunches& rank : facts.kernel_launches) {
    if (!rank.records_were_lost()) continue;
    lost.seen += rank.seen;
    lost.without_record += rank.without_record;
  }
  return lost;
}

bool is_said(std::string_view text) {
  return !text.empty() && text != "–";
}

// "30.0 % of 20 kernel launches have …"
bool counts_itself(std::string_view explanation) {
  return !explanation.empty() && explanation.front() >= '0' && explanation.front() <= '9';
}

void write_items(TextPage& page, const TextOptions& options, const Table& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (options.verbosity == 0 && is_everyday(table, row)) continue;
    const std::string explanation = text_cell(table, row, "explanation"), where = text_cell(table, row, "where");
    std::string text = is_said(explanation) ? explanation : words(text_cell(table, row, "kind"));
    if (const auto count = cell(table, row, "count"); count && *count > 1 && !counts_itself(explanation))
      text += fmt::format(" ({} times)", format_count(static_cast<std::int64_t>(*count)));
    if (is_said(where)) text += fmt::format(" (first: {})", where);
    page.paragraph("- " + text, 2, Ink::plain, 2);
  }
}

// What the capture lacks is a list of answers, each with the option that brings it.
void write_missing(TextPage& page, const Table& table) {
  page.paragraph("Not recorded, and what would be answered with it:", 2, Ink::strong);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    page.paragraph(
        fmt::format("- {}: {}. {}", text_cell(table, row, "records"), text_cell(table, row, "answers_absent"), text_cell(table, row, "profiler_option")), 2,
        Ink::plain, 2);
  }
}

}  // namespace

std::string health_line(const ReportInput& input) {
  const Section* health = find_section(input.findings.sections, "health");
  if (health == nullptr) return "Capture: health unknown.";
  std::vector<std::string> parts;
  if (const std::size_t repairs = rows_of(health, "repairs"); repairs > 0) {
    const Table& table = *health->table("repairs");
    std::string text = fmt::format("{} kind{} of repair: ", repairs, repairs == 1 ? "" : "s");
    for (std::size_t row = 0; row < std::min<std::size_t>(repairs, 3); ++row) {
      if (row > 0) text += ", ";
      text += words(text_cell(table, row, "kind"));
      if (const auto count = cell(table, row, "count"); count && *count > 1) text += fmt::format(" ×{}", format_count(static_cast<std::int64_t>(*count)));
    }
    parts.push_back(text + (repairs > 3 ? ", …" : ""));
  }
  const KernelLaunches lost = lost_launches(input.facts);
  if (lost.without_record > 0) {
    parts.push_back(fmt::format("{} of {} kernel launches have no device record, so that busy time is a lower bound",
                                format_count(static_cast<std::int64_t>(lost.without_record)), format_count(static_cast<std::int64_t>(lost.seen))));
  }
  if (parts.empty()) {
    const std::size_t notes = notes_of(health), missing = rows_of(health, "missing");
    if (notes == 0 && missing == 0) return "Capture: clean.";
    std::string text = "Capture: nothing repaired";
    if (notes > 0) text += fmt::format(", {} worth knowing", notes == 1 ? "one thing" : fmt::format("{} things", notes));
    if (missing > 0) text += fmt::format(", {} of record missing", missing == 1 ? "one kind" : fmt::format("{} kinds", missing));
    return text + " (at the end).";
  }
  std::string text = "Capture: ";
  for (const std::string& part : parts) text += (&part != &parts.front() ? "; " : "") + part;
  return text + ".";
}

bool health_comes_first(const ReportInput& input) {
  return rows_of(find_section(input.findings.sections, "health"), "repairs") > 0 || lost_launches(input.facts).without_record > 0;
}

void write_health(TextPage& page, const TextOptions& options, const Findings& findings) {
  const Section* health = find_section(findings.sections, "health");
  if (health == nullptr) return;
  page.heading(printable(health->title));
  if (!health->summary.empty()) page.paragraph(printable(health->summary), 2);
  if (const Table* repairs = health->table("repairs")) write_items(page, options, *repairs);
  if (const Table* notes = health->table("notes")) write_items(page, options, *notes);
  if (const Table* missing = health->table("missing"); missing != nullptr && !missing->rows.empty()) write_missing(page, *missing);
  Section rest = *health;
  std::erase_if(rest.tables, [](const Table& table) { return table.key == "repairs" || table.key == "notes" || table.key == "missing"; });
  write_section_body(page, options, rest);
}

}  // namespace stepscope
