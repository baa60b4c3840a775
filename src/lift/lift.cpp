#include "lift/lift.h"

#include <utility>

#include "lift/draft.h"

namespace stepscope {

namespace {

// What decided each device operation's start: the first of the latest of its dependencies, at the times of the trace.
void account_for_lags(Draft& draft, const Column<Interval>& measured) {
  const Graph& graph = draft.lifted.graph;
  const DependencyColumns& d = graph.dependencies;
  std::vector<std::size_t> row_of_device(draft.timeline.devices.size(), 0);
  for (const DeviceFacts& device : draft.facts.devices) {
    row_of_device[index(device.device)] = draft.lifted.device_lags.size();
    draft.lifted.device_lags.push_back({.device = device.device, .lags = {}});
  }
  const auto time_of = [&](Moment moment) {
    const Interval& when = measured[moment.operation()];
    return moment.is_end() ? when.end : when.begin;
  };
  for (std::uint32_t op = 1; op < graph.size(); ++op) {
    if (!runs_on_device(graph.operations.operation_class[op])) continue;
    std::uint32_t deciding = graph.first[op];
    for (std::uint32_t row = deciding; row < graph.first[op + 1]; ++row)
      if (time_of(d.moment[row]) + d.lag[row] > time_of(d.moment[deciding]) + d.lag[deciding]) deciding = row;
    LagSum& sum = draft.lifted.device_lags[row_of_device[index(graph.place_of(OpId{op}).device)]].lags[d.lag_kind[deciding]];
    ++sum.count;
    sum.total += d.lag[deciding];
  }
}

}  // namespace

Lifted lift(const Timeline& timeline, const Facts& facts, Interval when) {
  Draft draft(timeline, facts, when);
  draft.lifted.when = when;
  draft.measured.push_back({});  // the origin
  // Names keep the Timeline's numbers.
  for (std::uint32_t name = 0; name < timeline.names.size(); ++name) draft.builder.names().intern(timeline.names[NameId{name}]);
  draft.lifted.operation_of.resize(timeline.slices.size(), no_id<OpId>);
  cut_threads(draft);
  add_device_operations(draft);
  wait_for_launches(draft);
  wait_for_streams(draft);
  wait_inside_graphs(draft);
  find_typical_lags(draft);
  wait_for_events(draft);
  wait_for_device(draft);
  find_typical_lags(draft);  // again: now it is known who waited for an event or for the device
  settle_delays(draft);
  synchronise_threads(draft);
  hand_over_between_threads(draft);
  follow_flows(draft);
  order_threads(draft);
  mark_windows(draft);
  join_collectives(draft);

  GraphBuilder::Finished finished = std::move(draft.builder).finish();
  Lifted& lifted = draft.lifted;
  lifted.graph = std::move(finished.graph);
  lifted.dropped_in_cycles = finished.dropped_in_cycles;
  Column<Interval> measured;
  measured.resize(lifted.graph.size(), Interval{});
  for (std::uint32_t op = 0; op < finished.number.size(); ++op) measured[finished.number[op]] = draft.measured[op];
  for (OpId& op : lifted.operation_of.span())
    if (op != no_id<OpId>) op = finished.number[index(op)];
  const auto renumbered = [&](Moment moment) {
    const OpId op = finished.number[index(moment.operation())];
    return moment.is_end() ? Moment::end(op) : Moment::start(op);
  };
  for (GraphWindow& window : lifted.windows) {
    window.begin = renumbered(window.begin);
    window.end = renumbered(window.end);
  }
  for (MemberOperations& member : lifted.members)
    for (OpId* const op : {&member.arrival, &member.completion, &member.transfer}) *op = finished.number[index(*op)];
  use_common_clock(draft, measured);
  account_for_lags(draft, measured);
  return std::move(draft.lifted);
}

}  // namespace stepscope
