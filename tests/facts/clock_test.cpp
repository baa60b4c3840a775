#include "facts/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "read_facts.h"
#include "several_ranks.h"

namespace stepscope {
namespace {

const std::filesystem::path shared = STEPSCOPE_SHARED_DIR;

std::string pair_of(int a, int b, std::int64_t sequence, std::string_view function = "allreduce") {
  return SeveralRanks::arguments(function, fmt::format("{}{}", a, b), fmt::format("[{}, {}]", a, b), 2, sequence);
}

// Ends on rank 1 are later by 99, 100, 100, 101, 105: the median is 100, and half of the central 90 % (99 … 105) is 3.
TEST(Clocks, MedianAndHalfOfTheCentralResiduals) {
  SeveralRanks run(2);
  const Nanoseconds differences[] = {100, 99, 105, 100, 101};
  for (int k = 0; k < 5; ++k) {
    run.collective(0, 1000 * k + 100, 1000 * k + 500, pair_of(0, 1, k));
    run.collective(1, 1000 * k + 400, 1000 * k + 500 + differences[k], pair_of(0, 1, k));
  }
  run.finish();
  ASSERT_EQ(run.facts.clocks.size(), 2u);
  EXPECT_EQ(run.facts.clocks[0].offset, 0);
  EXPECT_EQ(run.facts.clocks[0].uncertainty, 0);
  EXPECT_EQ(run.facts.clocks[1].offset, 100);
  EXPECT_EQ(run.facts.clocks[1].uncertainty, 3);
  EXPECT_EQ(run.facts.clocks[1].through, RankId{0});
  EXPECT_EQ(run.facts.clocks[1].collectives, 5u);
}

TEST(Clocks, OfFewCollectivesHaveNoUncertainty) {
  SeveralRanks run(2);
  for (int k = 0; k < 4; ++k) {
    run.collective(0, 1000 * k + 100, 1000 * k + 500, pair_of(0, 1, k));
    run.collective(1, 1000 * k + 100, 1000 * k + 570, pair_of(0, 1, k));
  }
  run.finish();
  EXPECT_EQ(run.facts.clocks[1].offset, 70);
  EXPECT_EQ(run.facts.clocks[1].uncertainty, std::nullopt);
}

TEST(Clocks, WithoutCommonCollectivesAreUnknown) {
  SeveralRanks run(3);
  for (int k = 0; k < 5; ++k) {
    for (std::size_t rank = 0; rank < 2; ++rank) run.collective(rank, 1000 * k + 100, 1000 * k + 500, pair_of(0, 1, k));
    // A receiver of a broadcast may leave later than the sender.
    run.collective(0, 1000 * k + 600, 1000 * k + 700, pair_of(0, 2, k, "broadcast"));
    run.collective(2, 1000 * k + 600, 1000 * k + 720, pair_of(0, 2, k, "broadcast"));
  }
  run.finish();
  EXPECT_EQ(run.facts.clocks[1].offset, 0);
  EXPECT_EQ(run.facts.clocks[2].offset, std::nullopt);
  EXPECT_EQ(run.facts.clocks[2].uncertainty, std::nullopt);
}

// Rank 2 has an unsteady link to rank 0 and a steady one to rank 1: its clock is found through rank 1, and both uncertainties add.
TEST(Clocks, AreChainedThroughTheSteadiestComparisons) {
  SeveralRanks run(3);
  for (int k = 0; k < 5; ++k) {
    const Nanoseconds at = 10'000 * k;
    run.collective(0, at + 100, at + 500, pair_of(0, 1, k));
    run.collective(1, at + 100, at + 1500 + (k == 0 ? 4 : 0), pair_of(0, 1, k));
    run.collective(1, at + 3000, at + 3500, pair_of(1, 2, k));
    run.collective(2, at + 3000, at + 3200 + (k == 4 ? 2 : 0), pair_of(1, 2, k));
    run.collective(0, at + 5000, at + 5500, pair_of(0, 2, k));
    run.collective(2, at + 5000, at + 6200 + 100 * k, pair_of(0, 2, k));
  }
  run.finish();
  const std::vector<RankClock>& clocks = run.facts.clocks;
  EXPECT_EQ(clocks[1].offset, 1000);
  EXPECT_EQ(clocks[1].uncertainty, 2);
  EXPECT_EQ(clocks[2].offset, 700);
  EXPECT_EQ(clocks[2].uncertainty, 3);
  EXPECT_EQ(clocks[2].through, RankId{1});
}

// 8 ranks in groups of two along two axes and of four: clocks up to 10 ms apart, ends that jitter by up to 2 µs, and one of ten that is far off.
TEST(Clocks, OfGeneratedRunsAreFoundWithinTheirJitter) {
  constexpr Nanoseconds jitter = 2000;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](Nanoseconds low, Nanoseconds high) { return std::uniform_int_distribution<Nanoseconds>(low, high)(random); };
    SeveralRanks run(8);
    Nanoseconds clock[8] = {};
    for (Nanoseconds& one : clock) one = draw(0, 10'000'000);
    Nanoseconds at = 1'000'000;
    for (std::int64_t k = 0; k < 40; ++k) {
      for (const std::vector<std::size_t>& group : std::vector<std::vector<std::size_t>>{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}}) {
        std::string ranks;
        for (const std::size_t rank : group) ranks += fmt::format("{}{}", ranks.empty() ? "[" : ", ", rank);
        ranks += "]";
        for (const std::size_t rank : group) {
          const Nanoseconds off = draw(0, 9) == 0 ? draw(0, 200'000) : draw(0, jitter);
          run.collective(rank, at - draw(0, 500'000) + clock[rank], at + 1'000'000 + off + clock[rank],
                         SeveralRanks::arguments("allreduce", "g", ranks, static_cast<std::int64_t>(group.size()), k));
        }
        at += 2'000'000;
      }
    }
    run.finish();
    ASSERT_EQ(run.facts.collectives.matched.size(), 240u);
    for (std::size_t rank = 1; rank < 8; ++rank) {
      const RankClock& found = run.facts.clocks[rank];
      ASSERT_TRUE(found.offset && found.uncertainty) << seed << " " << rank;
      // At most two comparisons away; a difference of two ends is off by at most the jitter where neither is far off.
      EXPECT_LE(std::abs(*found.offset - (clock[rank] - clock[0])), 2 * jitter) << seed << " " << rank;
      EXPECT_GE(*found.uncertainty, jitter / 2) << "it tells of the jitter";
    }
  }
}

// Rank 1's clock is 250 µs ahead, and its members arrive 30 µs late.
TEST(ClocksOfFaults, SkewedByAQuarterOfAMillisecond) {
  if (!std::filesystem::exists(shared / "faults")) GTEST_SKIP() << shared << " is not here";
  const Read run = read({(shared / "faults/19_clock_skew_rank0.json").string(), (shared / "faults/19_clock_skew_rank1.json").string()});
  ASSERT_EQ(run.facts.clocks.size(), 2u);
  EXPECT_EQ(run.facts.clocks[1].offset, 250'000);
  ASSERT_FALSE(run.facts.collectives.matched.empty());
  for (const MatchedCollective& one : run.facts.collectives.matched) {
    const auto members = run.facts.collectives.members_of(one);
    EXPECT_EQ(run.timeline.slices.start[members[1].slice] - *run.facts.clocks[1].offset - run.timeline.slices.start[members[0].slice], 30'000);
  }
}

// Eight GPUs of one host, with one clock: eight calls each (five all-to-all, three all-reduce, without sequence numbers), worked out here again from the
// kernels' ends alone: the k-th communication kernel of every rank is one collective.
TEST(ClocksOfTraces, OfEightRanksOnOneHost) {
  const auto folder = shared / "traces" / "param_dlrm_8rank";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  const Read run = read({folder.string()});
  const SliceColumns& s = run.timeline.slices;
  ASSERT_EQ(run.timeline.ranks.size(), 8u);
  ASSERT_EQ(run.facts.collectives.matched.size(), 8u);
  for (const MatchedCollective& one : run.facts.collectives.matched) EXPECT_TRUE(one.is_complete());
  std::vector<std::vector<Nanoseconds>> ends(8);
  for (std::uint32_t row = 0; row < s.size(); ++row)
    if (s.kind[SliceId{row}] == SliceKind::kernel && run.timeline.name_of(SliceId{row}).starts_with("nccl"))
      ends[index(run.timeline.track_of(SliceId{row}).rank)].push_back(s.end(SliceId{row}));
  for (std::size_t rank = 0; rank < 8; ++rank) {
    ASSERT_EQ(ends[rank].size(), 8u);
    std::ranges::sort(ends[rank]);
    std::vector<Nanoseconds> differences;
    for (std::size_t k = 0; k < 8; ++k) differences.push_back(ends[rank][k] - ends[0][k]);
    std::ranges::sort(differences);
    const RankClock& clock = run.facts.clocks[rank];
    ASSERT_TRUE(clock.offset && clock.uncertainty);
    if (clock.through == RankId{0}) {
      EXPECT_EQ(*clock.offset, differences[3]);                                  // the lower of the middle two
      EXPECT_EQ(*clock.uncertainty, (differences[7] - differences[0] + 1) / 2);  // of eight, the central 90 % are all
    }
    EXPECT_LE(std::abs(*clock.offset), 2'000);
    EXPECT_LE(*clock.uncertainty, 5'000);
    fmt::print("rank {}: offset {} ns ± {} ns, of {} collectives, against rank {}\n", rank, *clock.offset, *clock.uncertainty, clock.collectives,
               rank == 0 ? 0 : index(clock.through));
  }
}

}  // namespace
}  // namespace stepscope
