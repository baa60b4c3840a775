#include "graph/rewire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "graph/builder.h"
#include "graph/check.h"
#include "graph/random_graph.h"

namespace stepscope {
namespace {

// a ← b ← c, and c ← a as well.
Graph three_kernels() {
  GraphBuilder builder;
  const OpId a = builder.add({.operation_class = OperationClass::compute, .duration = 10, .about = 0});
  const OpId b = builder.add({.operation_class = OperationClass::compute, .duration = 20, .about = 10});
  const OpId c = builder.add({.operation_class = OperationClass::compute, .duration = 30, .about = 40});
  builder.depend(b, Moment::end(a), DependencyKind::stream_order, 1, LagKind::scheduling);
  builder.depend(c, Moment::end(b), DependencyKind::stream_order, 2, LagKind::scheduling);
  builder.depend(c, Moment::start(a), DependencyKind::event);
  return std::move(builder).finish().graph;
}

std::vector<Moment> moments_of(const Graph& graph, std::uint32_t op) {
  const auto all = graph.dependencies.moment.span();
  return {all.begin() + graph.first[op], all.begin() + graph.first[op + 1]};
}

TEST(Rewire, DropsAndAddsAndLeavesTheRest) {
  Graph graph = three_kernels();
  rewire(graph, [&](OpId op, std::uint32_t row) { return op == OpId{3} && graph.dependencies.kind[row] == DependencyKind::stream_order; },
         {{.operation = OpId{3}, .on = Moment::end(OpId{1}), .kind = DependencyKind::flow, .lag = 7, .lag_kind = LagKind::hand_over},
          {.operation = OpId{2}, .on = Moment::start(OpId{1})}});
  EXPECT_TRUE(check(graph).empty());
  EXPECT_EQ(moments_of(graph, 2), (std::vector<Moment>{Moment::end(OpId{1}), Moment::start(OpId{1})}));
  EXPECT_EQ(moments_of(graph, 3), (std::vector<Moment>{Moment::start(OpId{1}), Moment::end(OpId{1})}));
  const std::uint32_t last = graph.end_dependency(OpId{3}) - 1;
  EXPECT_EQ(graph.dependencies.lag[last], 7);
  EXPECT_EQ(graph.dependencies.kind[last], DependencyKind::flow);
  EXPECT_EQ(graph.dependencies.lag_kind[last], LagKind::hand_over);
  EXPECT_EQ(graph.dependencies.lag[graph.first_dependency(OpId{2})], 1);
}

TEST(Rewire, WhoLosesEverythingStartsWithTheOrigin) {
  Graph graph = three_kernels();
  rewire(graph, [](OpId, std::uint32_t) { return true; }, {});
  EXPECT_TRUE(check(graph).empty());
  for (std::uint32_t op = 1; op < graph.size(); ++op) {
    EXPECT_EQ(moments_of(graph, op), std::vector<Moment>{Moment::start(OpId{0})});
    EXPECT_EQ(graph.dependencies.lag[graph.first[op]], 0);
    EXPECT_EQ(graph.dependencies.kind[graph.first[op]], DependencyKind::origin);
  }
}

RC_GTEST_PROP(Rewire, DroppingNothingChangesNothing, (std::uint64_t seed)) {
  Graph graph = build(random_graph(seed, 40, true)).graph;
  const Graph before = graph.copy();
  rewire(graph, [](OpId, std::uint32_t) { return false; }, {});
  RC_ASSERT(std::ranges::equal(graph.first, before.first));
  RC_ASSERT(std::ranges::equal(graph.dependencies.moment, before.dependencies.moment));
  RC_ASSERT(std::ranges::equal(graph.dependencies.lag, before.dependencies.lag));
}

// Adding what was dropped gives a graph with the same dependencies per operation, in another order at most.
RC_GTEST_PROP(Rewire, AddingWhatWasDroppedRestores, (std::uint64_t seed)) {
  Graph graph = build(random_graph(seed, 40, true)).graph;
  const Graph before = graph.copy();
  std::vector<NewDependency> dropped;
  for (std::uint32_t op = 1; op < graph.size(); ++op)
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row)
      if ((row * 2654435761u) % 3 == 0)
        dropped.push_back(
            {OpId{op}, graph.dependencies.moment[row], graph.dependencies.kind[row], graph.dependencies.lag[row], graph.dependencies.lag_kind[row]});
  rewire(graph, [](OpId, std::uint32_t row) { return (row * 2654435761u) % 3 == 0; }, dropped);
  RC_ASSERT(check(graph).empty());
  RC_ASSERT(std::ranges::equal(graph.first, before.first));
  const auto rows_of = [](const Graph& g, std::uint32_t op) {
    std::vector<std::pair<std::uint32_t, Nanoseconds>> rows;
    for (std::uint32_t row = g.first[op]; row < g.first[op + 1]; ++row) rows.emplace_back(g.dependencies.moment[row].row, g.dependencies.lag[row]);
    std::ranges::sort(rows);
    return rows;
  };
  for (std::uint32_t op = 1; op < graph.size(); ++op) RC_ASSERT(rows_of(graph, op) == rows_of(before, op));
}

}  // namespace
}  // namespace stepscope
