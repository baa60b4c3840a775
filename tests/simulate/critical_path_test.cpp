// The critical path of graphs drawn by hand, with their answers worked out by hand; and what holds of every graph.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/check.h"
#include "simulate/critical_path.h"

namespace stepscope {
namespace {

using enum PathPartKind;

// "python 0-5, launch_latency 5-8, ..."
std::string words_of(const CriticalPath& path) {
  std::string words;
  for (const PathPart& part : path.parts)
    words += (words.empty() ? "" : ", ") + std::string(path_part_kind_name(part.kind)) + " " + std::to_string(part.interval.begin) + "-" +
             std::to_string(part.interval.end);
  return words;
}

struct Drawn {
  GraphBuilder builder;
  PlaceId thread = builder.place({.kind = PlaceKind::thread, .rank = RankId{0}});
  PlaceId stream = builder.place({.kind = PlaceKind::stream, .rank = RankId{0}, .device = DeviceId{0}, .stream = 7});
  PlaceId other_stream = builder.place({.kind = PlaceKind::stream, .rank = RankId{0}, .device = DeviceId{0}, .stream = 8});
  PlaceId thread_of_1 = builder.place({.kind = PlaceKind::thread, .rank = RankId{1}});
  PlaceId stream_of_1 = builder.place({.kind = PlaceKind::stream, .rank = RankId{1}, .device = DeviceId{1}, .stream = 7});
  PlaceId links = builder.place({.kind = PlaceKind::link});

  OpId add(PlaceId place, OperationClass operation_class, Nanoseconds duration) {
    return builder.add({.place = place, .operation_class = operation_class, .duration = duration, .name = {}});
  }
  void depend(OpId op, Moment on, DependencyKind kind, Nanoseconds lag = 0, LagKind lag_kind = LagKind::none) { builder.depend(op, on, kind, lag, lag_kind); }
  void finish() {
    GraphBuilder::Finished finished = std::move(builder).finish();
    graph = std::move(finished.graph);
    number = std::move(finished.number);
    ASSERT_EQ(check(graph), std::vector<std::string>{});
    times = replay(graph);
  }
  CriticalPath path(Moment begin, Moment end) const { return critical_path(graph, times, of(begin), of(end)); }
  Nanoseconds slack(OpId op, Moment end) const { return slack_before(graph, times, of(end)).of(number[index(op)]); }
  Moment of(Moment m) const {
    const OpId op = number[index(m.operation())];
    return m.is_end() ? Moment::end(op) : Moment::start(op);
  }

