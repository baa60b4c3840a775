// Collectives over ranks in a lifted graph: none transfers before all have arrived, and whoever comes earlier or later moves the others as it should.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "engine_timeline.h"
#include "facts/two_ranks.h"
#include "graph/check.h"
#include "lift/lift.h"
#include "random_program.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

constexpr Nanoseconds ms = TwoRanks::ms;

struct LiftedRanks : TwoRanks {
  explicit LiftedRanks(Nanoseconds ahead) : TwoRanks(ahead), lifted(lift(run.timeline, run.facts)) {}
  Lifted lifted;
};

TEST(LiftedCollectives, ReplayAsTheyWere) {
  for (const Nanoseconds ahead : {Nanoseconds{0}, 250'000l, 40 * ms}) {
    const LiftedRanks two(ahead);
    EXPECT_TRUE(check(two.lifted.graph).empty());
    EXPECT_EQ(two.lifted.dropped_in_cycles, 0u);
    EXPECT_EQ(two.lifted.collectives_contradicted, 0u);
    ASSERT_EQ(two.lifted.members.size(), 2u);
    EXPECT_EQ(two.lifted.clock_offsets, (std::vector<Nanoseconds>{0, ahead}));
    const ReplayTimes times = replay(two.lifted.graph);
    const SliceColumns& s = two.run.timeline.slices;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds offset = two.lifted.clock_offsets[rank];
      for (const SliceId slice : {two.member[rank], two.after[rank]}) {
        EXPECT_EQ(times.start(two.lifted.operation_of[slice]), s.start[slice] - offset);
        EXPECT_EQ(times[two.lifted.end_of(slice)], s.end(slice) - offset);
      }
    }
    // From rank 1's arrival on.
    const OpId transfer = two.lifted.members[0].transfer;
    EXPECT_EQ(two.lifted.members[1].transfer, transfer);
    EXPECT_EQ(two.lifted.graph.operations.operation_class[transfer], OperationClass::transfer);
    EXPECT_EQ(two.lifted.graph.place_of(transfer).kind, PlaceKind::link);
    EXPECT_EQ(two.lifted.graph.operations.bytes[transfer], 4000);
    EXPECT_EQ(times.start(transfer), 15 * ms + 10'001);
    EXPECT_EQ(two.lifted.graph.operations.duration[transfer], 1 * ms);
  }
}

// The late rank on time: all that follows is 5 ms earlier, on both ranks, and no nanosecond more.
TEST(LiftedCollectives, ALateRankOnTimeSavesWhatItWasLate) {
  for (const Nanoseconds ahead : {Nanoseconds{0}, 40 * ms}) {
    const LiftedRanks two(ahead);
    const ReplayTimes before = replay(two.lifted.graph);
    Graph graph = two.lifted.graph.copy();
    graph.operations.duration[two.lifted.operation_of[two.work[1]]] -= 5 * ms;
    const ReplayTimes after = replay(graph);
    for (std::size_t rank = 0; rank < 2; ++rank)
      for (const SliceId slice : {two.member[rank], two.after[rank]}) EXPECT_EQ(before[two.lifted.end_of(slice)] - after[two.lifted.end_of(slice)], 5 * ms);
    // Rank 0 arrives when it did.
    EXPECT_EQ(before.start(two.lifted.operation_of[two.member[0]]), after.start(two.lifted.operation_of[two.member[0]]));
    // Earlier still saves no more: then rank 0 is the last.
    graph.operations.duration[two.lifted.operation_of[two.work[1]]] -= 3 * ms;
    const ReplayTimes earlier = replay(graph);
    for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(before[two.lifted.end_of(two.after[rank])] - earlier[two.lifted.end_of(two.after[rank])], 5 * ms);
  }
}

TEST(LiftedCollectives, WhoWaitsAnywayLosesNothingByBeingLater) {
  const LiftedRanks two(0);
  const ReplayTimes before = replay(two.lifted.graph);
  Graph graph = two.lifted.graph.copy();
  Nanoseconds& work = graph.operations.duration[two.lifted.operation_of[two.work[0]]];
  work += 5 * ms;
  ReplayTimes after = replay(graph);
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(after[two.lifted.end_of(two.after[rank])], before[two.lifted.end_of(two.after[rank])]);
  work += 2 * ms;  // and then it is the late one
  after = replay(graph);
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(after[two.lifted.end_of(two.after[rank])] - before[two.lifted.end_of(two.after[rank])], 2 * ms);
}

// Rank 0 leaves before rank 1 comes, on clocks that other collectives show to agree: the kernels stay what they are.
TEST(LiftedCollectives, ThatTimesContradictStayKernels) {
  SeveralRanks run(2);
  std::vector<SliceId> slices;
  for (std::int64_t k = 0; k < 3; ++k)
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds late = k == 1 && rank == 1 ? 300'000 : 0;
      slices.push_back(run.collective(rank, ms * (k + 1) + late, ms * (k + 1) + 200'000 + late, SeveralRanks::arguments("allreduce", "0", "[0, 1]", 2, k)));
    }
  run.finish();
  const Lifted lifted = lift(run.timeline, run.facts);
  EXPECT_EQ(lifted.collectives_contradicted, 1u);
  EXPECT_EQ(lifted.members.size(), 4u);
  const ReplayTimes times = replay(lifted.graph);
  for (const SliceId slice : slices) {
    EXPECT_EQ(times.start(lifted.operation_of[slice]), run.timeline.slices.start[slice]);
    EXPECT_EQ(times[lifted.end_of(slice)], run.timeline.slices.end(slice));
  }
}

// Of a capture of which only a part is lifted, a collective with a member outside stays kernels.
TEST(LiftedCollectives, WithAMemberOutsideAreNotJoined) {
  const LiftedRanks two(0);
  const Lifted part = lift(two.run.timeline, two.run.facts, {0, 15 * ms});
  EXPECT_TRUE(part.members.empty());
  EXPECT_EQ(part.collectives_contradicted, 0u);
  EXPECT_TRUE(check(part.graph).empty());
}

// Random programs of two to five ranks, with collectives between them: every device slice starts and ends as it did.
TEST(LiftedCollectives, OfGeneratedRunsReplayAsTheyWere) {
  std::size_t joined = 0, slices = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Program program = RandomProgram::draw(seed, {.ranks = 2 + static_cast<std::uint32_t>(seed % 4)});
    const WrittenRun run = RunWriter::write(program, Engine::run(program));
    const Lifted lifted = lift(run.timeline, run.facts);
    ASSERT_TRUE(check(lifted.graph).empty()) << seed << ": " << check(lifted.graph)[0];
    ASSERT_EQ(lifted.dropped_in_cycles, 0u) << seed;
    ASSERT_EQ(lifted.collectives_contradicted, 0u) << seed;
    // Every communication kernel is a member.
    const auto kernels = std::ranges::count(run.facts.activity.span(), ActivityClass::communication);
    ASSERT_EQ(lifted.members.size(), static_cast<std::size_t>(kernels)) << seed;
    joined += lifted.members.size();
    const ReplayTimes times = replay(lifted.graph);
    const SliceColumns& s = run.timeline.slices;
    for (const DeviceFacts& device : run.facts.devices)
      for (const SliceId id : device.slices) {
        const Nanoseconds offset = lifted.clock_offsets[index(device.rank)];
        ASSERT_EQ(times.start(lifted.operation_of[id]), s.start[id] - offset) << seed << ", " << run.timeline.name_of(id);
        ASSERT_EQ(times[lifted.end_of(id)], s.end(id) - offset) << seed << ", " << run.timeline.name_of(id);
        ++slices;
      }
  }
  EXPECT_GT(joined, 1'000u);
  fmt::print("{} device slices, {} of them members of collectives, replayed as they were\n", slices, joined);
}

}  // namespace
}  // namespace stepscope
