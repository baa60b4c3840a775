#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "facts/small_timeline.h"

namespace stepscope {
namespace {

TEST(Launches, ByCorrelationWithinTheProcess) {
  SmallTimeline t;
  const SliceId here = t.call(t.thread("1"), "cudaLaunchKernel", 0, 5, 1);
  const SliceId kernel_here = t.kernel(t.stream(7, "0"), "k", 10, 5, 1);
  t.in_process("2000");
  const SliceId there = t.call(t.thread("1"), "cudaLaunchKernel", 2, 5, 1);
  const SliceId kernel_there = t.kernel(t.stream(7, "1"), "k", 12, 5, 1);
  const SliceId unlinked = t.kernel(t.stream(7, "1"), "k", 30, 5, 99);
  const SliceId without = t.kernel(t.stream(7, "1"), "k", 40, 5);
  t.finish();
  EXPECT_EQ(t.facts.launch[kernel_here], here);
  EXPECT_EQ(t.facts.launch[kernel_there], there);
  EXPECT_EQ(t.facts.launch[unlinked], no_id<SliceId>);
  EXPECT_EQ(t.facts.launch[without], no_id<SliceId>);
  EXPECT_EQ(t.facts.ambiguous_links, 0u);
}

TEST(Launches, TheOutermostOfNestedCalls) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  t.slice(SliceKind::driver_call, thread, "cuLaunchKernel", 2, 3, 7);  // written before the call around it
  const SliceId outer = t.call(thread, "cudaLaunchKernel", 0, 10, 7);
  const SliceId kernel = t.kernel(t.stream(7), "k", 20, 5, 7);
  t.finish();
  EXPECT_EQ(t.facts.launch[kernel], outer);
  EXPECT_EQ(t.facts.ambiguous_links, 0u);
  EXPECT_EQ(t.facts.launches_seen, 1u);
  EXPECT_EQ(t.facts.launches_without_record, 0u);
}

// faults/08: three launches claim one id, three kernels carry it.
TEST(Launches, SeveralCallsClaimOneId) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  std::vector<SliceId> calls, kernels;
  for (const Nanoseconds at : {20, 70, 110}) calls.push_back(t.call(thread, "cudaLaunchKernel", at, 8, 5));
  for (const Nanoseconds at : {60, 170, 200}) kernels.push_back(t.kernel(stream, "k", at, 10, 5));
  t.operation(thread, "aten::mm", 0, 10);
  t.finish();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(t.facts.launch[kernels[i]], calls[i]);
  EXPECT_EQ(t.facts.ambiguous_links, 3u);
}

TEST(Launches, FewerCallsThanSlicesWithOneId) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  const SliceId first = t.call(thread, "cudaLaunchKernel", 0, 8, 5), second = t.call(thread, "cudaLaunchKernel", 100, 8, 5);
  const SliceId a = t.kernel(stream, "k", 10, 10, 5), b = t.kernel(stream, "k", 30, 10, 5), c = t.kernel(stream, "k", 120, 10, 5);
  t.finish();
  EXPECT_EQ(t.facts.launch[a], first);
  EXPECT_EQ(t.facts.launch[b], first);
  EXPECT_EQ(t.facts.launch[c], second);
  EXPECT_EQ(t.facts.ambiguous_links, 3u);
}

TEST(Launches, OneGraphLaunchOwnsManyKernels) {
  SmallTimeline t;
  const SliceId graph = t.call(t.thread("1"), "cudaGraphLaunch", 0, 5, 77);
  std::vector<SliceId> kernels;
  for (const Nanoseconds at : {20, 50, 80, 110, 140}) kernels.push_back(t.kernel(t.stream(at % 20 == 0 ? 7 : 8), "k", at, 25, 77));
  t.finish();
  for (const SliceId kernel : kernels) EXPECT_EQ(t.facts.launch[kernel], graph);
  EXPECT_EQ(t.facts.graph_launch[graph], 1);
  EXPECT_EQ(t.facts.ambiguous_links, 0u);
}

TEST(Launches, IdsMayBeAnySixtyFourBits) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  std::vector<std::pair<SliceId, SliceId>> pairs;
  Nanoseconds at = 0;
  for (const std::uint64_t id :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 1, std::uint64_t{123456789123456789u}}) {
    const SliceId call = t.call(thread, "cudaLaunchKernel", at, 1, id);
    pairs.emplace_back(t.kernel(stream, "k", at + 5, 1, id), call);
    at += 10;
  }
  t.finish();
  for (const auto& [kernel, call] : pairs) EXPECT_EQ(t.facts.launch[kernel], call);
}

