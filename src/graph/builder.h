// The way to make a Graph: add places, operations and dependencies in any order, then finish(), which numbers the operations so that each stands behind what
// it depends on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace stepscope {

struct Operation {
  PlaceId place{};
  OperationClass operation_class = OperationClass::python;
  Nanoseconds duration = 0;
  NameId name{};
  SliceId origin = no_id<SliceId>;
  std::int64_t bytes = unknown_amount, flops = unknown_amount;
  Nanoseconds about = 0;  // when it runs, as far as known: of operations that may stand in any order, the earlier one comes first
};

class GraphBuilder {
 public:
  GraphBuilder();
  NameTable& names() { return graph_.names; }
  PlaceId place(const Place& place);
  // Numbers given here hold for this builder; finish() tells the final ones.
  OpId add(const Operation& operation);
  void depend(OpId operation, Moment on, DependencyKind kind, Nanoseconds lag = 0, LagKind lag_kind = LagKind::none);
  // Whoever waits for the end of an operation i with to[i] ≠ no_id waits for the end of to[i] instead: of the dependencies so far.
  void redirect_ends(const Column<OpId>& to);
  std::size_t size() const { return graph_.size(); }
  // May be changed until finish().
  OperationColumns& operations() { return graph_.operations; }

  struct Finished {
    Graph graph;
    std::vector<OpId> number;             // by number in this builder: the final one
    std::uint32_t dropped_in_cycles = 0;  // dropped, because they closed a cycle, or waited behind one: of each operation left over, in order of `about`
  };
  Finished finish() &&;

 private:
  struct Edge {
    std::uint32_t operation;
    Moment moment;
    Nanoseconds lag;
    DependencyKind kind;
    LagKind lag_kind;
  };
  Graph graph_;
  std::vector<Nanoseconds> about_;
  std::vector<Edge> edges_;
};

}  // namespace stepscope
