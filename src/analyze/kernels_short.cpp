// Which functions took the time, over all their template instances? And how much of it went to slices so short that launching them costs more than running
// them?
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analyze/device_names.h"
#include "analyze/value.h"
#include "base/kernel_name.h"
#include "facts/activity.h"

namespace stepscope {

namespace {

std::vector<Section> answer_by_short_name(const Scene& scene) {
  struct Group {
    std::string name;
    ActivityClass activity;
    std::int64_t names = 0, count = 0;
    Nanoseconds total = 0, shortest = 0, longest = 0;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> rows;
  Nanoseconds total = 0;
  for (const NameSpread& name : spread_by_name(scene)) {
    std::string function = short_kernel_name(scene.timeline.names[name.name]);
    const auto [row, fresh] = rows.try_emplace(function, groups.size());
    if (fresh) groups.push_back({std::move(function), name.activity, 0, 0, 0, name.spread.minimum, name.spread.maximum});
    Group& group = groups[row->second];
    ++group.names;
    group.count += name.spread.count;
    group.total += name.spread.total;
    group.shortest = std::min(group.shortest, name.spread.minimum);
    group.longest = std::max(group.longest, name.spread.maximum);
    total += name.spread.total;
  }
  if (groups.empty()) return {};
  std::ranges::sort(groups, [](const Group& a, const Group& b) { return a.total != b.total ? a.total > b.total : a.name < b.name; });
  Section section{.key = "kernels_by_short_name", .title = "Kernels by function", .prominence = 42};
  Table table{.key = section.key,
              .title = section.title,
              .columns = {{"short_name", "Function"},
                          {"class", "Class"},
                          {"names", "Variants", Unit::count},
                          {"count", "Count", Unit::count},
                          {"total_ns", "Total", Unit::nanoseconds},
                          {"mean_ns", "Mean", Unit::nanoseconds},
                          {"min_ns", "Min", Unit::nanoseconds, false},
                          {"max_ns", "Max", Unit::nanoseconds},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  for (Group& group : groups)
    table.rows.push_back({std::move(group.name), text(activity_class_name(group.activity)), group.names, group.count, group.total, group.total / group.count,
                          group.shortest, group.longest, share(group.total, total)});
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

struct Bucket {
  Nanoseconds below;  // upper bound, exclusive
  std::int64_t count = 0;
  Nanoseconds total = 0;
};

std::vector<Section> answer_histogram(const Scene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  constexpr Nanoseconds no_bound = std::numeric_limits<Nanoseconds>::max();
  std::vector<Bucket> buckets;
  for (const Nanoseconds below : {2'000, 5'000, 10'000, 20'000, 50'000, 100'000, 1'000'000}) buckets.push_back({below});
  buckets.push_back({no_bound});
  std::int64_t count = 0;
  Nanoseconds total = 0;
  for (const SliceId id : scene.device_slices()) {
    if (s.kind[id] != SliceKind::kernel) continue;
    const auto bucket = std::ranges::upper_bound(buckets, s.duration[id], {}, &Bucket::below);
    Bucket& mine = bucket == buckets.end() ? buckets.back() : *bucket;
    ++mine.count;
    mine.total += s.duration[id];
    ++count;
    total += s.duration[id];
  }
  if (count == 0) return {};
  Section section{.key = "short_kernels", .title = "Short kernels", .prominence = 45};
  section.figures = {{"kernels", "Kernels", Unit::count, count}, {"total_ns", "Their time", Unit::nanoseconds, total}};
  Table table{.key = "histogram",
              .title = "Kernels by duration",
              .columns = {{"from_ns", "From", Unit::nanoseconds},
                          {"below_ns", "Below", Unit::nanoseconds},
                          {"count", "Kernels", Unit::count},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"share_of_count", "Of kernels", Unit::ratio},
                          {"share_of_time", "Of time", Unit::ratio}},
              .rows = {}};
  Nanoseconds from = 0, short_total = 0;
  std::int64_t short_count = 0;
  for (const Bucket& bucket : buckets) {
    table.rows.push_back(
        {from, bucket.below == no_bound ? absent() : Value{bucket.below}, bucket.count, bucket.total, share(bucket.count, count), share(bucket.total, total)});
    from = bucket.below;
    short_count += bucket.count;
    short_total += bucket.total;
    for (const Nanoseconds limit : {5'000, 10'000, 20'000}) {
      if (bucket.below != limit) continue;
      const auto microseconds = limit / 1'000;
      section.figures.push_back({fmt::format("under_{}us_count", microseconds), fmt::format("Under {} µs", microseconds), Unit::count, short_count});
      section.figures.push_back({fmt::format("under_{}us_ns", microseconds), fmt::format("Time under {} µs", microseconds), Unit::nanoseconds, short_total});
    }
  }
  const Figure* under_10 = section.figure("under_10us_count");
  section.summary = fmt::format("{:.1f} % of the kernels ran for less than 10 µs",
                                100.0 * static_cast<double>(std::get<std::int64_t>(under_10->value)) / static_cast<double>(count));
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace

extern const Question kernels_by_short_name_question;
const Question kernels_by_short_name_question{
    .name = "kernels_by_short_name", .help = "Which functions took the time, over all their variants?", .scope = Scope::device, .answer = answer_by_short_name};
extern const Question short_kernels_question;
const Question short_kernels_question{
    .name = "short_kernels", .help = "How much time goes to kernels under 5, 10, 20 µs?", .scope = Scope::device, .answer = answer_histogram};

}  // namespace stepscope
