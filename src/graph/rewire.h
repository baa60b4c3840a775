// Changes what depends on what in a Graph, without renumbering it: operations keep their numbers, so that whatever speaks of them stays true.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace stepscope {

// A dependency to add: on a moment of an operation that stands before it.
struct NewDependency {
  OpId operation{};
  Moment on;
  DependencyKind kind = DependencyKind::stream_order;
  Nanoseconds lag = 0;
  LagKind lag_kind = LagKind::none;
};

// Drops the dependencies (rows of Graph::dependencies, with the operation that waits) for which drop() holds, then adds others. An operation left with none
// depends on the start of the origin, without lag. Asserts that what is added points backwards. O(operations + dependencies).
void rewire(Graph& graph, const std::function<bool(OpId operation, std::uint32_t row)>& drop, std::vector<NewDependency> added);

}  // namespace stepscope
