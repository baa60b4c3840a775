// The collectives of one rank: by function, type, size and process group, how often, how many bytes, how long, at which bandwidth.
//
// Algorithm bandwidth = bytes / duration of the kernel; bus bandwidth = that times the factor of the function and the group's size (METRICS.md,
// Communication). With one rank at hand a kernel's duration includes its wait for the other ranks, so these are lower bounds of what the network did.
// Several kernels of one call (one operator, sizes recorded there) count as one collective. The start of the capture, when the first collective waits for
// ranks that still start their profilers, is kept apart.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "analyze/question.h"
#include "analyze/value.h"
#include "base/spread.h"
#include "facts/collective_call.h"

namespace stepscope {

namespace {

struct Collective {
  CollectiveCall call;
  bool start_transient = false;
  bool launch_known = false;
  std::int64_t kernels = 0;
  Nanoseconds duration = 0;
};

std::vector<Collective> collectives_of(const Scene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  std::vector<Collective> collectives;
  std::unordered_map<std::uint32_t, std::size_t> by_cause;
  for (const SliceId id : scene.device_slices()) {
    if (scene.facts.activity[id] != ActivityClass::communication) continue;
    Collective fresh{.call = collective_call(scene.timeline, scene.facts, id),
                     .start_transient = std::ranges::binary_search(scene.facts.start_transients, id),
                     .launch_known = scene.facts.launch[id] != no_id<SliceId>,
                     .kernels = 1,
                     .duration = s.duration[id]};
    if (fresh.call.cause != no_id<SliceId>) {
      const auto [known, first] = by_cause.try_emplace(static_cast<std::uint32_t>(fresh.call.cause), collectives.size());
      if (!first) {
        ++collectives[known->second].kernels;
        collectives[known->second].duration += fresh.duration;
        continue;
      }
    }
    collectives.push_back(std::move(fresh));
  }
  return collectives;
}

// Sizes within a factor of 16 share a row.
struct SizeClass {
  std::int64_t below;  // bytes; 0 = unknown
  std::string_view name;
};
constexpr SizeClass size_classes[] = {
    {64'000, "< 64 kB"}, {1'000'000, "64 kB – 1 MB"}, {16'000'000, "1 – 16 MB"}, {256'000'000, "16 – 256 MB"}, {INT64_MAX, "≥ 256 MB"}};
constexpr std::size_t unknown_size = std::size(size_classes);

std::size_t size_class(const std::optional<std::int64_t>& bytes) {
  if (!bytes) return unknown_size;
  std::size_t place = 0;
  while (*bytes >= size_classes[place].below && place + 1 < std::size(size_classes)) ++place;
  return place;
}

struct Key {
  CollectiveFunction function;
  DataType type;
  std::size_t size;
  std::string group, ranks;
  std::int64_t group_size;  // 0 = unknown
  bool start_transient;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct Sums {
  std::vector<Nanoseconds> durations;
  std::int64_t kernels = 0, bytes = 0;
};

Value words_if(bool known, std::string_view words) {
  Value value;
  if (known) value = std::string(words);
  return value;
}

std::vector<Section> answer_collectives(const Scene& scene) {
  const std::vector<Collective> collectives = collectives_of(scene);
  if (collectives.empty()) return {};
  std::map<Key, Sums> rows;
  std::map<CollectiveFunction, Nanoseconds> by_function;
  Nanoseconds total = 0, start = 0;
  std::int64_t without_size = 0, without_launch = 0, without_group = 0, starting = 0, known_bytes = 0;
  for (const Collective& one : collectives) {
    const CollectiveCall& call = one.call;
    Sums& sums = rows[{call.function, call.type, size_class(call.bytes), call.group, call.group_ranks, call.group_size.value_or(0), one.start_transient}];
    sums.durations.push_back(one.duration);
    sums.kernels += one.kernels;
    sums.bytes += call.bytes.value_or(0);
    by_function[call.function] += one.duration;
    total += one.duration;
    known_bytes += call.bytes.value_or(0);
    without_size += !call.bytes.has_value();
    without_launch += !call.bytes.has_value() && !one.launch_known;
    without_group += !call.group_size.has_value();
    starting += one.start_transient;
    if (one.start_transient) start += one.duration;
  }

  Table table{.key = "by_kind",
              .title = "By function, type, size and group",
              .columns = {{"function", "Function"},
                          {"type", "Type"},
                          {"size", "Size"},
                          {"group", "Group"},
                          {"group_ranks", "Ranks", Unit::none, false},
                          {"group_size", "of", Unit::count},
                          {"profiler_start", "While profilers start", Unit::none, false},
                          {"count", "Count", Unit::count},
                          {"kernels", "Kernels", Unit::count, false},
                          {"bytes", "Bytes", Unit::bytes},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"median_ns", "Median", Unit::nanoseconds, false},
                          {"min_ns", "Shortest", Unit::nanoseconds, false},
                          {"max_ns", "Longest", Unit::nanoseconds, false},
                          {"algorithm_bandwidth_bytes_per_s", "Algorithm", Unit::bytes_per_second},
                          {"bus_bandwidth_bytes_per_s", "Bus", Unit::bytes_per_second},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  std::vector<std::pair<Nanoseconds, std::vector<Value>>> sorted;
  for (auto& [key, sums] : rows) {
    const Spread time = spread(sums.durations);
    const bool sized = key.size != unknown_size, grouped = key.group_size > 0;
    const std::optional<double> factor = bus_factor(key.function, grouped ? std::optional(key.group_size) : std::nullopt);
    const double bytes = static_cast<double>(sums.bytes);
    std::vector<Value> row{text(collective_function_name(key.function)),
                           words_if(key.type != DataType::unknown, data_type_name(key.type)),
                           words_if(sized, sized ? size_classes[key.size].name : ""),
                           words_if(!key.group.empty(), key.group),
                           words_if(!key.ranks.empty(), key.ranks),
                           whole_if(grouped, key.group_size),
                           Value{key.start_transient},
                           whole(time.count),
                           whole(sums.kernels),
                           whole_if(sized, sums.bytes),
                           whole(time.total),
                           whole(time.median),
                           whole(time.minimum),
                           whole(time.maximum),
                           sized ? per_second(bytes, time.total) : absent(),
                           sized && factor ? per_second(bytes * *factor, time.total) : absent(),
                           share(time.total, total)};
    sorted.emplace_back(time.total, std::move(row));
  }
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [time, row] : sorted) table.rows.push_back(std::move(row));

  Section section{.key = "collectives", .title = "Collectives", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 42};
  const auto count = static_cast<std::int64_t>(collectives.size());
  section.figures = {{"count", "Collectives", Unit::count, whole(count)},
                     {"total_ns", "Time, summed", Unit::nanoseconds, whole(total)},
                     {"bytes", "Bytes", Unit::bytes, whole_if(without_size < count, known_bytes)},
                     {"profiler_start_ns", "of the time, while profilers start", Unit::nanoseconds, whole_if(starting > 0, start)}};
  const auto longest = std::ranges::max_element(by_function, {}, [](const auto& entry) { return entry.second; });
  section.summary = fmt::format("{} collectives take {}, summed; {} {}.", count, format_duration(total), collective_function_name(longest->first),
                                format_duration(longest->second));
  section.tables.push_back(std::move(table));
  section.caveats.push_back("Seen from one rank, a collective's duration includes its wait for the other ranks: bandwidths are lower bounds.");
  if (starting > 0)
    section.caveats.push_back(
        fmt::format("{} collective(s) of {} waited for other ranks to start their profilers; they are rows of their own.", starting, format_duration(start)));
  if (without_launch > 0)
    section.caveats.push_back(
        fmt::format("{} of {} were launched before the capture or have no launch record: nothing tells their size.", without_launch, count));
  if (without_size > without_launch)
    section.caveats.push_back(
        fmt::format("The size of {} of {} is not recorded (profile with record_shapes=True; since PyTorch 2.2 NCCL's arguments come with it).",
                    without_size - without_launch, count));
  if (without_group > 0 && without_group > without_size)
    section.caveats.push_back(
        fmt::format("The process group of {} of {} collectives is not recorded: no bus bandwidth where it depends on the group's size.", without_group, count));
  return {std::move(section)};
}

}  // namespace

extern const Question collectives_question;
const Question collectives_question{"collectives", "Which collectives ran on this device, how large, how long, how fast?", Scope::device, answer_collectives};

}  // namespace stepscope