  Graph graph;
  std::vector<OpId> number;
  ReplayTimes times;
};

// A thread runs Python for 10 and launches a kernel (call of 6); the kernel starts 4 after the launch's begin and runs 30: 44. The launch's own duration is
// beside the path, because the kernel waits for its start: it may last until the thread is waited for, which nothing here does.
TEST(CriticalPath, ADependencyOnAStartLeavesTheDurationOut) {
  Drawn g;
  const OpId python = g.add(g.thread, OperationClass::python, 10), call = g.add(g.thread, OperationClass::launch, 6);
  const OpId kernel = g.add(g.stream, OperationClass::compute, 30);
  g.depend(call, Moment::end(python), DependencyKind::program_order);
  g.depend(kernel, Moment::start(call), DependencyKind::launch, 4, LagKind::launch);
  g.finish();
  const CriticalPath path = g.path(Moment::start(OpId{0}), Moment::end(kernel));
  EXPECT_EQ(words_of(path), "python 0-10, launch_latency 10-14, compute 14-44");
  EXPECT_EQ(path[launch], 0);
  EXPECT_EQ(path.parts[1].operation, g.number[index(kernel)]);  // of a lag: the operation that waited
  EXPECT_EQ(g.graph.dependencies.lag[path.parts[1].dependency], 4);
  EXPECT_EQ(g.slack(python, Moment::end(kernel)), 0);
  EXPECT_EQ(g.slack(kernel, Moment::end(kernel)), 0);
  EXPECT_EQ(g.slack(call, Moment::end(kernel)), no_limit);
}

// The device is the bottleneck: kernel A 14-44, kernel B was launched at 20 and runs after A with a gap of 2: 46-56; the thread then waits for it.
// B's launch could have come 22 later: slack of what the thread did between the launches.
TEST(CriticalPath, QueuedKernelsAndAThreadThatWaits) {
  Drawn g;
  const OpId python = g.add(g.thread, OperationClass::python, 10), launch_a = g.add(g.thread, OperationClass::launch, 6);
  const OpId between = g.add(g.thread, OperationClass::framework, 4), launch_b = g.add(g.thread, OperationClass::launch, 6);
  const OpId wait = g.add(g.thread, OperationClass::synchronisation, 3);
  const OpId a = g.add(g.stream, OperationClass::compute, 30), b = g.add(g.stream, OperationClass::copy, 10);
  g.depend(launch_a, Moment::end(python), DependencyKind::program_order);
  g.depend(between, Moment::end(launch_a), DependencyKind::program_order);
  g.depend(launch_b, Moment::end(between), DependencyKind::program_order);
  g.depend(wait, Moment::end(launch_b), DependencyKind::program_order);
  g.depend(a, Moment::start(launch_a), DependencyKind::launch, 4, LagKind::launch);
  g.depend(b, Moment::start(launch_b), DependencyKind::launch, 4, LagKind::launch);
  g.depend(b, Moment::end(a), DependencyKind::stream_order, 2, LagKind::scheduling);
  g.depend(wait, Moment::end(b), DependencyKind::synchronise, 5, LagKind::hand_over);
  g.finish();
  const Moment end = Moment::end(wait);
  const CriticalPath path = g.path(Moment::start(OpId{0}), end);
  EXPECT_EQ(words_of(path), "python 0-10, launch_latency 10-14, compute 14-44, device_gap 44-46, copy 46-56, hand_over 56-61, synchronisation 61-64");
  EXPECT_EQ(g.slack(between, end), 22);  // B may be launched 46 - 4 = 42 at the latest, and was at 20
  EXPECT_EQ(g.slack(launch_a, end), 22);
  EXPECT_EQ(g.slack(launch_b, end), 35);  // ended at 26; the wait begins at 61
  for (const OpId op : {python, a, b, wait}) EXPECT_EQ(g.slack(op, end), 0);
  // A window that begins inside A: A is clipped.
  EXPECT_EQ(words_of(g.path(Moment::end(launch_b), end)), "compute 26-44, device_gap 44-46, copy 46-56, hand_over 56-61, synchronisation 61-64");
  // A window of no length, and one turned round, have no parts.
  EXPECT_EQ(words_of(g.path(end, end)), "");
  EXPECT_EQ(words_of(g.path(end, Moment::start(a))), "");
}

// Rank 0 arrives at the collective at 20, rank 1 at 50 after 45 of its data loading: the transfer runs 50-60. Rank 0's step ends 60 + 1, and was made of what
// rank 1 did: waiting for another rank. For rank 1 itself the same time is data loading.
TEST(CriticalPath, WhatAnotherRankDidIsWaitingForIt) {
  Drawn g;
  const OpId python_0 = g.add(g.thread, OperationClass::python, 20), member_0 = g.add(g.stream, OperationClass::communication, 0);
  const OpId loading_1 = g.add(g.thread_of_1, OperationClass::data_loading, 45), member_1 = g.add(g.stream_of_1, OperationClass::communication, 0);
  const OpId transfer = g.add(g.links, OperationClass::transfer, 10);
  const OpId after_0 = g.add(g.stream, OperationClass::compute, 7), after_1 = g.add(g.stream_of_1, OperationClass::compute, 7);
  g.depend(member_0, Moment::end(python_0), DependencyKind::launch);
  g.depend(member_1, Moment::end(loading_1), DependencyKind::launch, 5, LagKind::launch);
  g.depend(transfer, Moment::end(member_0), DependencyKind::collective);
  g.depend(transfer, Moment::end(member_1), DependencyKind::collective);
  g.depend(after_0, Moment::end(transfer), DependencyKind::collective, 1, LagKind::scheduling);
  g.depend(after_1, Moment::end(transfer), DependencyKind::collective, 1, LagKind::scheduling);
  g.finish();
  const CriticalPath of_0 = g.path(Moment::start(OpId{0}), Moment::end(after_0));
  // The launch latency of rank 1's member is time of rank 1, too.
  EXPECT_EQ(words_of(of_0), "other_rank 0-45, other_rank 45-50, communication 50-60, device_gap 60-61, compute 61-68");
  EXPECT_EQ(of_0[other_rank], 50);
  const CriticalPath of_1 = g.path(Moment::start(OpId{0}), Moment::end(after_1));
  EXPECT_EQ(words_of(of_1), "data_loading 0-45, launch_latency 45-50, communication 50-60, device_gap 60-61, compute 61-68");
  EXPECT_EQ(g.slack(python_0, Moment::end(after_0)), 30);
  EXPECT_EQ(g.slack(after_1, Moment::end(after_0)), no_limit);
}

// What nothing is known to hold back starts a while after the origin: said as such, never as Python.
TEST(CriticalPath, TheStartOfARecordIsNoCause) {
  Drawn g;
  const OpId kernel = g.add(g.stream, OperationClass::compute, 30), late = g.add(g.stream, OperationClass::fill, 5);
  g.depend(kernel, Moment::start(OpId{0}), DependencyKind::origin, 12, LagKind::root);
  g.depend(late, Moment::end(kernel), DependencyKind::stream_order, 40, LagKind::unexplained);
  g.finish();
  EXPECT_EQ(words_of(g.path(Moment::start(OpId{0}), Moment::end(late))), "no_cause 0-12, compute 12-42, unexplained 42-82, copy 82-87");
}

// A negative lag (clocks that disagree): the kernel seems to start 3 before what it waited for was done. Time is counted once.
TEST(CriticalPath, ANegativeLagCountsNoTimeTwice) {
  Drawn g;
  const OpId first = g.add(g.stream, OperationClass::compute, 30), second = g.add(g.other_stream, OperationClass::compute, 10);
  g.depend(second, Moment::end(first), DependencyKind::event, -3, LagKind::hand_over);
  g.finish();
  EXPECT_EQ(words_of(g.path(Moment::start(OpId{0}), Moment::end(second))), "compute 0-27, compute 27-37");
}

TEST(CriticalPath, EveryKindHasItsOwnNameAndTitle) {
  std::vector<std::string> names, titles;
  for (std::size_t kind = 0; kind < path_part_kind_count; ++kind) {
    names.emplace_back(path_part_kind_name(static_cast<PathPartKind>(kind)));
    titles.emplace_back(path_part_kind_title(static_cast<PathPartKind>(kind)));
  }
  for (std::vector<std::string>* words : {&names, &titles}) {
    std::ranges::sort(*words);
    EXPECT_EQ(std::ranges::adjacent_find(*words), words->end());
    EXPECT_FALSE(words->front().empty());
  }
  EXPECT_FALSE(is_lag(other_rank));
  EXPECT_TRUE(is_lag(launch_latency));
}

// A random graph over two threads, three streams and two ranks. least_lag: negative where clocks may disagree.
Graph random_graph(Nanoseconds least_lag) {
  GraphBuilder builder;
  std::vector<PlaceId> places;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    places.push_back(builder.place({.kind = PlaceKind::thread, .rank = RankId{rank}}));
    places.push_back(builder.place({.kind = PlaceKind::stream, .rank = RankId{rank}, .device = DeviceId{rank}, .stream = 7}));
  }
  places.push_back(builder.place({.kind = PlaceKind::link}));
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 40);
  for (std::uint32_t i = 1; i <= count; ++i) {
    builder.add({.place = *rc::gen::elementOf(places),
                 .operation_class = static_cast<OperationClass>(*rc::gen::inRange(0, static_cast<int>(OperationClass::origin))),
                 .duration = *rc::gen::inRange<Nanoseconds>(0, 30),
                 .name = {},
                 .about = i});
    const int dependencies = *rc::gen::inRange(0, 4);
    for (int d = 0; d < dependencies; ++d) {
      const OpId on{*rc::gen::inRange<std::uint32_t>(0, i)};
      builder.depend(OpId{i}, *rc::gen::arbitrary<bool>() ? Moment::end(on) : Moment::start(on), DependencyKind::flow,
                     *rc::gen::inRange<Nanoseconds>(least_lag, 20), static_cast<LagKind>(*rc::gen::inRange(1, static_cast<int>(lag_kind_count))));
    }
  }
  return std::move(builder).finish().graph;
}

