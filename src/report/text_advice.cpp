// What to change: after the verdict, the first five, each with what it saves and how; all of them with -v.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

constexpr std::size_t first_shown = 5;
constexpr double least_share = 0.005;  // of the step

// "PyTorch: DataLoader(num_workers=4)": the changes of a rule, at most so many.
std::vector<std::string> how(const Table* changes, const std::string& rule, std::size_t most) {
  std::vector<std::string> found;
  for (std::size_t row = 0; changes != nullptr && row < changes->rows.size() && found.size() < most; ++row)
    if (text_cell(*changes, row, "rule") == rule)
      found.push_back(fmt::format("{}: {}", text_cell(*changes, row, "framework"), text_cell(*changes, row, "change")));
  return found;
}

void write_ranked(TextPage& page, const TextOptions& options, const Table& ranked, const Table* changes) {
  // What would save nothing on top of those above it is told with -v.
  std::size_t worth_telling = 0;
  while (worth_telling < ranked.rows.size() && cell(ranked, worth_telling, "gain_share").value_or(0) >= least_share) ++worth_telling;
  const std::size_t shown = options.verbosity > 0 ? ranked.rows.size() : std::min(first_shown, worth_telling);
  for (std::size_t row = 0; row < shown; ++row) {
    const std::string gain = format_duration(static_cast<Nanoseconds>(cell(ranked, row, "gain_ns").value_or(0)));
    page.paragraph(fmt::format("{}. {}: −{} per step ({}). {}", row + 1, printable(text_cell(ranked, row, "title")), gain,
                               format_percent(cell(ranked, row, "gain_share").value_or(0), true), printable(text_cell(ranked, row, "observation"))),
                   2, Ink::plain, 3);
    for (const std::string& change : how(changes, text_cell(ranked, row, "rule"), options.verbosity > 0 ? ranked.rows.size() + 100 : 1))
      page.paragraph("→ " + printable(change), 5, Ink::strong, 2);
    if (options.verbosity > 0) {
      const std::string settle = text_cell(ranked, row, "would_settle"), caveats = text_cell(ranked, row, "caveats");
      page.paragraph(fmt::format("Confidence: {}.{}{}", text_cell(ranked, row, "confidence"), settle.empty() ? "" : " To be sure: " + printable(settle),
                                 caveats.empty() ? "" : " " + printable(caveats)),
                     5, Ink::faint);
    }
  }
  if (shown < ranked.rows.size()) page.paragraph(fmt::format("… and {} more: -v, or stepscope advise.", ranked.rows.size() - shown), 2, Ink::faint);
}

}  // namespace

void write_advice(TextPage& page, const TextOptions& options, const Section& section) {
  const Table* const ranked = section.table("ranked");
  const Table* const changes = section.table("changes");
  if (ranked == nullptr && options.verbosity == 0) return;
  page.heading(options.verbosity == 0 ? "What to change first" : "What to change");
  if (ranked == nullptr) {
    page.paragraph(section.summary, 2);
  } else {
    write_ranked(page, options, *ranked, changes);
    page.paragraph(section.summary, 2, Ink::faint);
  }
  if (options.verbosity == 0) return;
  if (const Table* const others = section.table("without_gain")) {
    page.line();
    page.paragraph(others->title + ":", 2);
    for (std::size_t row = 0; row < others->rows.size(); ++row)
      page.paragraph(fmt::format("- {}. {} {}", printable(text_cell(*others, row, "title")), printable(text_cell(*others, row, "observation")),
                                 printable(text_cell(*others, row, "why"))),
                     2, Ink::plain, 2);
  }
}

}  // namespace stepscope
