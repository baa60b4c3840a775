#include "analyze/breakdown.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "analyze/random_device.h"
#include "analyze/time_of_device.h"

namespace stepscope {
namespace {

TEST(Breakdown, HandComputed) {
  SmallTimeline t;
  const TrackId a = t.stream(7), b = t.stream(8), c = t.stream(20);
  t.kernel(a, "gemm", 0, 100);
  t.kernel(b, "ncclDevKernel_AllReduce", 50, 100);                         // 50–150: 50 hidden, 50 exposed
  t.slice(SliceKind::copy, c, "Memcpy HtoD (Pinned -> Device)", 140, 40);  // 140–180: 10 beside communication, 30 exposed
  t.kernel(a, "gemm", 250, 50);
  t.slice(SliceKind::fill, c, "Memset (Device)", 300, 0);  // nothing, at the very end
  t.finish();
  const auto section = ask(t, "all");
  EXPECT_EQ(whole_figure(section, "slices"), 5);
  EXPECT_EQ(whole_figure(section, "span_ns"), 300);
  EXPECT_EQ(whole_figure(section, "busy_ns"), 230);
  EXPECT_EQ(whole_figure(section, "idle_ns"), 70);
  EXPECT_EQ(whole_figure(section, "compute_ns"), 150);
  EXPECT_EQ(whole_figure(section, "communication_ns"), 100);
  EXPECT_EQ(whole_figure(section, "memory_ns"), 40);
  EXPECT_EQ(whole_figure(section, "exposed_communication_ns"), 50);
  EXPECT_EQ(whole_figure(section, "exposed_memory_ns"), 30);
  EXPECT_DOUBLE_EQ(std::get<double>(section->figure("overlap")->value), 0.5);
}

TEST(Breakdown, NoCommunicationHasNoOverlap) {
  SmallTimeline t;
  t.kernel(t.stream(7), "gemm", 0, 100);
  t.finish();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(ask(t, "all")->figure("overlap")->value));
}

// faults/14: two kernels of one stream overlap by 3 µs (programmatic dependent launch).
TEST(Breakdown, OverlapOnOneStreamIsLegal) {
  SmallTimeline t;
  t.kernel(t.stream(7), "a", 0, 50'000);
  t.kernel(t.stream(7), "b", 47'000, 50'000);
  t.finish();
  const auto section = ask(t, "all");
  EXPECT_EQ(whole_figure(section, "busy_ns"), 97'000);
  EXPECT_EQ(whole_figure(section, "span_ns"), 97'000);
  EXPECT_EQ(whole_figure(section, "idle_ns"), 0);
}

TEST(Breakdown, AWindowClipsAndCountsWhatStartsInIt) {
  SmallTimeline t;
  t.kernel(t.stream(7), "gemm", 0, 150);
  t.kernel(t.stream(8), "softmax", 120, 10);
  t.kernel(t.stream(7), "gemm", 180, 50);
  t.kernel(t.stream(7), "gemm", 240, 10);
  t.finish();
  const auto section = ask(t, "all", Interval{100, 200});
  EXPECT_EQ(whole_figure(section, "slices"), 2);
  EXPECT_EQ(whole_figure(section, "span_ns"), 100);
  EXPECT_EQ(whole_figure(section, "compute_ns"), 70);
  EXPECT_EQ(whole_figure(section, "idle_ns"), 30);
}

TEST(Breakdown, SumsToTheSpan) {
  EXPECT_TRUE(rc::check("compute + exposed communication + exposed memory + idle = span, in every window; windows add up where they tile", [] {
    const auto t = random_device();
    if (t->facts.devices.empty()) return;
    const DeviceFacts& device = t->facts.devices[0];
    const Scene scene{.timeline = t->timeline, .facts = t->facts, .rank = RankId{0}, .device = &device, .window = {}};
    const Interval whole = device_window(scene);
    std::vector<Interval> windows{whole};
    Nanoseconds at = whole.begin;
    while (at < whole.end) {
      const Nanoseconds next = std::min(whole.end, at + *rc::gen::inRange<Nanoseconds>(1, 40'000));
      windows.push_back({at, next});
      at = next;
    }
    const auto results = breakdowns(t->timeline, t->facts, device.slices, windows);
    Breakdown sum;
    for (const Breakdown& b : results) {
      RC_ASSERT(b.compute + b.exposed_communication + b.exposed_memory + b.idle == b.span);
      RC_ASSERT(b.busy + b.idle == b.span);
      RC_ASSERT(b.compute <= b.busy && b.communication <= b.busy && b.memory <= b.busy);
    }
    for (std::size_t i = 1; i < results.size(); ++i) {
      sum.compute += results[i].compute;
      sum.communication += results[i].communication;
      sum.exposed_memory += results[i].exposed_memory;
      sum.idle += results[i].idle;
    }
    if (results.size() > 1) {
      RC_ASSERT(sum.compute == results[0].compute);
      RC_ASSERT(sum.communication == results[0].communication);
      RC_ASSERT(sum.exposed_memory == results[0].exposed_memory);
      RC_ASSERT(sum.idle == results[0].idle);
    }
  }));
}

TEST(Breakdown, TransientsAreNamed) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(20);
  t.operation(main, "first", 0, 1);
  for (Nanoseconds i = 0; i < 6; ++i)
    t.launched_kernel(main, stream, "ncclDevKernel_AllReduce", 10 + i * 20'000'000'000, 20 + i * 20'000'000'000, i == 0 ? 15'700'000'000 : 120'000);
  t.finish();
  const auto section = ask(t, "all");
  ASSERT_FALSE(section->caveats.empty());
  EXPECT_NE(section->caveats.front().find("profiler-start transient"), std::string::npos);
  EXPECT_NE(section->caveats.front().find("15.7 s"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
