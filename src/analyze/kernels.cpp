// Which kernels, copies and fills did the device run, how often, for how long?
#include <fmt/core.h>

#include <algorithm>

#include "analyze/device_names.h"
#include "analyze/value.h"
#include "base/kernel_name.h"
#include "facts/activity.h"

namespace stepscope {

namespace {

std::vector<Section> answer(const Scene& scene) {
  const std::vector<NameSpread> names = spread_by_name(scene);
  if (names.empty()) return {};
  Nanoseconds total = 0;
  for (const NameSpread& name : names) total += name.spread.total;
  Section section{.key = "kernels", .title = "Kernels, copies and fills", .prominence = 40};
  Table table{.key = "kernels",
              .title = section.title,
              .columns = {{"name", "Name", Unit::none, false},
                          {"short_name", "Kernel"},
                          {"class", "Class"},
                          {"category", "Category", Unit::none, false},
                          {"count", "Count", Unit::count},
                          {"total_ns", "Total", Unit::nanoseconds},
                          {"min_ns", "Min", Unit::nanoseconds, false},
                          {"median_ns", "Median", Unit::nanoseconds},
                          {"p90_ns", "P90", Unit::nanoseconds},
                          {"max_ns", "Max", Unit::nanoseconds},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  const Facts& facts = scene.facts;
  for (const NameSpread& name : names) {
    const std::string_view written = scene.timeline.names[name.name];
    const std::size_t pattern = facts.pattern.empty() ? 0 : facts.pattern[name.name];
    const Spread& times = name.spread;
    table.rows.push_back({text(written), readable_kernel_name(written), text(activity_class_name(name.activity)),
                          pattern != 0 && !facts.patterns[pattern - 1].category.empty() ? text(facts.patterns[pattern - 1].category) : absent(), times.count,
                          times.total, times.minimum, times.median, times.p90, times.maximum, share(times.total, total)});
  }
  section.summary = fmt::format("{}; the longest took {:.1f} % of the slices' time", names.size() == 1 ? "One name" : fmt::format("{} names", names.size()),
                                total > 0 ? 100.0 * static_cast<double>(names.front().spread.total) / static_cast<double>(total) : 0.0);
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace

extern const Question kernels_question;
const Question kernels_question{.name = "kernels", .help = "Which kernels ran, how often, for how long?", .scope = Scope::device, .answer = answer};

}  // namespace stepscope
