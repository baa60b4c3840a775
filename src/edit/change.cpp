#include "edit/change.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stepscope {

Nanoseconds total_duration(const Graph& graph, std::span<const OpId> operations) {
  Nanoseconds sum = 0;
  for (const OpId op : operations) sum += graph.operations.duration[op];
  return sum;
}

Nanoseconds scaled(Nanoseconds duration, double factor) {
  constexpr double most = 1152921504606846976.0;  // 2^60 ns: 36 years
  return static_cast<Nanoseconds>(std::llround(std::clamp(static_cast<double>(duration) * factor, 0.0, most)));
}

std::string plural(std::size_t count, std::string_view noun) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string counted(const Graph& graph, std::span<const OpId> operations) {
  return fmt::format("{} ({})", plural(operations.size(), "operation"), format_duration(total_duration(graph, operations)));
}

Launches::Launches(const EditScene& scene, const Graph& graph)
    : call_of_(graph.size(), no_id<OpId>), launched_(graph.size(), 0), completion_(graph.size(), no_id<OpId>) {
  const OperationColumns& o = graph.operations;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    if (o.operation_class[op] == OperationClass::synchronisation && o.origin[op] != no_id<SliceId>) {
      for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) {
        const OpId before = graph.dependencies.moment[i].operation();
        if (graph.dependencies.kind[i] == DependencyKind::program_order && o.origin[before] == o.origin[op]) completion_[index(before)] = op;
      }
    }
    if (!runs_on_device(o.operation_class[op])) continue;
    OpId call = no_id<OpId>;
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i)
      if (graph.dependencies.kind[i] == DependencyKind::launch) call = graph.dependencies.moment[i].operation();
    if (call == no_id<OpId> && o.origin[op] != no_id<SliceId> && index(o.origin[op]) < scene.facts.launch.size()) {
      const SliceId slice = scene.facts.launch[o.origin[op]];
      if (slice != no_id<SliceId> && index(slice) < scene.lifted.operation_of.size()) call = scene.lifted.operation_of[slice];
    }
    if (call == no_id<OpId>) continue;
    call_of_[row] = call;
    ++launched_[index(call)];
  }
}

std::vector<OpId> Launches::only_for(std::span<const OpId> operations) const {
  std::vector<OpId> calls;
  for (const OpId op : operations)
    if (call_of_[index(op)] != no_id<OpId>) calls.push_back(call_of_[index(op)]);
  std::ranges::sort(calls);
  std::vector<OpId> whole;
  for (std::size_t i = 0; i < calls.size();) {
    std::size_t end = i;
    while (end < calls.size() && calls[end] == calls[i]) ++end;
    if (end - i == launched_[index(calls[i])]) {
      whole.push_back(calls[i]);
      if (const OpId rest = completion_[index(calls[i])]; rest != no_id<OpId>) whole.push_back(rest);
    }
    i = end;
  }
  std::ranges::sort(whole);
  return whole;
}

std::vector<std::vector<OpId>> by_stream(const Graph& graph) {
  std::vector<std::vector<OpId>> streams(graph.places.size());
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    if (graph.place_of(OpId{row}).kind == PlaceKind::stream) streams[index(graph.operations.place[OpId{row}])].push_back(OpId{row});
  return streams;
}

std::vector<bool> collective_members(const Graph& graph) {
  std::vector<bool> members(graph.size(), false);
  const auto is_transfer = [&](OpId op) { return graph.operations.operation_class[op] == OperationClass::transfer; };
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      if (graph.dependencies.kind[i] != DependencyKind::collective) continue;
      const OpId on = graph.dependencies.moment[i].operation();
      if (is_transfer(OpId{row})) members[index(on)] = true;
      if (is_transfer(on)) members[row] = true;
    }
  return members;
}

namespace {

// What a vanished operation no longer waits for.
bool vanishes(const Graph& graph, OpId op, std::uint32_t row) {
  const DependencyKind kind = graph.dependencies.kind[row];
  const OperationClass c = graph.operations.operation_class[op];
  return (runs_on_thread(c) && kind == DependencyKind::synchronise) || (c == OperationClass::communication && kind == DependencyKind::collective);
}

}  // namespace

void vanish(Graph& graph, std::span<const OpId> operations) {
  std::vector<bool> gone(graph.size(), false);
  bool waits = false;
  for (const OpId op : operations) {
    gone[index(op)] = true;
    graph.operations.duration[op] = 0;
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i) {
      if (graph.dependencies.lag_kind[i] != LagKind::root) graph.dependencies.lag[i] = std::min<Nanoseconds>(0, graph.dependencies.lag[i]);
      waits |= vanishes(graph, op, i);
    }
  }
  if (!waits) return;
  rewire(graph,
         [&](OpId op, std::uint32_t i) { return gone[index(op)] && vanishes(graph, op, i) && graph.end_dependency(op) - graph.first_dependency(op) > 1; }, {});
}

std::size_t fuse_into_first(Graph& graph, const Launches& launches, std::span<const OpId> run, Nanoseconds duration) {
  if (run.empty()) return 0;
  graph.operations.duration[run.front()] = duration;
  const std::span<const OpId> others = run.subspan(1);
  const std::vector<OpId> calls = launches.only_for(others);
  vanish(graph, others);
  vanish(graph, calls);
  return calls.size();
}

std::vector<Nanoseconds> start_times(const Graph& graph) {
  std::vector<Nanoseconds> starts(graph.size(), 0);
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    std::optional<Nanoseconds> start;
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      const Moment moment = graph.dependencies.moment[i];
      const OpId on = moment.operation();
      const Nanoseconds time = starts[index(on)] + (moment.is_end() ? graph.operations.duration[on] : 0) + graph.dependencies.lag[i];
      start = start ? std::max(*start, time) : time;
    }
    starts[row] = start.value_or(0);
  }
  return starts;
}

}  // namespace stepscope
