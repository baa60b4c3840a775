// Edits that change what depends on what, on graphs whose times are worked out by hand.
#include <gtest/gtest.h>

#include "edit/small_graph.h"

namespace stepscope {
namespace {

constexpr auto communication = OperationClass::communication;

// gemm (100), all-reduce (80), gemm (100), optimizer (50) on one stream, launched early; the thread waits for the last.
struct Serial : testing::Test {
  SmallGraph g;
  OpId a, reduce, b, step, wait;
  void SetUp() override {
    const PlaceId thread = g.thread(), stream = g.stream(7);
    a = g.kernel(thread, stream, "gemm_a", 100);
    reduce = g.kernel(thread, stream, "ncclDevKernel_AllReduce_Sum_f32", 80, communication, 1000);
    b = g.kernel(thread, stream, "gemm_b", 100);
    step = g.kernel(thread, stream, "adam", 50);
    wait = g.synchronise(thread, step);
    g.finish();
  }
};

TEST_F(Serial, AsBuilt) {
  EXPECT_EQ(g.end(wait), 5 + 100 + 80 + 100 + 50);
}

TEST_F(Serial, OverlapUntilTheNextSynchronisation) {
  g.edit("overlap collective=all_reduce");
  EXPECT_EQ(g.start(reduce), 105);  // its data
  EXPECT_EQ(g.start(b), 105);       // no longer behind it
  EXPECT_EQ(g.end(reduce), 185);
  EXPECT_EQ(g.end(wait), 255);  // 5 + 100 + 100 + 50; the all-reduce has ended
  EXPECT_EQ(g.graph.place_of(g[reduce]).stream, 8);
  g.edit("set collective=all_reduce to=500ns");
  EXPECT_EQ(g.end(step), 255);
  EXPECT_EQ(g.end(wait), 605);  // who waited for the stream waits for what has left it
}

TEST_F(Serial, OverlapUntilWhatNeedsIt) {
  const EditEffect effect = g.edit("overlap collective=all_reduce until=name=adam slowdown=2");
  EXPECT_EQ(effect.operations, 1u);
  EXPECT_EQ(g.duration(reduce), 160);
  EXPECT_EQ(g.start(step), 265);  // 105 + 160; gemm_b is over at 205
  EXPECT_NE(g.error("overlap name=adam until=\"phase=nonsense\"").find("until=phase=nonsense"), std::string::npos);
}

TEST_F(Serial, OverlapOfNeighbours) {
  g.edit("overlap name=*AllReduce*|gemm_b until=\"name=adam\"");
  EXPECT_EQ(g.start(reduce), 105);
  EXPECT_EQ(g.start(b), 185);     // behind the one before it on the new stream
  EXPECT_EQ(g.start(step), 285);  // needs both
}

TEST_F(Serial, OverlapWithoutAnybodyWhoWaits) {
  const EditEffect effect = g.edit("overlap name=adam");
  EXPECT_EQ(g.end(wait), 335);  // it waits for the optimizer itself
  EXPECT_EQ(effect.operations, 1u);
}

// Five elementwise kernels with a product between the third and the fourth.
TEST(Fuse, RunsOfElementwiseKernels) {
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7);
  const OpId a = g.kernel(thread, stream, "vectorized_elementwise_kernel", 30), b = g.kernel(thread, stream, "elementwise_kernel", 40),
             c = g.kernel(thread, stream, "elementwise_kernel", 20);
  const OpId gemm = g.kernel(thread, stream, "gemm", 100);
  const OpId d = g.kernel(thread, stream, "elementwise_kernel", 10);
  g.finish();
  EXPECT_EQ(g.end(d), 205);
  const EditEffect effect = g.edit("fuse category=elementwise");
  // Nothing is known of bytes: as long as the longest, 40. Two launches fewer.
  EXPECT_EQ(effect.operations, 3u);
  EXPECT_EQ(effect.summary, "fused 3 kernels into 1 (90 ns to 40 ns), 2 launch calls fewer");
  EXPECT_DOUBLE_EQ(effect.pessimistic, 0);
  EXPECT_EQ(g.duration(a), 40);
  EXPECT_EQ(g.duration(b) + g.duration(c), 0);
  EXPECT_EQ(g.start(gemm), 45);
  EXPECT_EQ(g.end(d), 155);
  EXPECT_NE(g.error("fuse name=gemm").find("nothing to fuse"), std::string::npos);
}

TEST(Fuse, NotOverAWaitForAnotherStream) {
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7), other = g.stream(8);
  g.kernel(thread, stream, "elementwise_kernel", 30);
  const OpId copy = g.kernel(thread, other, "copy_kernel", 200);
  const OpId b = g.kernel(thread, stream, "elementwise_kernel", 30);
  g.depend(b, Moment::end(copy), DependencyKind::event);
  g.finish();
  EXPECT_NE(g.error("fuse category=elementwise").find("nothing to fuse"), std::string::npos);
}

