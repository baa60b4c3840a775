// Random operations and dependencies, which may point anywhere: in order, out of order, in cycles.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "graph/builder.h"

namespace stepscope {

struct RandomEdge {
  std::uint32_t operation, on;
  bool end;
  Nanoseconds lag;
};

struct RandomGraph {
  std::vector<Nanoseconds> duration, about;  // of operations 1 …; row 0 is the origin
  std::vector<RandomEdge> edges;
};

// `acyclic`: every edge points to an operation that a hidden random order puts before the one that waits.
inline RandomGraph random_graph(std::uint64_t seed, std::uint32_t operations, bool acyclic) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  RandomGraph graph;
  std::vector<std::uint32_t> rank(operations + 1);
  for (std::uint32_t op = 0; op <= operations; ++op) {
    graph.duration.push_back(op == 0 ? 0 : below(1000));
    graph.about.push_back(op == 0 ? 0 : below(5000));
    rank[op] = op;
    if (op > 1) std::swap(rank[op], rank[1 + below(op)]);
  }
  for (std::uint32_t i = 0; i < operations * 3 / 2; ++i) {
    std::uint32_t a = 1 + below(operations), b = below(operations + 1);
    if (a == b) continue;
    if (acyclic && rank[a] < rank[b]) std::swap(a, b);
    graph.edges.push_back({a, b, below(4) != 0, static_cast<Nanoseconds>(below(4) == 0 ? below(60) : 0) - (below(20) == 0 ? 10 : 0)});
  }
  return graph;
}

inline GraphBuilder::Finished build(const RandomGraph& from) {
  GraphBuilder builder;
  const NameId name = builder.names().intern("op");
  for (std::uint32_t op = 1; op < from.duration.size(); ++op)
    builder.add({.operation_class = OperationClass::compute, .duration = from.duration[op], .name = name, .origin = SliceId{op}, .about = from.about[op]});
  for (const RandomEdge& edge : from.edges)
    builder.depend(OpId{edge.operation}, edge.end ? Moment::end(OpId{edge.on}) : Moment::start(OpId{edge.on}), DependencyKind::event, edge.lag,
                   edge.lag == 0 ? LagKind::none : LagKind::hand_over);
  return std::move(builder).finish();
}

}  // namespace stepscope
