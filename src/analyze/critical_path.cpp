// What the length of a step on the device is made of: the critical path through the lifted graph (METRICS.md, Critical path), by kind, operator, module and
// collective, the delays on it that nothing explains, and how much longer the work beside it may last (slack).
//
// The path of each step's window on the device; the parts of a path sum to the window exactly (simulate/critical_path.h). The figures and tables are of one
// step: the steady one of median length (without steps: the whole capture). by_step has the kinds of all.
// A lag (launch latency, gap, hand-over, delay) counts for the operator and module that waited.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyze/beside_path.h"
#include "analyze/path_owner.h"
#include "analyze/question.h"
#include "analyze/unexplained_delay.h"
#include "analyze/value.h"
#include "simulate/critical_path.h"

namespace stepscope {

namespace {

constexpr std::size_t delays_shown = 50;

struct StepPath {
  const GraphWindow* window;
  CriticalPath path;
};

// The windows asked about: of the steps, the steady ones where there are any.
std::vector<StepPath> paths_of(const Scene& scene) {
  std::vector<StepPath> paths;
  bool any_steady = false;
  const auto wanted = [&](const GraphWindow& window) {
    if (window.device != scene.device->device) return false;
    return scene.whole_capture || (window.measured.begin >= scene.window.begin && window.measured.end <= scene.window.end);
  };
  for (const GraphWindow& window : scene.lifted->windows) any_steady |= wanted(window) && !window.outlier;
  for (const GraphWindow& window : scene.lifted->windows)
    if (wanted(window) && (!any_steady || !window.outlier))
      paths.push_back({&window, critical_path(scene.lifted->graph, *scene.times, window.begin, window.end)});
  std::erase_if(paths, [](const StepPath& step) { return step.path.window.length() == 0; });
  return paths;
}

const StepPath& of_median_length(const std::vector<StepPath>& paths) {
  std::vector<const StepPath*> order;
  for (const StepPath& step : paths) order.push_back(&step);
  std::ranges::stable_sort(order, {}, [](const StepPath* step) { return step->path.window.length(); });
  return *order[(order.size() - 1) / 2];
}

std::string key_of(PathPartKind kind) {
  return std::string(path_part_kind_name(kind)) + "_ns";
}

Value number_of(const GraphWindow& window) {
  return whole_if(window.step != no_step, window.number);
}

Table table_of_steps(const std::vector<StepPath>& paths) {
  Table table{.key = "by_step", .title = "Critical path per step", .columns = {{"step", "Step"}, {"window_ns", "Window", Unit::nanoseconds}}, .rows = {}};
  for (std::uint8_t kind = 0; kind < path_part_kind_count; ++kind)
    table.columns.push_back({key_of(PathPartKind{kind}), std::string(path_part_kind_title(PathPartKind{kind})), Unit::nanoseconds});
  for (const StepPath& step : paths) {
    std::vector<Value> row{number_of(*step.window), step.path.window.length()};
    for (const Nanoseconds sum : step.path.by_kind) row.emplace_back(sum);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table table_of_kinds(const CriticalPath& path) {
  Table table{.key = "by_kind",
              .title = "What the step is made of",
              .columns = {{"kind", "Part"}, {"parts", "Parts", Unit::count}, {"total_ns", "Time", Unit::nanoseconds}, {"share", "Share", Unit::ratio}},
              .rows = {}};
  std::array<std::int64_t, path_part_kind_count> counts{};
  for (const PathPart& part : path.parts) ++counts[static_cast<std::size_t>(part.kind)];
  std::vector<std::uint8_t> order;
  for (std::uint8_t kind = 0; kind < path_part_kind_count; ++kind)
    if (path.by_kind[kind] > 0) order.push_back(kind);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint8_t kind) { return path.by_kind[kind]; });
  for (const std::uint8_t kind : order)
    table.rows.push_back({text(path_part_kind_title(PathPartKind{kind})), counts[kind], path.by_kind[kind], share(path.by_kind[kind], path.window.length())});
  return table;
}

struct Group {
  std::int64_t parts = 0;
  Nanoseconds device = 0, host = 0, lags = 0;
  Nanoseconds total() const { return device + host + lags; }
};

void add_part(Group& group, const PathPart& part) {
  const Nanoseconds length = part.interval.length();
  ++group.parts;
  if (part.dependency != no_dependency || is_lag(part.kind)) {
    group.lags += length;
  } else if (part.kind <= PathPartKind::copy) {
    group.device += length;
  } else {
    group.host += length;
  }
}

Table table_of_groups(std::string key, std::string title, ColumnHeader first, const std::map<std::string, Group>& groups, Nanoseconds window) {
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {std::move(first),
                          {"parts", "Parts", Unit::count},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"device_ns", "Device", Unit::nanoseconds},
                          {"host_ns", "Host", Unit::nanoseconds},
                          {"lag_ns", "Lags", Unit::nanoseconds},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  std::vector<const std::pair<const std::string, Group>*> order;
  for (const auto& entry : groups) order.push_back(&entry);
  std::ranges::stable_sort(order, std::greater{}, [](const auto* entry) { return entry->second.total(); });
  for (const auto* entry : order) {
    const Group& group = entry->second;
    table.rows.push_back({entry->first, group.parts, group.total(), group.device, group.host, group.lags, share(group.total(), window)});
  }
  return table;
}

Table table_of_delays(const Scene& scene, const PathOwners& owners, const CriticalPath& path) {
  Table table{.key = "unexplained",
              .title = "Delays on it that nothing explains",
              .columns = {{"at_ns", "At", Unit::nanoseconds, false},
                          {"duration_ns", "Length", Unit::nanoseconds},
                          {"before", "Before", Unit::none, false},
                          {"operator", "Operator that waited"},
                          {"reason", "Likely reason"}},
              .rows = {}};
  std::vector<const PathPart*> delays;
  for (const PathPart& part : path.parts)
    if (part.kind == PathPartKind::unexplained || part.kind == PathPartKind::no_cause) delays.push_back(&part);
  std::ranges::stable_sort(delays, std::greater{}, [](const PathPart* part) { return part->interval.length(); });
  if (delays.size() > delays_shown) delays.resize(delays_shown);
  for (const PathPart* part : delays)
    table.rows.push_back({scene.lifted->on_clock_of(scene.rank, part->interval.begin), part->interval.length(),
                          text(scene.lifted->graph.name_of(part->operation)), owners.operator_of(*part), reason_of_delay(scene, *part)});
  return table;
}

// "62 % compute kernels, 20 % launch latency, 9 % CPU operators; of operators most: aten::mm, 31 %"
std::string summary_of(const StepPath& step, const Table& kinds, const Table& operators) {
  std::string words = step.window->step == no_step ? std::string("The capture") : fmt::format("Step {}", step.window->number);
  for (std::size_t row = 0; row < std::min<std::size_t>(3, kinds.rows.size()); ++row)
    words += fmt::format("{} {:.0f} % {}", row == 0 ? ":" : ",", 100 * std::get<double>(kinds.rows[row].back()), [&] {
      std::string title = std::get<std::string>(kinds.rows[row].front());
      if (title.size() > 1 && title[1] >= 'a' && title[1] <= 'z' && !title.starts_with("Python")) title[0] = static_cast<char>(title[0] | 0x20);
      return title;
    }());
  return words + fmt::format("; most of it for {} ({:.0f} %)", std::get<std::string>(operators.rows.front().front()),
                             100 * std::get<double>(operators.rows.front().back()));
}

std::vector<Section> answer(const Scene& scene) {
  if (scene.lifted == nullptr || scene.times == nullptr) return {};
  const std::vector<StepPath> paths = paths_of(scene);
  if (paths.empty()) return {};
  const StepPath& typical = of_median_length(paths);
  const Nanoseconds length = typical.path.window.length();

  PathOwners owners(scene.timeline, scene.facts, scene.lifted->graph, scene.rank);
  std::map<std::string, Group> operators, modules, collectives;
  const bool has_modules = owners.has_modules();
  for (const PathPart& part : typical.path.parts) {
    add_part(operators[owners.operator_of(part)], part);
    if (has_modules) add_part(modules[owners.module_of(part)], part);
    if (const auto collective = owners.collective_of(part)) add_part(collectives[*collective], part);
  }

  Section section{.key = "critical_path", .title = "Critical path", .prominence = 25};
  section.figures = {{"step", "Step", Unit::none, number_of(*typical.window)},
                     {"steps", "Steps", Unit::count, whole(paths.size())},
                     {"window_ns", "Window", Unit::nanoseconds, length},
                     {"parts", "Parts", Unit::count, whole(typical.path.parts.size())}};
  for (std::uint8_t kind = 0; kind < path_part_kind_count; ++kind)
    section.figures.push_back(
        {key_of(PathPartKind{kind}), std::string(path_part_kind_title(PathPartKind{kind})), Unit::nanoseconds, typical.path.by_kind[kind]});
  section.tables.push_back(table_of_kinds(typical.path));
  section.tables.push_back(table_of_groups("by_operator", "By operator", {"operator", "Operator"}, operators, length));
  if (has_modules) section.tables.push_back(table_of_groups("by_module", "By module", {"module", "Module"}, modules, length));
  if (!collectives.empty()) section.tables.push_back(table_of_groups("by_collective", "By collective", {"collective", "Collective"}, collectives, length));
  if (Table delays = table_of_delays(scene, owners, typical.path); !delays.rows.empty()) section.tables.push_back(std::move(delays));
  if (Table beside = table_beside_path(scene.lifted->graph, *scene.times, *typical.window, typical.path, owners); !beside.rows.empty())
    section.tables.push_back(std::move(beside));
  section.tables.push_back(table_of_steps(paths));
  section.summary = summary_of(typical, section.tables[0], section.tables[1]);
  if (scene.timeline.ranks.size() == 1 && typical.path[PathPartKind::communication] > 0)
    section.caveats.push_back("Communication holds the wait for other ranks: only their traces beside this one tell it apart");
  return {std::move(section)};
}

}  // namespace

extern const Question critical_path_question;
const Question critical_path_question{
    .name = "critical_path", .help = "What is the length of a step made of: which chain of work and waiting?", .scope = Scope::device, .answer = answer};

}  // namespace stepscope