TEST(Fuse, NotOverAThreadThatWaitsInBetween) {
  // a and b, then the thread waits for b and launches c: what c does may depend on what the thread saw.
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7);
  const OpId a = g.kernel(thread, stream, "elementwise_kernel", 30), b = g.kernel(thread, stream, "elementwise_kernel", 30);
  g.synchronise(thread, b);
  const OpId c = g.kernel(thread, stream, "elementwise_kernel", 30);
  g.finish();
  EXPECT_EQ(g.end(c), 100);  // 5 + 30 + 30 + 5 + 30
  EXPECT_EQ(g.edit("fuse category=elementwise").operations, 2u);
  EXPECT_EQ(g.duration(a), 30);
  EXPECT_EQ(g.duration(b), 0);
  EXPECT_EQ(g.duration(c), 30);
  EXPECT_EQ(g.end(c), 70);
}

// Moved to a stream of its own, a kernel takes its wait for another stream along, and what comes after it on the old stream still waits as well.
TEST(Overlap, WhatTheMovedOneWaitedForHoldsTheOldStreamToo) {
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7), other = g.stream(8);
  const OpId copy = g.kernel(thread, other, "copy_kernel", 200);
  const OpId before = g.kernel(thread, stream, "before", 30);
  const OpId moved = g.kernel(thread, stream, "moved", 40);
  g.depend(moved, Moment::end(copy), DependencyKind::event);
  const OpId after = g.kernel(thread, stream, "after", 10);
  g.finish();
  EXPECT_EQ(g.start(after), 245);  // 5 + 200 + 40
  g.edit("overlap name=moved");
  EXPECT_EQ(g.start(before), 15);
  EXPECT_EQ(g.start(moved), 205);
  EXPECT_EQ(g.start(after), 205);
}

TEST(Overlap, FromStreamToStreamTakesAsLongAsElsewhere) {
  // The device takes 3 from stream 8 to stream 7.
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7), other = g.stream(8);
  const OpId copy = g.kernel(thread, other, "copy_kernel", 20);
  const OpId first = g.kernel(thread, stream, "first", 100);
  g.depend(first, Moment::end(copy), DependencyKind::event, 3, LagKind::hand_over);
  const OpId moved = g.kernel(thread, stream, "moved", 40);
  const OpId waiter = g.kernel(thread, other, "waiter", 10);
  g.depend(waiter, Moment::end(moved), DependencyKind::event, 4, LagKind::hand_over);
  g.finish();
  EXPECT_EQ(g.start(waiter), 172);  // 5 + 20 + 3 + 100 + 40 + 4
  g.edit("overlap name=moved");
  EXPECT_EQ(g.start(moved), 131);  // 28 + 100 + 3: the lower of 3 and 4 is the median of two
  EXPECT_EQ(g.start(waiter), 175);
}

// All-reduces of 1000 bytes (30 each) and one of 4000 (60): beta = 30 / 3000 = 0.01 ns per byte, alpha = 20.
struct Messages : testing::Test {
  SmallGraph g;
  std::vector<OpId> reduces;
  OpId large, wait;
  void SetUp() override {
    const PlaceId thread = g.thread(), stream = g.stream(7);
    for (int i = 0; i < 4; ++i) reduces.push_back(g.kernel(thread, stream, "ncclAllReduce", 30, communication, 1000));
    wait = g.synchronise(thread, reduces.back());
    large = g.kernel(thread, stream, "ncclAllReduce", 60, communication, 4000);
    g.finish();
  }
};

