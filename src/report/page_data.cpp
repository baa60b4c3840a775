#include "report/page_data.h"

#include <algorithm>

#include "report/packed.h"
#include "report/page_document.h"
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
    std::size_t too_many = most_items_drawn + 1;  // items with which the data were too large, with the present cut
    PageData best;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const TimelineView view = view_timeline(input_.timeline, input_.facts, items);
      const TimelineColumns columns = encode_columns(view, details);
      PageData data{gzip_base64(page_document(input_, view, columns, cuts[cut])), gzip_base64(columns.bytes)};
      const double document = static_cast<double>(data.document.size()), budget = static_cast<double>(budget_);
      const double bytes_per_item = static_cast<double>(data.columns.size()) / static_cast<double>(view.items.size() + 1);
      const auto fitting = static_cast<std::size_t>(std::max(budget - document, 0.0) / bytes_per_item * 0.93);
      const bool fits = data.size() <= budget_;
      const bool enough = view.slices_merged == 0 || items == most_items_drawn || data.size() > budget_ - budget_ / 5;
      if (best.document.empty() || (fits ? best.size() > budget_ || data.size() > best.size() : data.size() < best.size())) best = std::move(data);

      if (fits) {
        const std::size_t more = std::min({fitting, too_many - too_many / 8, most_items_drawn});
        if (enough || more < items + items / 8) break;
        items = more;
      } else if (document > document_share * budget && cut + 1 < std::size(cuts)) {
        ++cut;
        // Names of slices may be what is too large: then fewer slices help, and later attempts find out whether more fit after all.
        if (document > 2 * budget) items = std::max(static_cast<std::size_t>(static_cast<double>(items) * budget / document), least_items_drawn);
        too_many = most_items_drawn + 1;
      } else {
        too_many = items;
        if (items == least_items_drawn) details /= 3;
        items = std::clamp(std::min(fitting, items - items / 8), least_items_drawn, most_items_drawn);
      }
    }
    return best;
  }

 private:
  const ReportInput& input_;
  std::uint64_t budget_ = 0;
};

}  // namespace

PageData pack_page_data(const ReportInput& input) {
  return Packing(input).pack();
}

}  // namespace stepscope
