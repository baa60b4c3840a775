#include "graph/check.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.h"

namespace stepscope {
namespace {

Graph two_kernels() {
  GraphBuilder builder;
  const NameId name = builder.names().intern("k");
  const OpId a = builder.add({.operation_class = OperationClass::compute, .duration = 10, .name = name});
  const OpId b = builder.add({.operation_class = OperationClass::compute, .duration = 10, .name = name, .about = 10});
  builder.depend(b, Moment::end(a), DependencyKind::stream_order, 2, LagKind::scheduling);
  return std::move(builder).finish().graph;
}

std::string first_violation(const std::function<void(Graph&)>& damage) {
  Graph graph = two_kernels();
  damage(graph);
  const auto violations = check(graph);
  return violations.empty() ? "" : violations[0];
}

TEST(CheckGraph, FindsNothingInASoundOne) {
  EXPECT_EQ(first_violation([](Graph&) {}), "");
}

TEST(CheckGraph, SaysWhatIsWrong) {
  EXPECT_EQ(check(Graph{}).at(0), "there is no origin");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.duration[2] = -3; }), "operation 2 lasts -3 ns");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.place[OpId{1}] = PlaceId{7}; }), "operation 1 is at place 7 of 1");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.name[OpId{1}] = NameId{99}; }), "operation 1 has name 99 of 2");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.operation_class[1] = OperationClass::origin; }), "operation 1 is a second origin");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.duration[0] = 1; }), "operation 0 is not the origin");
  EXPECT_EQ(first_violation([](Graph& g) { g.dependencies.moment[1] = Moment::start(OpId{2}); }), "operation 2 stands before operation 2, on which it depends");
  EXPECT_EQ(first_violation([](Graph& g) { g.dependencies.lag_kind[1] = LagKind::none; }), "operation 2 has a lag of 2 ns that is of no kind");
  EXPECT_EQ(first_violation([](Graph& g) { g.operations.bytes.push_back(1); }), "columns of operations differ in length");
  EXPECT_EQ(first_violation([](Graph& g) { g.dependencies.lag.push_back(1); }), "columns of dependencies differ in length");
  EXPECT_EQ(first_violation([](Graph& g) { g.first[3] = 1; }), "first does not span the dependencies");
  EXPECT_EQ(first_violation([](Graph& g) { g.first[2] = 0; }), "operation 1 depends on nothing");
  EXPECT_EQ(first_violation([](Graph& g) { g.places.clear(); }), "place 0 is not nowhere");
}

TEST(CheckGraph, StopsAtTwenty) {
  GraphBuilder builder;
  for (int i = 0; i < 50; ++i) builder.add({.operation_class = OperationClass::compute, .duration = -1});
  EXPECT_EQ(check(std::move(builder).finish().graph).size(), 20u);
}

}  // namespace
}  // namespace stepscope