TEST_F(Messages, MergedByCount) {
  EXPECT_EQ(g.end(wait), 125);
  const EditEffect effect = g.edit("message collective=all_reduce merge=2");
  // Two pairs of 20 + 0.01 · 2000 = 40 each. The second of a pair carries it; the second pair's launch is the last, at 30 + 5 of the calls that are left.
  EXPECT_EQ(effect.operations, 4u);
  EXPECT_EQ(g.duration(reduces[0]), 0);
  EXPECT_EQ(g.duration(reduces[1]), 40);
  EXPECT_EQ(g.duration(reduces[3]), 40);
  EXPECT_EQ(g.end(wait), 85);
  EXPECT_EQ(g.graph.operations.bytes[g[reduces[1]]], 2000);
}

TEST_F(Messages, NotMergedBeyondWhoeverWaits) {
  g.edit("message merge=5");  // the thread waits for the fourth before it launches the fifth
  EXPECT_EQ(g.duration(reduces[3]), 60);
  EXPECT_EQ(g.duration(large), 60);
}

TEST_F(Messages, Buckets) {
  g.edit("message bucket=3kB");
  EXPECT_EQ(g.duration(reduces[2]), 50);  // 20 + 30
  EXPECT_EQ(g.duration(reduces[3]), 30);  // alone: the large one does not fit
  EXPECT_NE(g.error("message").find("neither merge= nor bucket="), std::string::npos);
}

TEST_F(Messages, GivenCosts) {
  g.edit("message merge=4 alpha=10ns bandwidth=100GB");  // 100 bytes per ns
  EXPECT_EQ(g.duration(reduces[3]), 50);
}

TEST_F(Messages, Network) {
  g.edit("network bandwidth=2 latency=0.5");
  EXPECT_EQ(g.duration(reduces[0]), 15);  // 20 · 0.5 + 10 / 2
  EXPECT_EQ(g.duration(large), 30);       // 20 · 0.5 + 40 / 2
}

TEST_F(Messages, NetworkWithoutKnownSizes) {
  SmallGraph one;
  const PlaceId thread = one.thread(), stream = one.stream(7);
  const OpId reduce = one.kernel(thread, stream, "ncclAllReduce", 30, communication);
  one.finish();
  const EditEffect effect = one.edit("network bandwidth=2");
  EXPECT_EQ(one.duration(reduce), 15);
  EXPECT_DOUBLE_EQ(effect.pessimistic, 0);
  EXPECT_NE(one.error("network latency=0.5").find("give it: alpha=20us"), std::string::npos);
}

// Three ranks compute (100, 100 and 180) and reduce together (50), twice.
struct Ranks : testing::Test {
  SmallGraph g;
  std::vector<OpId> work, transfers;
  void SetUp() override {
    std::vector<PlaceId> threads, streams;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      threads.push_back(g.thread(rank));
      streams.push_back(g.stream(7, rank));
    }
    const PlaceId link = g.link();
    for (int step = 0; step < 2; ++step) {
      std::vector<OpId> members;
      for (std::size_t rank = 0; rank < 3; ++rank) {
        const OpId gemm = g.kernel(threads[rank], streams[rank], "gemm", rank == 2 ? 180 : 100);
        if (!transfers.empty()) g.depend(gemm, Moment::end(transfers.back()), DependencyKind::collective);
        work.push_back(gemm);
        members.push_back(g.kernel(threads[rank], streams[rank], "ncclAllReduce", 0, communication));
      }
      transfers.push_back(g.transfer(link, "ncclAllReduce", 50, members, 1000));
    }
    g.finish();
  }
};

TEST_F(Ranks, BalancedByTheMedian) {
  EXPECT_EQ(g.end(transfers[0]), 235);  // 5 + 180 + 50
  EXPECT_EQ(g.end(transfers[1]), 465);  // + 180 + 50
  g.edit("balance");
  // First: 185 of rank 2 are 105 as of the others: everything of it by 105 / 185; 180 → 102, its launch lag 5 → 3. Second: 180 → 100.
  EXPECT_EQ(g.duration(work[2]), 102);
  EXPECT_EQ(g.duration(work[5]), 100);
  EXPECT_EQ(g.duration(work[0]), 100);
  EXPECT_EQ(g.end(transfers[0]), 155);
  EXPECT_EQ(g.end(transfers[1]), 305);
}

