#include "simulate/replay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "graph/builder.h"
#include "graph/check.h"
#include "graph/random_graph.h"

namespace stepscope {
namespace {

// A thread launches two kernels into one stream and waits for them:
//   launch a [0, 4)  launch b [4, 8)  wait [8, …)
//   a starts 6 after its launch began, lasts 20: [6, 26); b is queued: 2 after a's end: [28, 38); the wait ends 3 after b: 41
struct TwoLaunches {
  Graph graph;
  OpId launch_a{1}, launch_b{2}, a{}, b{}, wait{}, after{};
  TwoLaunches() {
    GraphBuilder builder;
    launch_a = builder.add({.operation_class = OperationClass::launch, .duration = 4, .about = 0});
    launch_b = builder.add({.operation_class = OperationClass::launch, .duration = 4, .about = 4});
    a = builder.add({.operation_class = OperationClass::compute, .duration = 20, .about = 6});
    b = builder.add({.operation_class = OperationClass::compute, .duration = 10, .about = 28});
    wait = builder.add({.operation_class = OperationClass::synchronisation, .duration = 0, .about = 41});
    after = builder.add({.operation_class = OperationClass::framework, .duration = 5, .about = 41});
    builder.depend(launch_b, Moment::end(launch_a), DependencyKind::program_order);
    builder.depend(a, Moment::start(launch_a), DependencyKind::launch, 6, LagKind::launch);
    builder.depend(b, Moment::start(launch_b), DependencyKind::launch, 6, LagKind::launch);
    builder.depend(b, Moment::end(a), DependencyKind::stream_order, 2, LagKind::scheduling);
    builder.depend(wait, Moment::end(launch_b), DependencyKind::program_order);
    builder.depend(wait, Moment::end(b), DependencyKind::synchronise, 3, LagKind::hand_over);
    builder.depend(after, Moment::end(wait), DependencyKind::program_order);
    auto finished = std::move(builder).finish();
    for (OpId* op : {&launch_a, &launch_b, &a, &b, &wait, &after}) *op = finished.number[index(*op)];
    graph = std::move(finished.graph);
  }
};

TEST(Replay, GivesTheTimesWorkedOutByHand) {
  const TwoLaunches t;
  const ReplayTimes times = replay(t.graph);
  EXPECT_EQ(times.size(), 7u);
  EXPECT_EQ(times.start(OpId{0}), 0);
  EXPECT_EQ(times.end(OpId{0}), 0);
  EXPECT_EQ(times.start(t.launch_b), 4);
  EXPECT_EQ(times.start(t.a), 6);
  EXPECT_EQ(times.end(t.a), 26);
  EXPECT_EQ(times.start(t.b), 28);
  EXPECT_EQ(times.end(t.b), 38);
  EXPECT_EQ(times.start(t.wait), 41);
  EXPECT_EQ(times[Moment::end(t.after)], 46);
}

TEST(Replay, WithOtherDurations) {
  const TwoLaunches t;
  std::vector<Nanoseconds> durations(t.graph.operations.duration.begin(), t.graph.operations.duration.end());
  durations[index(t.a)] = 1;  // [6, 7): b is then ready when its launch reaches the stream, at 10
  ReplayTimes times;
  replay(t.graph, durations, times);
  EXPECT_EQ(times.start(t.b), 10);
  EXPECT_EQ(times.end(t.after), 28);
  durations[index(t.launch_b)] = 40;  // [4, 44): b's work starts 6 after the launch began all the same
  replay(t.graph, durations, times);
  EXPECT_EQ(times.start(t.b), 10);
  EXPECT_EQ(times.start(t.wait), 44);
  EXPECT_EQ(times.end(t.after), 49);
}

TEST(Replay, NegativeLagsAndTimesBeforeTheOriginAreKept) {
  GraphBuilder builder;
  const OpId a = builder.add({.operation_class = OperationClass::compute, .duration = 5, .about = 0});
  const OpId b = builder.add({.operation_class = OperationClass::compute, .duration = 5, .about = 1});
  builder.depend(a, Moment::start(OpId{0}), DependencyKind::origin, -20, LagKind::root);
  builder.depend(b, Moment::end(a), DependencyKind::launch, -3, LagKind::launch);
  const Graph graph = std::move(builder).finish().graph;
  const ReplayTimes times = replay(graph);
  EXPECT_EQ(times.start(OpId{1}), -20);
  EXPECT_EQ(times.start(OpId{2}), -18);
}

TEST(Replay, TheFirstOfTheLatestDecides) {
  const TwoLaunches t;
  ReplayTimes times = replay(t.graph);
  EXPECT_EQ(t.graph.dependencies.kind[deciding_dependency(t.graph, times, t.b)], DependencyKind::stream_order);
  EXPECT_EQ(t.graph.dependencies.kind[deciding_dependency(t.graph, times, t.wait)], DependencyKind::synchronise);
  std::vector<Nanoseconds> durations(t.graph.operations.duration.begin(), t.graph.operations.duration.end());
  durations[index(t.a)] = 1;
  replay(t.graph, durations, times);
  EXPECT_EQ(t.graph.dependencies.kind[deciding_dependency(t.graph, times, t.b)], DependencyKind::launch);
  durations[index(t.a)] = 2;  // both at 10
  replay(t.graph, durations, times);
  EXPECT_EQ(deciding_dependency(t.graph, times, t.b), t.graph.first_dependency(t.b));
}

// By recursion from the end, with a memory: nothing of replay's order.
std::vector<Nanoseconds> times_by_recursion(const Graph& graph, std::span<const Nanoseconds> durations) {
  std::vector<std::optional<Nanoseconds>> known(graph.size());
  const std::function<Nanoseconds(std::uint32_t)> start = [&](std::uint32_t op) {
    if (op == 0) return Nanoseconds{0};
    if (known[op]) return *known[op];
    std::optional<Nanoseconds> latest;
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row) {
      const Moment moment = graph.dependencies.moment[row];
      const auto from = static_cast<std::uint32_t>(moment.operation());
      const Nanoseconds time = start(from) + (moment.is_end() ? durations[from] : 0) + graph.dependencies.lag[row];
      latest = std::max(latest.value_or(time), time);
    }
    known[op] = latest;
    return *latest;
  };
  std::vector<Nanoseconds> starts;
  for (std::uint32_t op = 0; op < graph.size(); ++op) starts.push_back(start(op));
  return starts;
}

std::vector<Nanoseconds> random_durations(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Nanoseconds> durations{0};
  while (durations.size() < count) durations.push_back(static_cast<Nanoseconds>(random() % (random() % 8 == 0 ? 1'000'000'000'000 : 2'000)));
  return durations;
}

RC_GTEST_PROP(Replay, EqualsTheLongestPathByRecursion, (std::uint64_t seed)) {
  const Graph graph = build(random_graph(seed, 1 + static_cast<std::uint32_t>(seed % 300), true)).graph;
  const auto durations = random_durations(seed + 1, graph.size());
  for (const bool as_built : {true, false}) {
    const std::span<const Nanoseconds> used = as_built ? graph.operations.duration.span() : std::span<const Nanoseconds>(durations);
    ReplayTimes times;
    replay(graph, used, times);
    const auto expected = times_by_recursion(graph, used);
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
      RC_ASSERT(times.start(OpId{op}) == expected[op]);
      RC_ASSERT(times.end(OpId{op}) == expected[op] + used[op]);
    }
  }
}

RC_GTEST_PROP(Replay, EightSetsEqualEightReplays, (std::uint64_t seed)) {
  const Graph graph = build(random_graph(seed, 1 + static_cast<std::uint32_t>(seed % 200), true)).graph;
  std::vector<double> durations(replay_sets * graph.size());
  std::vector<std::vector<Nanoseconds>> sets;
  for (std::size_t set = 0; set < replay_sets; ++set) {
    sets.push_back(random_durations(seed + set, graph.size()));
    for (std::size_t op = 0; op < graph.size(); ++op) durations[replay_sets * op + set] = static_cast<double>(sets[set][op]);
  }
  Column<double> times;
  replay_sets_of_eight(graph, durations, times);
  RC_ASSERT(times.size() == 2 * replay_sets * graph.size());
  for (std::size_t set = 0; set < replay_sets; ++set) {
    ReplayTimes alone;
    replay(graph, sets[set], alone);
    for (std::size_t moment = 0; moment < 2 * graph.size(); ++moment) RC_ASSERT(times[replay_sets * moment + set] == static_cast<double>(alone.times[moment]));
  }
}

// Longer operations never end anything sooner; a dependency decides only if its moment and lag are the start.
RC_GTEST_PROP(Replay, IsMonotoneAndDecidedByADependency, (std::uint64_t seed)) {
  const Graph graph = build(random_graph(seed, 80, true)).graph;
  std::vector<Nanoseconds> durations(graph.operations.duration.begin(), graph.operations.duration.end());
  const ReplayTimes before = replay(graph);
  for (std::uint32_t op = 1; op < graph.size(); ++op) {
    const std::uint32_t row = deciding_dependency(graph, before, OpId{op});
    RC_ASSERT(before[graph.dependencies.moment[row]] + graph.dependencies.lag[row] == before.start(OpId{op}));
    for (std::uint32_t earlier = graph.first[op]; earlier < row; ++earlier)
      RC_ASSERT(before[graph.dependencies.moment[earlier]] + graph.dependencies.lag[earlier] < before.start(OpId{op}));
  }
  durations[1 + seed % 80] += 1 + static_cast<Nanoseconds>(seed % 500);
  ReplayTimes after;
  replay(graph, durations, after);
  for (std::size_t moment = 0; moment < after.times.size(); ++moment) RC_ASSERT(after.times[moment] >= before.times[moment]);
}

}  // namespace
}  // namespace stepscope
