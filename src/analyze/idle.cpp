// Why did the device idle? Each gap by what it waited for (METRICS.md, Idle, by cause), for the device as a whole and for each of its streams.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyze/breakdown.h"
#include "analyze/host_activity.h"
#include "analyze/idle_parts.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

constexpr std::size_t gaps_shown = 20;
constexpr double unknown_worth_telling = 0.01;  // share of the idle time; METRICS.md: complete records leave less than that

void add_cause_figures(const IdleSums& sums, std::vector<Figure>& figures) {
  for (std::size_t cause = 0; cause < idle_cause_count; ++cause)
    figures.push_back({std::string(idle_cause_key(IdleCause{static_cast<std::uint8_t>(cause)})),
                       std::string(idle_cause_title(IdleCause{static_cast<std::uint8_t>(cause)})), Unit::nanoseconds, sums.by_cause[cause]});
}

void add_host_figures(const std::array<Nanoseconds, host_activity_count>& host, std::vector<Figure>& figures) {
  static constexpr std::string_view keys[host_activity_count] = {"host_data_loading_ns", "host_synchronisation_ns", "host_framework_ns", "host_other_ns"};
  static constexpr std::string_view titles[host_activity_count] = {"host: loading data", "host: waiting in a synchronisation", "host: framework and Python",
                                                                   "host: nothing recorded"};
  for (std::size_t i = 0; i < host_activity_count; ++i) figures.push_back({std::string(keys[i]), std::string(titles[i]), Unit::nanoseconds, host[i]});
}

void add_cause_columns(Table& table) {
  for (std::uint8_t cause = 0; cause < idle_cause_count; ++cause)
    table.columns.push_back({std::string(idle_cause_key(IdleCause{cause})), std::string(idle_cause_title(IdleCause{cause})), Unit::nanoseconds});
}