Moment any_moment(const Graph& graph) {
  return Moment{*rc::gen::inRange<std::uint32_t>(0, 2 * static_cast<std::uint32_t>(graph.size()))};
}

TEST(CriticalPath, PartsCoverEveryWindowExactly) {
  EXPECT_TRUE(rc::check("the parts cover the window, in order, each moment once", [] {
    const Graph graph = random_graph(-10);
    const ReplayTimes times = replay(graph);
    const Moment begin = any_moment(graph), end = any_moment(graph);
    const CriticalPath path = critical_path(graph, times, begin, end);
    RC_ASSERT(path.window.length() == std::max<Nanoseconds>(0, times[end] - times[begin]));
    Nanoseconds covered = path.window.begin, by_kind = 0;
    for (const PathPart& part : path.parts) {
      RC_ASSERT(part.interval.begin == covered);
      RC_ASSERT(part.interval.length() > 0);
      RC_ASSERT(is_lag(part.kind) || part.dependency == no_dependency || part.kind == other_rank);
      covered = part.interval.end;
    }
    for (const Nanoseconds sum : path.by_kind) by_kind += sum;
    RC_ASSERT(covered == path.window.end);
    RC_ASSERT(by_kind == path.window.length());
  }));
}

// The window's length after a replay with one duration changed. Asked of operations that end after the window's begin: others move the begin as well.
Nanoseconds length_with(const Graph& graph, OpId op, Nanoseconds duration, Moment begin, Moment end) {
  std::vector<Nanoseconds> durations(graph.operations.duration.begin(), graph.operations.duration.end());
  durations[index(op)] = duration;
  ReplayTimes times;
  replay(graph, durations, times);
  return times[end] - times[begin];
}