TEST(Launches, AgreeWithAMapForRandomIds) {
  EXPECT_TRUE(rc::check("one call per id: each slice has the call of its id", [] {
    const bool far_apart = *rc::gen::arbitrary<bool>();
    const auto ids = *rc::gen::unique<std::vector<std::uint64_t>>(far_apart ? rc::gen::arbitrary<std::uint64_t>() : rc::gen::inRange<std::uint64_t>(0, 20'000));
    const auto carried = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 200));
    SmallTimeline t;
    const TrackId thread = t.thread("1"), stream = t.stream(7);
    std::map<std::uint64_t, SliceId> calls;
    Nanoseconds at = 0;
    for (const std::uint64_t id : ids)
      if (id != no_number) calls[id] = t.call(thread, "cudaLaunchKernel", 2 * at++, 1, id);
    std::vector<std::pair<SliceId, std::uint64_t>> kernels;
    for (const std::size_t place : carried) {
      const std::uint64_t id = place < ids.size() ? ids[place] : 50'000 + place;
      if (id != no_number) kernels.emplace_back(t.kernel(stream, "k", 1'000 + at++, 1, id), id);
    }
    if (at == 0) return;
    t.finish();
    for (const auto& [kernel, id] : kernels) RC_ASSERT(t.facts.launch[kernel] == (calls.contains(id) ? calls[id] : no_id<SliceId>));
  }));
}

// faults/29: the first 6 of 20 launches have no kernel record.
TEST(UnrecordedLaunches, TheirStretch) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  for (Nanoseconds i = 0; i < 20; ++i) {
    t.operation(thread, "aten::mm", i * 10'000, 5'000);
    t.call(thread, "cudaLaunchKernel", i * 10'000 + 1'000, 2'000, static_cast<std::uint64_t>(i + 1));
    if (i >= 6) t.kernel(stream, "gemm", 80'000 + (i - 6) * 10'000, 8'000, static_cast<std::uint64_t>(i + 1));
  }
  t.finish();
  EXPECT_EQ(t.facts.launches_seen, 20u);
  EXPECT_EQ(t.facts.launches_without_record, 6u);
  EXPECT_EQ(t.facts.unrecorded_launches.size(), 6u);
  ASSERT_EQ(t.facts.kernel_launches.size(), 1u);
  EXPECT_TRUE(t.facts.kernel_launches[0].records_were_lost());
  ASSERT_EQ(t.facts.unrecorded_stretches.size(), 1u);
  EXPECT_EQ(t.facts.unrecorded_stretches[0].launches, 6u);
  EXPECT_EQ(t.facts.unrecorded_stretches[0].launched, (Interval{1'000, 61'000}));
  EXPECT_EQ(t.facts.unrecorded_stretches[0].interval, (Interval{1'000, 80'000}));
}

TEST(UnrecordedLaunches, CopiesOfNothingAreNoLoss) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  t.call(thread, "cudaMemsetAsync", 0, 1, 1);
  t.call(thread, "cudaLaunchKernel", 10, 1, 2);
  t.kernel(t.stream(7), "k", 20, 5, 2);
  t.finish();
  EXPECT_EQ(t.facts.launches_without_record, 1u);
  EXPECT_EQ(t.facts.kernel_launches[0].without_record, 0u);
  EXPECT_FALSE(t.facts.kernel_launches[0].records_were_lost());
  EXPECT_TRUE(t.facts.unrecorded_stretches.empty());
}

TEST(UnrecordedLaunches, AStretchAtTheEndLastsToTheEnd) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  t.call(thread, "cudaLaunchKernel", 0, 1, 1);
  t.kernel(t.stream(7), "k", 20, 5, 1);
  t.call(thread, "cudaLaunchKernel", 30, 1, 2);
  t.call(thread, "cudaDeviceSynchronize", 40, 60);
  t.finish();
  ASSERT_EQ(t.facts.unrecorded_stretches.size(), 1u);
  EXPECT_EQ(t.facts.unrecorded_stretches[0].interval, (Interval{30, 100}));
}

}  // namespace
}  // namespace stepscope