Table stream_table(const Scene& scene, const IdleParts& idle, Interval window) {
  const Timeline& timeline = scene.timeline;
  Table table{.key = "by_stream",
              .title = "Idle time per stream, between its own first and last slice",
              .columns = {{"stream", "Stream"}, {"slices", "Slices", Unit::count}, {"idle_ns", "Idle", Unit::nanoseconds}},
              .rows = {}};
  add_cause_columns(table);
  std::vector<std::vector<SliceId>> streams(timeline.tracks.size());
  for (const SliceId id : scene.device->slices) streams[index(timeline.slices.track[id])].push_back(id);
  for (std::size_t t = 0; t < streams.size(); ++t) {
    if (streams[t].empty()) continue;
    const auto parts = idle.of(streams[t]);
    const IdleSums sums = sum_idle(parts, window);
    const auto inside = std::ranges::count_if(streams[t], [&](SliceId id) { return scene.whole_capture || window.contains(timeline.slices.start[id]); });
    const Track& track = timeline.tracks[t];
    std::vector<Value> row{track.stream >= 0 ? Value{track.stream} : Value{std::string(timeline.names[track.thread])}, whole(inside), sums.total()};
    for (const Nanoseconds time : sums.by_cause) row.emplace_back(time);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table step_table(const Scene& scene, std::span<const IdlePart> parts) {
  Table table{.key = "by_step", .title = "Idle time per step", .columns = {{"step", "Step"}}, .rows = {}};
  add_cause_columns(table);
  for (const StepWindow* step : steps_in_window(scene)) {
    std::vector<Value> row{step->number};
    for (const Nanoseconds time : sum_idle(parts, step->window).by_cause) row.emplace_back(time);
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Gaps as a whole: consecutive parts that one slice ended.
struct Gap {
  Nanoseconds begin = 0, length = 0;
  std::size_t first = 0, last = 0;  // parts
};

std::vector<Gap> longest_gaps(std::span<const IdlePart> parts, Interval window) {
  std::vector<Gap> gaps;
  const auto longer = [](const Gap& a, const Gap& b) { return a.length != b.length ? a.length > b.length : a.begin < b.begin; };
  for (std::size_t i = 0; i < parts.size();) {
    Gap gap{std::max(parts[i].interval.begin, window.begin), 0, i, i};
    for (; gap.last < parts.size() && parts[gap.last].next == parts[i].next; ++gap.last) {
    }
    gap.length = std::min(parts[gap.last - 1].interval.end, window.end) - gap.begin;
    i = gap.last;
    if (gap.length <= 0) continue;
    // A heap of the longest ones, the shortest of them on top.
    if (gaps.size() == gaps_shown) {
      if (!longer(gap, gaps.front())) continue;
      std::ranges::pop_heap(gaps, longer);
      gaps.pop_back();
    }
    gaps.push_back(gap);
    std::ranges::push_heap(gaps, longer);
  }
  std::ranges::sort(gaps, longer);
  return gaps;
}

Table gap_table(const Scene& scene, std::span<const IdlePart> parts, Interval window) {
  const Timeline& timeline = scene.timeline;
  Table table{.key = "longest_gaps",
              .title = "Longest gaps",
              .columns = {{"at_ns", "At", Unit::nanoseconds},
                          {"duration_ns", "Length", Unit::nanoseconds},
                          {"cause", "Mostly"},
                          {"before", "Before"},
                          {"operator", "Launched by"}},
              .rows = {}};
  for (const Gap& gap : longest_gaps(parts, window)) {
    const IdleSums sums = sum_idle(parts.subspan(gap.first, gap.last - gap.first), window);
    const auto largest = std::ranges::max_element(sums.by_cause) - sums.by_cause.begin();
    const SliceId next = parts[gap.first].next, operation = scene.facts.operation[next];
    table.rows.push_back({gap.begin, gap.length, text(idle_cause_title(IdleCause{static_cast<std::uint8_t>(largest)})), text(timeline.name_of(next)),
                          operation == no_id<SliceId> ? absent() : text(timeline.name_of(operation))});
  }
  return table;
}

void add_caveats(const Scene& scene, std::span<const IdlePart> parts, const IdleSums& sums, Interval window, Section& section) {
  const KernelLaunches& launches = scene.facts.kernel_launches[index(scene.rank)];
  if (launches.records_were_lost())
    section.caveats.push_back(fmt::format("{} of {} kernel launches have no device record: idle time over those stretches counts as unknown",
                                          launches.without_record, launches.seen));
  const Nanoseconds idle = sums.total();
  if (idle > 0 && static_cast<double>(sums[IdleCause::unlinked]) > unknown_worth_telling * static_cast<double>(idle))
    section.caveats.push_back("Slices without launch record were launched before the capture began, or their runtime calls were not recorded");
  if (idle == 0 || static_cast<double>(sums[IdleCause::unknown]) <= unknown_worth_telling * static_cast<double>(idle)) return;
  Nanoseconds before_graphs = 0, before_copies = 0;
  for (const IdlePart& part : parts) {
    if (part.cause != IdleCause::unknown) continue;
    const Nanoseconds inside = std::max<Nanoseconds>(0, std::min(part.interval.end, window.end) - std::max(part.interval.begin, window.begin));
    const SliceId launch = scene.facts.launch[part.next];
    if (launch != no_id<SliceId> && scene.facts.graph_launch[launch] != 0)
      before_graphs += inside;
    else if (scene.timeline.slices.kind[part.next] == SliceKind::copy)
      before_copies += inside;
  }
  std::string reasons = fmt::format("{} idle although work was queued, for reasons that the trace does not show", format_duration(sums[IdleCause::unknown]));
  if (before_graphs > sums[IdleCause::unknown] / 10)
    reasons += fmt::format("; {} of it before CUDA/HIP graphs, which may have waited for their inputs", format_duration(before_graphs));
  if (before_copies > sums[IdleCause::unknown] / 10)
    reasons += fmt::format("; {} of it before copies, which may have waited for host memory", format_duration(before_copies));
  section.caveats.push_back(reasons + ". Records may be sampled or dropped; waits of one stream for another are recorded with enable_cuda_sync_events");
}

std::string summary_of(const IdleSums& sums, Nanoseconds span) {
  const Nanoseconds idle = sums.total();
  if (idle == 0) return "The device was never idle";
  const auto largest = std::ranges::max_element(sums.by_cause) - sums.by_cause.begin();
  const auto percent = [](Nanoseconds part, Nanoseconds all) { return all > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0; };
  std::string cause(idle_cause_title(IdleCause{static_cast<std::uint8_t>(largest)}));
  cause[0] = static_cast<char>(cause[0] - 'A' + 'a');  // inside a sentence
  return fmt::format("{} idle ({:.1f} %), mostly {} ({:.1f} % of the idle time)", format_duration(idle), percent(idle, span), cause,
                     percent(sums.by_cause[static_cast<std::size_t>(largest)], idle));
}

std::vector<Section> answer(const Scene& scene) {
  const Interval window = device_window(scene);
  const IdleParts idle(scene.timeline, scene.facts, *scene.device);
  const std::vector<IdlePart> parts = idle.of(scene.device->slices);
  const IdleSums sums = sum_idle(parts, window);
  Section section{.key = "idle_by_cause", .title = "Idle time by cause", .prominence = 20};
  add_cause_figures(sums, section.figures);
  add_host_figures(host_activities(scene.timeline, scene.facts, parts, window), section.figures);
  section.summary = summary_of(sums, window.length());
  section.tables.push_back(stream_table(scene, idle, window));
  section.tables.push_back(step_table(scene, parts));
  section.tables.push_back(gap_table(scene, parts, window));
  add_caveats(scene, parts, sums, window, section);
  return {std::move(section)};
}

}  // namespace

extern const Question idle_question;
const Question idle_question{.name = "idle_by_cause", .help = "Why did the device idle?", .scope = Scope::device, .answer = answer};

}  // namespace stepscope