TEST(Slack, IsWhatAnOperationMayGrowByAndNoMore) {
  EXPECT_TRUE(rc::check("longer by d: the window grows by max(0, d - slack)", [] {
    const Graph graph = random_graph(0);
    const ReplayTimes times = replay(graph);
    Moment begin = any_moment(graph), end = any_moment(graph);
    if (times[end] < times[begin]) std::swap(begin, end);
    const SlackTimes slack = slack_before(graph, times, end);
    const auto d = *rc::gen::inRange<Nanoseconds>(1, 60);
    for (std::uint32_t i = 1; i < graph.size(); ++i) {
      const OpId op{i};
      if (times.end(op) <= times[begin]) continue;
      const Nanoseconds growth = slack.of(op) == no_limit ? 0 : std::max<Nanoseconds>(0, d - slack.of(op));
      RC_ASSERT(length_with(graph, op, graph.operations.duration[op] + d, begin, end) == times[end] - times[begin] + growth);
    }
  }));
}

TEST(Slack, AShorterOperationNeverLengthensTheWindow) {
  EXPECT_TRUE(rc::check("shorter operations", [] {
    const Graph graph = random_graph(0);
    const ReplayTimes times = replay(graph);
    Moment begin = any_moment(graph), end = any_moment(graph);
    if (times[end] < times[begin]) std::swap(begin, end);
    for (std::uint32_t i = 1; i < graph.size(); ++i) {
      const OpId op{i};
      if (times.end(op) <= times[begin]) continue;
      const Nanoseconds shorter = *rc::gen::inRange<Nanoseconds>(0, graph.operations.duration[op] + 1);
      RC_ASSERT(length_with(graph, op, shorter, begin, end) <= times[end] - times[begin]);
    }
  }));
}

TEST(Slack, OfWhatIsOnThePathIsNone) {
  EXPECT_TRUE(rc::check("operations whose duration is on the path have no slack", [] {
    const Graph graph = random_graph(0);
    const ReplayTimes times = replay(graph);
    const Moment begin = any_moment(graph), end = any_moment(graph);
    const SlackTimes slack = slack_before(graph, times, end);
    for (const PathPart& part : critical_path(graph, times, begin, end).parts) {
      if (part.operation == OpId{0}) continue;  // before the first record
      RC_ASSERT((part.dependency == no_dependency ? slack.of(part.operation) : slack[Moment::start(part.operation)]) == 0);
    }
    for (std::uint32_t i = 0; i < graph.size(); ++i) RC_ASSERT(slack.of(OpId{i}) >= 0);
  }));
}

}  // namespace
}  // namespace stepscope
