#include "graph/builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "graph/check.h"
#include "graph/random_graph.h"

namespace stepscope {
namespace {

Operation kernel(GraphBuilder& builder, std::string_view name, Nanoseconds duration, Nanoseconds about) {
  return {.operation_class = OperationClass::compute, .duration = duration, .name = builder.names().intern(name), .about = about};
}

std::vector<std::string> names_in_order(const Graph& graph) {
  std::vector<std::string> names;
  for (std::uint32_t op = 1; op < graph.size(); ++op) names.emplace_back(graph.name_of(OpId{op}));
  return names;
}

TEST(GraphBuilder, AnEmptyOneHasTheOriginAlone) {
  const auto finished = GraphBuilder().finish();
  EXPECT_EQ(finished.graph.size(), 1u);
  EXPECT_EQ(finished.graph.operations.operation_class[0], OperationClass::origin);
  EXPECT_TRUE(check(finished.graph).empty());
}

TEST(GraphBuilder, NumbersByTimeWhereNothingElseDecides) {
  GraphBuilder builder;
  builder.add(kernel(builder, "late", 1, 30));
  builder.add(kernel(builder, "first of two", 1, 20));
  builder.add(kernel(builder, "second of two", 1, 20));
  builder.add(kernel(builder, "early", 1, 10));
  const auto finished = std::move(builder).finish();
  EXPECT_EQ(names_in_order(finished.graph), (std::vector<std::string>{"early", "first of two", "second of two", "late"}));
  EXPECT_EQ(finished.number, (std::vector<OpId>{OpId{0}, OpId{4}, OpId{2}, OpId{3}, OpId{1}}));
}

TEST(GraphBuilder, WhoWaitsStandsBehindWhateverItsTime) {
  GraphBuilder builder;
  const OpId a = builder.add(kernel(builder, "a", 1, 10));
  const OpId b = builder.add(kernel(builder, "b", 1, 20));
  const OpId c = builder.add(kernel(builder, "c", 1, 30));
  builder.depend(a, Moment::end(c), DependencyKind::event, 5, LagKind::hand_over);
  builder.depend(c, Moment::start(b), DependencyKind::launch);
  const auto finished = std::move(builder).finish();
  const Graph& graph = finished.graph;
  EXPECT_EQ(names_in_order(graph), (std::vector<std::string>{"b", "c", "a"}));
  EXPECT_EQ(finished.dropped_in_cycles, 0u);
  ASSERT_TRUE(check(graph).empty());
  const std::uint32_t row = graph.first_dependency(OpId{3});
  EXPECT_EQ(graph.dependencies.moment[row], Moment::end(OpId{2}));
  EXPECT_EQ(graph.dependencies.lag[row], 5);
  EXPECT_EQ(graph.dependencies.kind[row], DependencyKind::event);
  EXPECT_EQ(graph.dependencies.lag_kind[row], LagKind::hand_over);
  EXPECT_EQ(graph.dependencies.moment[graph.first_dependency(OpId{2})], Moment::start(OpId{1}));
}

TEST(GraphBuilder, WhatNothingHoldsBackStartsWhenItIsSaidToRun) {
  GraphBuilder builder;
  builder.add(kernel(builder, "a", 1, 70));
  const Graph graph = std::move(builder).finish().graph;
  const std::uint32_t row = graph.first_dependency(OpId{1});
  EXPECT_EQ(graph.dependencies.moment[row], Moment::start(OpId{0}));
  EXPECT_EQ(graph.dependencies.lag[row], 70);
  EXPECT_EQ(graph.dependencies.lag_kind[row], LagKind::root);
}

TEST(GraphBuilder, ACycleIsOpenedAtWhatRunsFirst) {
  GraphBuilder builder;
  const OpId a = builder.add(kernel(builder, "a", 1, 10));
  const OpId b = builder.add(kernel(builder, "b", 1, 20));
  const OpId c = builder.add(kernel(builder, "c", 1, 30));
  const OpId behind = builder.add(kernel(builder, "behind", 1, 25));
  builder.depend(b, Moment::end(a), DependencyKind::event);
  builder.depend(c, Moment::end(b), DependencyKind::event);
  builder.depend(a, Moment::end(c), DependencyKind::event);
  builder.depend(behind, Moment::end(c), DependencyKind::event);
  const auto finished = std::move(builder).finish();
  EXPECT_TRUE(check(finished.graph).empty());
  EXPECT_EQ(names_in_order(finished.graph), (std::vector<std::string>{"a", "b", "c", "behind"}));
  EXPECT_EQ(finished.dropped_in_cycles, 1u);
  EXPECT_EQ(finished.graph.dependencies.size(), 4u);  // one of them is a's on the origin
}

TEST(GraphBuilder, TwoCyclesLoseOneDependencyEach) {
  GraphBuilder builder;
  std::vector<OpId> ops;
  for (int i = 0; i < 4; ++i) ops.push_back(builder.add(kernel(builder, std::string(1, static_cast<char>('a' + i)), 1, 10 * i)));
  builder.depend(ops[0], Moment::end(ops[1]), DependencyKind::event);
  builder.depend(ops[1], Moment::end(ops[0]), DependencyKind::event);
  builder.depend(ops[2], Moment::end(ops[3]), DependencyKind::event);
  builder.depend(ops[3], Moment::end(ops[2]), DependencyKind::event);
  const auto finished = std::move(builder).finish();
  EXPECT_EQ(finished.dropped_in_cycles, 2u);
  EXPECT_EQ(names_in_order(finished.graph), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_TRUE(check(finished.graph).empty());
}

// Every operation once, none before what it depends on, and every dependency that closes no cycle is kept.
RC_GTEST_PROP(GraphBuilder, AnyGraphIsPutInOrder, (std::uint64_t seed, bool acyclic)) {
  const RandomGraph random = random_graph(seed, 1 + static_cast<std::uint32_t>(seed % 60), acyclic);
  const auto finished = build(random);
  const auto violations = check(finished.graph);
  for (const std::string& violation : violations) RC_LOG() << violation << "\n";
  RC_ASSERT(violations.empty());
  RC_ASSERT(finished.number[0] == OpId{0});
  RC_ASSERT(std::set<OpId>(finished.number.begin(), finished.number.end()).size() == random.duration.size());
  for (std::uint32_t op = 1; op < random.duration.size(); ++op) {
    RC_ASSERT(finished.graph.operations.origin[finished.number[op]] == SliceId{op});
    RC_ASSERT(finished.graph.operations.duration[finished.number[op]] == random.duration[op]);
  }
  if (acyclic) {
    RC_ASSERT(finished.dropped_in_cycles == 0u);
  }
  std::size_t added = 0;
  for (std::uint32_t op = 1; op < finished.graph.size(); ++op) {
    bool alone = true;
    for (const RandomEdge& edge : random.edges) alone = alone && finished.number[edge.operation] != OpId{op};
    if (!alone && finished.graph.dependencies.kind[finished.graph.first_dependency(OpId{op})] != DependencyKind::origin) continue;
    ++added;
  }
  RC_ASSERT(finished.graph.dependencies.size() == random.edges.size() - finished.dropped_in_cycles + added);
}

}  // namespace
}  // namespace stepscope
