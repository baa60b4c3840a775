#include "analyze/beside_path.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/value.h"
#include "base/statistics.h"

namespace stepscope {

namespace {

constexpr std::size_t most_rows = 100;

struct Beside {
  std::int64_t operations = 0, unawaited = 0;
  Nanoseconds total = 0;
  std::vector<Nanoseconds> slack;
};

}  // namespace

Table table_beside_path(const Graph& graph, const ReplayTimes& times, const GraphWindow& window, const CriticalPath& path, const PathOwners& owners) {
  std::vector<bool> on_path(graph.size(), false);
  for (const PathPart& part : path.parts)
    if (part.dependency == no_dependency) on_path[index(part.operation)] = true;
  const SlackTimes slack = slack_before(graph, times, window.end);
  std::map<std::pair<std::string, OperationClass>, Beside> groups;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    const OperationClass c = graph.operations.operation_class[op];
    if (on_path[row] || !(runs_on_device(c) || c == OperationClass::transfer) || graph.operations.duration[op] == 0) continue;
    if (!path.window.contains(times.start(op))) continue;
    if (window.device != no_id<DeviceId> && c != OperationClass::transfer && graph.place_of(op).device != window.device) continue;
    Beside& group = groups[{owners.operator_of({.interval = {}, .kind = {}, .operation = op}), c}];
    ++group.operations;
    group.total += graph.operations.duration[op];
    if (const Nanoseconds own = slack.of(op); own == no_limit)
      ++group.unawaited;
    else
      group.slack.push_back(own);
  }
  std::vector<std::pair<const std::pair<std::string, OperationClass>, Beside>*> order;
  for (auto& entry : groups) order.push_back(&entry);
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->second.total > b->second.total; });
  if (order.size() > most_rows) order.resize(most_rows);
  Table table{.key = "beside",
              .title = "Work beside it, and how much longer that may last before the step does",
              .columns = {{"operator", "Operator"},
                          {"class", "Class"},
                          {"operations", "Operations", Unit::count},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"least_slack_ns", "Slack, least", Unit::nanoseconds},
                          {"median_slack_ns", "Slack, median", Unit::nanoseconds},
                          {"unawaited", "Not waited for", Unit::count, false}},
              .rows = {}};
  for (auto* entry : order) {
    Beside& group = entry->second;
    const auto least = std::ranges::min_element(group.slack);
    table.rows.push_back({text(entry->first.first), text(operation_class_name(entry->first.second)), group.operations, group.total,
                          least == group.slack.end() ? absent() : Value{*least}, if_known(median(group.slack)), group.unawaited});
  }
  return table;
}

}  // namespace stepscope
