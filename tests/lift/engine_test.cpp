// The engine that generated runs come from, held against answers worked out by hand.
#include "engine.h"

#include <gtest/gtest.h>

#include "engine_timeline.h"
#include "random_program.h"
#include "timeline/check.h"

namespace stepscope {
namespace {

DeviceWork kernel(Nanoseconds duration, std::uint32_t stream = 0) {
  return {.name = "k", .duration = duration, .gap = 2, .stream = stream, .after = {}};
}
Action launch(std::uint32_t work, std::uint32_t stream = 0, std::uint32_t works = 1) {
  return {.what = Do::launch, .duration = 4, .latency = 6, .stream = stream, .first_work = work, .works = works};
}

TEST(Engine, LaunchesQueueAndThreadsWait) {
  Program program;
  program.ranks.push_back({.streams = {7},
                           .threads = {{launch(0), launch(1), {.what = Do::sync_stream, .duration = 1, .back = 3}, {.what = Do::work, .duration = 5}}},
                           .works = {kernel(20), kernel(10)}});
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].works[0], (Interval{6, 26}));
  EXPECT_EQ(run[0].works[1], (Interval{28, 38}));
  EXPECT_EQ(run[0].actions[0][2], (Interval{8, 41}));
  EXPECT_EQ(run[0].actions[0][3], (Interval{41, 46}));
}

TEST(Engine, StreamsWaitForEvents) {
  Program program;
  program.ranks.push_back({.streams = {7, 20},
                           .threads = {{launch(0),
                                        {.what = Do::record, .duration = 1, .stream = 0, .number = 0},
                                        {.what = Do::wait, .duration = 1, .latency = 5, .stream = 1, .number = 0},
                                        launch(1, 1),
                                        launch(2, 1)}},
                           .works = {kernel(100), kernel(10, 1), kernel(10, 1)}});
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].works[0], (Interval{6, 106}));
  EXPECT_EQ(run[0].works[1], (Interval{111, 121}));
  EXPECT_EQ(run[0].works[2], (Interval{123, 133}));
}

TEST(Engine, GraphsForkAndJoin) {
  Program program;
  std::vector<DeviceWork> works{kernel(10), kernel(10), kernel(30, 1), kernel(10), kernel(5)};
  works[1].after = {0}, works[2].after = {0}, works[3].after = {1, 2};
  program.ranks.push_back({.streams = {7, 20}, .threads = {{launch(0, 0, 4), launch(4)}}, .works = works});
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].works[0], (Interval{6, 16}));
  EXPECT_EQ(run[0].works[1], (Interval{18, 28}));
  EXPECT_EQ(run[0].works[2], (Interval{18, 48}));
  EXPECT_EQ(run[0].works[3], (Interval{50, 60}));
  EXPECT_EQ(run[0].works[4], (Interval{62, 67}));  // behind the whole graph
}

TEST(Engine, ThreadsSignalEachOther) {
  Program program;
  program.ranks.push_back({.streams = {7},
                           .threads = {{{.what = Do::work, .duration = 10}, {.what = Do::signal, .number = 0}, {.what = Do::await, .back = 3, .number = 1}},
                                       {{.what = Do::await, .back = 3, .number = 0}, {.what = Do::work, .duration = 20}, {.what = Do::signal, .number = 1}}},
                           .works = {}});
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].actions[1][1], (Interval{13, 33}));
  EXPECT_EQ(run[0].actions[0][2], (Interval{10, 36}));
}

TEST(Engine, CollectivesStartWithTheirLastMember) {
  Program program;
  program.collectives = 1;
  for (const Nanoseconds before : {0, 50}) {
    std::vector<DeviceWork> works{kernel(30)};
    works[0].collective = 0;
    program.ranks.push_back({.streams = {7}, .threads = {{{.what = Do::work, .duration = before}, launch(0)}}, .works = works});
  }
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].works[0], (Interval{6, 86}));
  EXPECT_EQ(run[1].works[0], (Interval{56, 86}));
}

TEST(Engine, BlockingCopiesHoldTheThread) {
  Program program;
  program.ranks.push_back({.streams = {7},
                           .threads = {{launch(0),
                                        {.what = Do::blocking_copy, .duration = 5, .latency = 6, .back = 4, .stream = 0, .first_work = 1, .works = 1},
                                        {.what = Do::sync_device, .duration = 2, .back = 4}}},
                           .works = {kernel(100), kernel(10)}});
  const auto run = Engine::run(program);
  EXPECT_EQ(run[0].works[1], (Interval{108, 118}));
  EXPECT_EQ(run[0].actions[0][1], (Interval{4, 122}));
  EXPECT_EQ(run[0].actions[0][2], (Interval{122, 124}));
}

TEST(Engine, WritesSoundTimelines) {
  std::size_t slices = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ProgramOptions options{.ranks = seed % 4 == 3 ? 2u : 1u};
    const Program program = RandomProgram::draw(seed, options);
    const WrittenRun written = RunWriter::write(program, Engine::run(program));
    EXPECT_TRUE(check(written.timeline).empty()) << "seed " << seed << ": " << check(written.timeline)[0];
    EXPECT_EQ(written.facts.launches_without_record, 0u);
    EXPECT_EQ(written.facts.ambiguous_links, 0u);
    ASSERT_EQ(written.facts.steps.size(), options.ranks);
    EXPECT_EQ(written.facts.steps[0].steps.size(), options.steps);
    slices += written.timeline.slices.size();
  }
  EXPECT_GT(slices, 5'000u);
}

}  // namespace
}  // namespace stepscope
