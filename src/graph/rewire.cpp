#include "graph/rewire.h"

#include <algorithm>
#include <cassert>

namespace stepscope {

void rewire(Graph& graph, const std::function<bool(OpId operation, std::uint32_t row)>& drop, std::vector<NewDependency> added) {
  std::ranges::stable_sort(added, {}, &NewDependency::operation);
  const DependencyColumns& from = graph.dependencies;
  DependencyColumns to;
  Column<std::uint32_t> first;
  const auto put = [&](Moment moment, Nanoseconds lag, DependencyKind kind, LagKind lag_kind) {
    to.moment.push_back(moment);
    to.lag.push_back(lag);
    to.kind.push_back(kind);
    to.lag_kind.push_back(lag_kind);
  };
  first.reserve(graph.first.size());
  auto next = added.begin();
  for (std::uint32_t op = 0; op < graph.size(); ++op) {
    first.push_back(static_cast<std::uint32_t>(to.size()));
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row)
      if (!drop(OpId{op}, row)) put(from.moment[row], from.lag[row], from.kind[row], from.lag_kind[row]);
    for (; next != added.end() && index(next->operation) == op; ++next) {
      assert(index(next->on.operation()) < op);
      put(next->on, next->lag, next->kind, next->lag_kind);
    }
    if (op != 0 && to.size() == first[op]) put(Moment::start(OpId{0}), 0, DependencyKind::origin, LagKind::none);
  }
  first.push_back(static_cast<std::uint32_t>(to.size()));
  graph.dependencies = std::move(to);
  graph.first = std::move(first);
}

}  // namespace stepscope