TEST_F(Ranks, TransfersAreMeantWithTheirMembers) {
  EXPECT_EQ(g.edit("scale collective=all_reduce by=0.5").operations, 8u);  // six members, two transfers
  EXPECT_EQ(g.duration(transfers[0]), 25);
  EXPECT_EQ(g.edit("network bandwidth=5").operations, 2u);
  EXPECT_EQ(g.duration(transfers[1]), 5);
}

// Two ranks reduce twice (30 of 1000 bytes each; one of 4000 takes 60 later on), as lifted: arrival, transfer, completion.
struct LiftedRanks : testing::Test {
  SmallGraph g;
  std::vector<OpId> transfers, completions, last;
  void SetUp() override {
    std::vector<PlaceId> threads, streams;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      threads.push_back(g.thread(rank));
      streams.push_back(g.stream(7, rank));
    }
    const PlaceId link = g.link();
    for (int i = 0; i < 3; ++i) {
      std::vector<OpId> arrivals;
      for (std::size_t rank = 0; rank < 2; ++rank) {
        if (i == 0) g.kernel(threads[rank], streams[rank], "gemm", rank == 0 ? 100 : 200);
        if (i == 2) g.kernel(threads[rank], streams[rank], "gemm", 10);
        arrivals.push_back(g.kernel(threads[rank], streams[rank], "ncclAllReduce", 0, communication));
      }
      transfers.push_back(g.transfer(link, "ncclAllReduce", i == 2 ? 60 : 30, arrivals, i == 2 ? 4000 : 1000));
      for (std::size_t rank = 0; rank < 2; ++rank) {
        completions.push_back(g.add(streams[rank], communication, "ncclAllReduce", 1));
        g.depend(completions.back(), Moment::end(transfers.back()), DependencyKind::collective);
      }
    }
    for (std::size_t rank = 0; rank < 2; ++rank) last.push_back(g.kernel(threads[rank], streams[rank], "after", 5));
    g.finish();
  }
};

TEST_F(LiftedRanks, AsBuilt) {
  EXPECT_EQ(g.end(transfers[0]), 235);  // rank 1 arrives at 205
  EXPECT_EQ(g.end(transfers[1]), 266);  // 236 + 30
  EXPECT_EQ(g.end(transfers[2]), 337);  // 267 + 10 + 60
  EXPECT_EQ(g.end(last[0]), 343);
}

TEST_F(LiftedRanks, MergedOverRanks) {
  const EditEffect effect = g.edit("message merge=2");
  EXPECT_EQ(effect.operations, 2u);
  EXPECT_EQ(g.duration(transfers[0]), 0);
  EXPECT_EQ(g.duration(transfers[1]), 40);  // 30 + 30 − 20
  EXPECT_EQ(g.end(transfers[1]), 245);      // both have arrived at 205
  EXPECT_EQ(g.end(completions[2]), 246);
}

TEST_F(LiftedRanks, NotMergedOverWhatMayNeedTheResult) {
  g.edit("message merge=3");  // a product stands between the second and the third
  EXPECT_EQ(g.duration(transfers[1]), 40);
  EXPECT_EQ(g.duration(transfers[2]), 60);
}

TEST_F(LiftedRanks, RemovedRanksNoLongerWait) {
  g.edit("remove collective=all_reduce");
  EXPECT_EQ(g.end(last[0]), 120);  // 5 + 100 + 10 + 5
  EXPECT_EQ(g.end(last[1]), 220);
}

TEST_F(LiftedRanks, OnlyTransfersAreTheNetworks) {
  EXPECT_EQ(g.edit("network bandwidth=2").operations, 3u);
  EXPECT_EQ(g.duration(transfers[0]), 25);  // 20 + 10 / 2
  EXPECT_EQ(g.duration(completions[0]), 1);
}

TEST_F(LiftedRanks, OverlappedOnEachRank) {
  g.edit("overlap collective=all_reduce until=\"name=after\"");
  EXPECT_EQ(g.end(transfers[0]), 235);
  EXPECT_EQ(g.start(last[0]), 328);  // 205 + 30 + 1 + 30 + 1 + 60 + 1: the products of 10 run beside them
}

TEST(Balance, NeedsSeveralRanks) {
  SmallGraph g;
  g.kernel(g.thread(), g.stream(7), "gemm", 10);
  g.finish();
  EXPECT_NE(g.error("balance").find("give the traces of several ranks"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
