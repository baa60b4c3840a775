#include "graph/builder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace stepscope {

GraphBuilder::GraphBuilder() {
  graph_.places.push_back({});
  add({.operation_class = OperationClass::origin, .name = graph_.names.intern("")});
}

PlaceId GraphBuilder::place(const Place& place) {
  graph_.places.push_back(place);
  return PlaceId{static_cast<std::uint32_t>(graph_.places.size() - 1)};
}

OpId GraphBuilder::add(const Operation& operation) {
  OperationColumns& o = graph_.operations;
  o.duration.push_back(operation.duration);
  o.place.push_back(operation.place);
  o.operation_class.push_back(operation.operation_class);
  o.name.push_back(operation.name);
  o.origin.push_back(operation.origin);
  o.bytes.push_back(operation.bytes);
  o.flops.push_back(operation.flops);
  about_.push_back(operation.about);
  return OpId{static_cast<std::uint32_t>(o.size() - 1)};
}

void GraphBuilder::depend(OpId operation, Moment on, DependencyKind kind, Nanoseconds lag, LagKind lag_kind) {
  assert(on.operation() != operation);
  edges_.push_back({static_cast<std::uint32_t>(operation), on, lag, kind, lag_kind});
}

void GraphBuilder::redirect_ends(const Column<OpId>& to) {
  for (Edge& edge : edges_) {
    const OpId on = edge.moment.operation();
    if (edge.moment.is_end() && index(on) < to.size() && to[on] != no_id<OpId>) edge.moment = Moment::end(to[on]);
  }
}

GraphBuilder::Finished GraphBuilder::finish() && {
  const std::size_t n = graph_.size();
  // Dependencies by operation, and who waits for each operation.
  std::vector<std::uint32_t> first(n + 1, 0), first_waiting(n + 1, 0);
  for (const Edge& edge : edges_) {
    ++first[edge.operation + 1];
    ++first_waiting[static_cast<std::uint32_t>(edge.moment.operation()) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::partial_sum(first_waiting.begin(), first_waiting.end(), first_waiting.begin());
  std::vector<std::uint32_t> rows(edges_.size()), waiting(edges_.size());
  {
    std::vector<std::uint32_t> at(first.begin(), first.end() - 1), waiting_at(first_waiting.begin(), first_waiting.end() - 1);
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      rows[at[edges_[i].operation]++] = i;
      waiting[waiting_at[static_cast<std::uint32_t>(edges_[i].moment.operation())]++] = i;
    }
  }

  Finished finished;
  std::vector<std::uint32_t> unmet(n);
  for (std::size_t op = 0; op < n; ++op) unmet[op] = first[op + 1] - first[op];
  std::vector<bool> dropped(edges_.size(), false), placed(n, false);
  std::vector<std::uint32_t> order;
  order.reserve(n);
  // In order of time as far as dependencies allow: who is not ready when its time comes follows as soon as it is.
  std::vector<std::uint32_t> by_time(n), ready;
  std::iota(by_time.begin(), by_time.end(), 0u);
  std::stable_sort(by_time.begin() + 1, by_time.end(), [&](std::uint32_t a, std::uint32_t b) { return about_[a] < about_[b]; });
  std::vector<bool> passed(n, false);
  const auto put = [&](std::uint32_t op) {
    ready.push_back(op);
    while (!ready.empty()) {
      const std::uint32_t next = ready.back();
      ready.pop_back();
      placed[next] = true;
      order.push_back(next);
      for (std::uint32_t i = first_waiting[next]; i < first_waiting[next + 1]; ++i) {
        if (dropped[waiting[i]]) continue;
        const std::uint32_t other = edges_[waiting[i]].operation;
        if (--unmet[other] == 0 && passed[other] && !placed[other]) ready.push_back(other);
      }
    }
  };
  for (const std::uint32_t op : by_time) {
    passed[op] = true;
    if (unmet[op] == 0) put(op);
  }
  // What is left waits for itself, or for what does.
  for (const std::uint32_t op : by_time) {
    if (placed[op]) continue;
    for (std::uint32_t i = first[op]; i < first[op + 1]; ++i) {
      if (placed[static_cast<std::uint32_t>(edges_[rows[i]].moment.operation())]) continue;
      dropped[rows[i]] = true;
      ++finished.dropped_in_cycles;
    }
    unmet[op] = 0;
    put(op);
  }

  finished.number.assign(n, no_id<OpId>);
  for (std::uint32_t i = 0; i < order.size(); ++i) finished.number[order[i]] = OpId{i};
  Graph& to = finished.graph;
  to.names = std::move(graph_.names);
  to.places = std::move(graph_.places);
  const OperationColumns& from = graph_.operations;
  const auto permute = [&](auto& target, const auto& source) {
    auto* values = target.append_uninitialised(order.size());
    for (const std::uint32_t op : order) *values++ = source[op];
  };
  permute(to.operations.duration, from.duration);
  permute(to.operations.place, from.place);
  permute(to.operations.operation_class, from.operation_class);
  permute(to.operations.name, from.name);
  permute(to.operations.origin, from.origin);
  permute(to.operations.bytes, from.bytes);
  permute(to.operations.flops, from.flops);
  to.first.reserve(order.size() + 1);
  to.first.push_back(0);
  for (const std::uint32_t op : order) {
    for (std::uint32_t i = first[op]; i < first[op + 1]; ++i) {
      if (dropped[rows[i]]) continue;
      const Edge& edge = edges_[rows[i]];
      const std::uint32_t source = static_cast<std::uint32_t>(finished.number[index(edge.moment.operation())]);
      to.dependencies.moment.push_back(Moment{source * 2 + (edge.moment.is_end() ? 1u : 0u)});
      to.dependencies.lag.push_back(edge.lag);
      to.dependencies.kind.push_back(edge.kind);
      to.dependencies.lag_kind.push_back(edge.lag_kind);
    }
    // Every operation but the origin depends on something.
    if (op != 0 && to.dependencies.size() == to.first[to.first.size() - 1]) {
      to.dependencies.moment.push_back(Moment::start(OpId{0}));
      to.dependencies.lag.push_back(about_[op]);
      to.dependencies.kind.push_back(DependencyKind::origin);
      to.dependencies.lag_kind.push_back(LagKind::root);
    }
    to.first.push_back(static_cast<std::uint32_t>(to.dependencies.size()));
  }
  return finished;
}

}  // namespace stepscope
