#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "facts/small_timeline.h"

namespace stepscope {
namespace {

// faults/16: the child ends 0.5 µs after its parent.
TEST(CallTree, AChildMayOverhangABit) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  const SliceId outer = t.operation(thread, "aten::outer", 0, 100'000, 1), inner = t.operation(thread, "aten::inner", 10'000, 90'500, 2);
  const SliceId call = t.call(thread, "cudaLaunchKernel", 20'000, 2'000, 1);
  const SliceId kernel = t.kernel(t.stream(7), "k", 50'000, 10'000, 1, 2);
  t.finish();
  EXPECT_EQ(t.facts.parent[inner], outer);
  EXPECT_EQ(t.facts.parent[call], inner);
  EXPECT_EQ(t.facts.parent[outer], no_id<SliceId>);
  EXPECT_EQ(t.facts.operation[call], inner);
  EXPECT_EQ(t.facts.operation[kernel], inner);
}

TEST(CallTree, AFollowerIsNoChild) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  const SliceId first = t.operation(thread, "a", 0, 100);
  const SliceId touching = t.operation(thread, "b", 100, 50);
  const SliceId overlapping = t.operation(thread, "c", 140, 5'000);
  const SliceId inside_both = t.operation(thread, "d", 145, 2);
  t.finish();
  EXPECT_EQ(t.facts.parent[first], no_id<SliceId>);
  EXPECT_EQ(t.facts.parent[touching], no_id<SliceId>);
  EXPECT_EQ(t.facts.parent[overlapping], no_id<SliceId>);
  EXPECT_EQ(t.facts.parent[inside_both], overlapping);
}

TEST(CallTree, EqualStartsNestByLength) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  const SliceId small = t.operation(thread, "small", 0, 10), large = t.operation(thread, "large", 0, 20), twin = t.operation(thread, "twin", 0, 10);
  t.finish();
  EXPECT_EQ(t.facts.parent[large], no_id<SliceId>);
  EXPECT_EQ(t.facts.parent[small], large);
  EXPECT_EQ(t.facts.parent[twin], small);
}

TEST(CallTree, ThreadsAreApart) {
  SmallTimeline t;
  const SliceId a = t.operation(t.thread("1"), "a", 0, 100), b = t.operation(t.thread("2"), "b", 10, 10);
  t.finish();
  EXPECT_EQ(t.facts.parent[a], no_id<SliceId>);
  EXPECT_EQ(t.facts.parent[b], no_id<SliceId>);
}

TEST(CallTree, ParentsEncloseTheirChildren) {
  EXPECT_TRUE(rc::check("of any slices: a parent starts no later, ends no more than 1 µs earlier, and is the innermost such that is nested itself", [] {
    const auto raw = *rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(rc::gen::inRange(0, 20'000), rc::gen::inRange(0, 20'000)));
    SmallTimeline t;
    const TrackId thread = t.thread("1");
    t.operation(thread, "first", 0, 0);
    for (const auto& [start, duration] : raw) t.operation(thread, "x", start, duration);
    t.finish();
    const SliceColumns& s = t.timeline.slices;
    for (std::size_t row = 0; row < s.size(); ++row) {
      const SliceId id{static_cast<std::uint32_t>(row)}, parent = t.facts.parent[id];
      if (parent == no_id<SliceId>) continue;
      RC_ASSERT(s.start[parent] <= s.start[id]);
      RC_ASSERT(s.start[id] < s.end(parent));
      RC_ASSERT(s.end(id) <= s.end(parent) + 1'000);
    }
  }));
}

// Slices that each overlap the one before without being in it: quadratic work would take minutes.
TEST(CallTree, StaircasesAreLinear) {
  SmallTimeline t;
  const TrackId thread = t.thread("1");
  for (Nanoseconds i = 0; i < 200'000; ++i) t.operation(thread, "x", i * 10'000, 1'000'000'000 + i * 20'000);
  t.finish();
  EXPECT_EQ(t.facts.parent[SliceId{199'999}], no_id<SliceId>);
}

TEST(Operations, ByExternalIdWhereTheLaunchIsMissing) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  const SliceId mm = t.operation(thread, "aten::mm", 0, 100, 41);
  t.operation(thread, "aten::add", 100, 10, 42);
  t.operation(thread, "aten::add", 120, 10, 42);  // two operators with one id
  const SliceId known = t.kernel(stream, "k", 10, 5, 900, 41), twice = t.kernel(stream, "k", 20, 5, 901, 42);
  const SliceId same_as_correlation = t.kernel(stream, "k", 30, 5, 41, 41);
  t.finish();
  EXPECT_EQ(t.facts.operation[known], mm);
  EXPECT_EQ(t.facts.operation[twice], no_id<SliceId>);
  EXPECT_EQ(t.facts.operation[same_as_correlation], no_id<SliceId>);
}

}  // namespace
}  // namespace stepscope
