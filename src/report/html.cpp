// The HTML report: the page built from web/ with this run's data put in. The page is one file that opens without a network; the data are kept within
// 200 KB or 2 % of the raw trace, whichever is more, by drawing fewer slices one by one and by cutting long tables, never by changing a figure.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/embedded.h"
#include "report/packed.h"
#include "report/page_document.h"
#include "report/report.h"
#include "report/timeline_columns.h"
#include "report/timeline_view.h"

namespace stepscope {

namespace {

// 8 MB opens in about a second; more helps nobody who looks at a screen.
constexpr std::uint64_t least_budget = 200'000, most_budget = 8'000'000, raw_per_data = 50;
constexpr std::size_t most_items_drawn = 1'000'000, least_items_drawn = 1'000;
constexpr double expected_bytes_per_item = 4.5;  // packed; measured on real traces: 3 to 7
// Where all does not fit, tables and names are cut in this order until they leave the timeline a good part of the budget.
constexpr double document_share = 0.6;
constexpr PageLimits cuts[] = {{3000, 4000}, {800, 2000}, {300, 1000}, {120, 600}, {60, 400}, {30, 250}, {15, 160}};

struct PageData {
  std::string document, columns;
  std::uint64_t size() const { return document.size() + columns.size(); }
};

class Packing {
 public:
  explicit Packing(const ReportInput& input) : input_(input) {
    std::uint64_t raw = 0;
    for (const Rank& rank : input.timeline.ranks) raw += rank.bytes;
    budget_ = std::clamp(raw / raw_per_data, least_budget, most_budget);
  }

  PageData pack() {
    auto items = static_cast<std::size_t>(static_cast<double>(budget_) / expected_bytes_per_item);
    items = std::clamp(items, least_items_drawn, most_items_drawn);
    std::size_t details = items / 8 + 100, cut = 0;
    bool was_too_much = false;
    PageData best;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const TimelineView view = view_timeline(input_.timeline, input_.facts, items);
      const TimelineColumns columns = encode_columns(view, details);
      PageData data{gzip_base64(page_document(input_, view, columns, cuts[cut])), gzip_base64(columns.bytes)};
      const bool fits = data.size() <= budget_;
      const bool enough = view.slices_merged == 0 || items == most_items_drawn || data.size() > budget_ - budget_ / 5;
      const double room = static_cast<double>(budget_ - std::min<std::uint64_t>(data.document.size(), budget_));
      const double fitting_items = static_cast<double>(view.items.size()) * room / static_cast<double>(data.columns.size()) * 0.93;
      const bool document_too_large = static_cast<double>(data.document.size()) > document_share * static_cast<double>(budget_);
      if (best.document.empty() || (fits ? best.size() > budget_ || data.size() > best.size() : data.size() < best.size())) best = std::move(data);
      if (fits && (enough || was_too_much)) break;
      was_too_much = was_too_much || !fits;
      if (!fits && document_too_large && cut + 1 < std::size(cuts)) {
        ++cut;
        continue;
      }
      if (!fits && items == least_items_drawn) details /= 3;
      items = std::clamp(static_cast<std::size_t>(fitting_items), least_items_drawn, most_items_drawn);
    }
    return best;
  }

 private:
  const ReportInput& input_;
  std::uint64_t budget_ = 0;
};

constexpr std::string_view document_mark = "@@STEPSCOPE_DOCUMENT@@", columns_mark = "@@STEPSCOPE_COLUMNS@@";

std::string_view page_template() {
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.name == "report.html") return file.bytes;
  }
  return {};
}

constexpr std::string_view page_missing =
    "<!doctype html><meta charset=\"utf-8\"><title>Stepscope</title><p>This build of Stepscope was made without the page of its HTML report. Build it with "
    "<code>web/build.sh</code> and build Stepscope again, or use <code>--format text</code> or <code>--format json</code>.</p>\n";

}  // namespace

std::string html_report(const ReportInput& input) {
  const std::string_view page = page_template();
  const std::size_t document_at = page.find(document_mark), columns_at = page.rfind(columns_mark);
  if (document_at == std::string_view::npos || columns_at == std::string_view::npos || columns_at < document_at) return std::string(page_missing);
  const PageData data = Packing(input).pack();
  std::string html;
  html.reserve(page.size() + data.size());
  html += page.substr(0, document_at);
  html += data.document;
  html += page.substr(document_at + document_mark.size(), columns_at - document_at - document_mark.size());
  html += data.columns;
  html += page.substr(columns_at + columns_mark.size());
  return html;
}

}  // namespace stepscope
