#include "facts/collectives.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "read_facts.h"
#include "several_ranks.h"

namespace stepscope {
namespace {

const std::filesystem::path shared = STEPSCOPE_SHARED_DIR;

std::string all_reduce(std::optional<std::int64_t> sequence, std::int64_t elements = 1000) {
  return SeveralRanks::arguments("allreduce", "0", "[0, 1]", 2, sequence, elements);
}

// Rank 1's records begin one call later: by order its first call would meet rank 0's first.
TEST(Collectives, BySequenceNumberWhateverTheOrder) {
  SeveralRanks run(2);
  run.collective(0, 100, 200, all_reduce(6));
  const SliceId a = run.collective(0, 1100, 1200, all_reduce(7)), b = run.collective(0, 2100, 2200, all_reduce(8));
  const SliceId c = run.collective(1, 1150, 1200, all_reduce(7)), d = run.collective(1, 2150, 2200, all_reduce(8));
  run.finish();
  const Collectives& found = run.facts.collectives;
  ASSERT_EQ(found.matched.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const MatchedCollective& one = found.matched[i];
    EXPECT_EQ(one.function, CollectiveFunction::all_reduce);
    EXPECT_EQ(one.match, CollectiveMatch::sequence);
    EXPECT_EQ(one.bytes, 4000);
    EXPECT_TRUE(one.is_complete());
    ASSERT_EQ(one.members, 2u);
    EXPECT_EQ(found.members_of(one)[0].slice, i == 0 ? a : b);
    EXPECT_EQ(found.members_of(one)[1].slice, i == 0 ? c : d);
    EXPECT_EQ(found.members_of(one)[1].rank, RankId{1});
  }
  EXPECT_EQ(found.alone, 1u);
}

TEST(Collectives, OneNameOfTwoGroupsIsTwoGroups) {
  SeveralRanks run(4);
  for (std::size_t rank = 0; rank < 4; ++rank) run.collective(rank, 100, 200, SeveralRanks::arguments("allreduce", "3", rank < 2 ? "[0, 1]" : "[2,3]", 2, 0));
  run.finish();
  const Collectives& found = run.facts.collectives;
  ASSERT_EQ(found.matched.size(), 2u);
  for (const MatchedCollective& one : found.matched) {
    EXPECT_TRUE(one.is_complete());
    const auto members = found.members_of(one);
    EXPECT_EQ(index(members[1].rank), index(members[0].rank) + 1);
    EXPECT_EQ(index(members[0].rank) % 2, 0u);
  }
}

TEST(Collectives, RanksThatTheCaptureLacksMakeItPartial) {
  SeveralRanks run(2, 4);
  for (std::size_t rank = 0; rank < 2; ++rank) run.collective(rank, 100, 200, SeveralRanks::arguments("_allgather_base", "0", "[0, 1, 2, 3]", 4, 0));
  run.finish();
  ASSERT_EQ(run.facts.collectives.matched.size(), 1u);
  EXPECT_TRUE(run.facts.collectives.matched[0].is_partial());
  EXPECT_FALSE(run.facts.collectives.matched[0].is_complete());
  EXPECT_EQ(run.facts.collectives.matched[0].group_size, 4);
}

TEST(Collectives, WhatHasNoCounterpartIsCounted) {
  SeveralRanks run(2);
  run.collective(0, 100, 200, SeveralRanks::arguments("send", "0", "[0, 1]", 2, 0));
  run.collective(1, 100, 200, SeveralRanks::arguments("recv", "0", "[0, 1]", 2, 0));
  // One rank made two kernels of one call.
  run.collective(0, 300, 400, all_reduce(1));
  run.collective(0, 400, 500, all_reduce(1));
  run.collective(1, 300, 500, all_reduce(1));
  run.finish();
  const Collectives& found = run.facts.collectives;
  EXPECT_TRUE(found.matched.empty());
  EXPECT_EQ(found.point_to_point, 2u);
  EXPECT_EQ(found.repeated, 3u);
  EXPECT_EQ(found.alone, 0u);
}

TEST(Collectives, WithoutSequenceNumbersByOrderOfTheSameSize) {
  SeveralRanks run(2);
  std::vector<SliceId> of[2];
  for (std::size_t rank = 0; rank < 2; ++rank) {
    of[rank].push_back(run.collective(rank, 100, 200, all_reduce({}, 10)));
    of[rank].push_back(run.collective(rank, 300, 400, all_reduce({}, 20)));
    of[rank].push_back(run.collective(rank, 500, 600, all_reduce({}, 10)));
  }
  run.collective(0, 700, 800, all_reduce({}, 20));  // rank 0 made two of 20 elements, rank 1 one
  run.finish();
  const Collectives& found = run.facts.collectives;
  ASSERT_EQ(found.matched.size(), 2u);
  EXPECT_EQ(found.matched[0].match, CollectiveMatch::order);
  EXPECT_EQ(found.members_of(found.matched[0])[0].slice, of[0][0]);
  EXPECT_EQ(found.members_of(found.matched[0])[1].slice, of[1][0]);
  EXPECT_EQ(found.members_of(found.matched[1])[0].slice, of[0][2]);
  EXPECT_EQ(found.members_of(found.matched[1])[1].slice, of[1][2]);
  EXPECT_EQ(found.uneven, 3u);
}

// A rank of the group that is in the capture and made no such call: the others' calls cannot be of this group.
TEST(Collectives, WithoutSequenceNumbersAllOfTheGroupMustHaveCalled) {
  SeveralRanks run(3);
  for (std::size_t rank = 0; rank < 2; ++rank) run.collective(rank, 100, 200, SeveralRanks::arguments("allreduce", "0", "[0, 1, 2]", 3, {}));
  run.finish();
  EXPECT_TRUE(run.facts.collectives.matched.empty());
  EXPECT_EQ(run.facts.collectives.uneven, 2u);
}

TEST(Collectives, WithoutSequenceNumbersTheyMustEndTogether) {
  SeveralRanks run(2);
  for (int k = 0; k < 3; ++k) {
    run.collective(0, 1'000'000 * k + 100, 1'000'000 * k + 100'100, all_reduce({}));
    // The second ends 21 µs after rank 0's: more than 20 µs and than 5 % of 121 µs.
    run.collective(1, 1'000'000 * k + 100, 1'000'000 * k + (k == 1 ? 121'100 : 100'100), all_reduce({}));
  }
  run.finish();
  EXPECT_EQ(run.facts.collectives.matched.size(), 2u);
  EXPECT_EQ(run.facts.collectives.apart, 2u);
}

TEST(Collectives, OfASingleRankAreNotLookedFor) {
  SmallTimeline run;
  run.kernel(run.stream(7), "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 0, 100);
  run.finish();
  EXPECT_TRUE(run.facts.collectives.matched.empty());
  EXPECT_EQ(run.facts.collectives.alone, 0u);
  EXPECT_TRUE(run.facts.clocks.empty());
}

TEST(CollectivesOfFaults, TwoGroupsWithOneName) {
  if (!std::filesystem::exists(shared / "faults")) GTEST_SKIP() << shared << " is not here";
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank) paths.push_back((shared / "faults" / fmt::format("21_same_pg_name_rank{}.json", rank)).string());
  const Read run = read(paths);
  const Collectives& found = run.facts.collectives;
  ASSERT_FALSE(found.matched.empty());
  for (const MatchedCollective& one : found.matched) {
    EXPECT_TRUE(one.is_complete());
    const auto members = found.members_of(one);
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(index(members[0].rank) / 2, index(members[1].rank) / 2);
    EXPECT_EQ(run.timeline.slices.start[members[0].slice], run.timeline.slices.start[members[1].slice]);
  }
  EXPECT_EQ(found.alone + found.repeated + found.uneven + found.apart + found.point_to_point, 0u);
  // Nothing connects the two groups.
  ASSERT_EQ(run.facts.clocks.size(), 4u);
  EXPECT_EQ(run.facts.clocks[1].offset, 0);
  EXPECT_EQ(run.facts.clocks[2].offset, std::nullopt);
  EXPECT_EQ(run.facts.clocks[3].offset, std::nullopt);
}

// An old trace, sampled, of two ranks of 128: most k-th calls of a size are not the same call, and no group is recorded.
TEST(CollectivesOfTraces, SampledCallsThatLieApartAreNotMatched) {
  const auto folder = shared / "traces" / "hta_trace_filter_2rank";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  const Read run = read({folder.string()});
  const Collectives& found = run.facts.collectives;
  // Two all-gathers, and the one all-reduce of 5,716,654 elements.
  ASSERT_EQ(found.matched.size(), 3u);
  for (const MatchedCollective& one : found.matched) {
    EXPECT_TRUE(one.is_partial());
    EXPECT_EQ(one.group_size, 128);
    const auto members = found.members_of(one);
    const Nanoseconds apart = run.timeline.slices.end(members[0].slice) - run.timeline.slices.end(members[1].slice);
    EXPECT_LT(std::abs(apart), 400'000);
  }
  EXPECT_EQ(2 * found.matched.size() + found.alone + found.uneven + found.apart, 20u);
}

}  // namespace
}  // namespace stepscope
