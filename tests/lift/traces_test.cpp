// Every real trace, lifted and replayed without an edit: each device slice starts when it did, each window is as long as it was, and what nothing explains is
// small where records are complete.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/check.h"
#include "lift/lift.h"
#include "read/reader.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

const std::filesystem::path traces = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces";

struct Case {
  Timeline timeline;
  Facts facts;
  Lifted lifted;
  ReplayTimes times;
};

Case lift_trace(const std::filesystem::path& path) {
  const std::vector<std::string> paths{path.string()};
  auto timeline = read_timeline(paths, {.threads = 1});
  EXPECT_TRUE(timeline.has_value()) << path;
  Case c{.timeline = *std::move(timeline), .facts = {}, .lifted = {}, .times = {}};
  c.facts = derive(c.timeline, {});
  c.lifted = lift(c.timeline, c.facts);
  replay(c.lifted.graph, c.times);
  return c;
}

Nanoseconds span_of(const Case& c, DeviceId device) {
  for (const DeviceFacts& facts : c.facts.devices) {
    if (facts.device != device) continue;
    Nanoseconds end = 0;
    for (const SliceId id : facts.slices) end = std::max(end, c.timeline.slices.end(id));
    return end - c.timeline.slices.start[facts.slices[0]];
  }
  return 0;
}

TEST(Traces, ReplayAsTheyWere) {
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  std::size_t seen = 0, windows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(traces)) {
    if (!entry.is_directory() || entry.path().filename() == "expected") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Case c = lift_trace(entry.path());
    ++seen;
    EXPECT_TRUE(check(c.lifted.graph).empty()) << check(c.lifted.graph).front();
    EXPECT_EQ(c.lifted.dropped_in_cycles, 0u);
    std::size_t off = 0;
    for (const DeviceFacts& device : c.facts.devices)
      for (const SliceId id : device.slices) {
        const OpId op = c.lifted.operation_of[id];
        ASSERT_NE(op, no_id<OpId>);
        const Nanoseconds offset = c.lifted.clock_offsets[index(device.rank)];
        off += c.times.start(op) != c.timeline.slices.start[id] - offset || c.times[c.lifted.end_of(id)] != c.timeline.slices.end(id) - offset;
      }
    EXPECT_EQ(off, 0u);
    for (const GraphWindow& window : c.lifted.windows) EXPECT_EQ(c.times[window.end] - c.times[window.begin], window.measured.length());
    windows += c.lifted.windows.size();
    // Every step that has a window on a device has one here.
    std::size_t expected = 0;
    for (const DeviceFacts& device : c.facts.devices) expected += std::max<std::size_t>(1, device.windows.size());
    std::size_t on_devices = 0;
    for (const GraphWindow& window : c.lifted.windows) on_devices += window.device != no_id<DeviceId>;
    EXPECT_EQ(on_devices, expected);
  }
  EXPECT_GE(seen, 25u);
  EXPECT_GE(windows, 100u);
}

// Where a replay stored every start as a constant it would reproduce anything: what nothing explains is at most 1 % of the time. (Of the idle time, by cause:
// verbs/idle_traces_test.cpp.)
TEST(Traces, WithCompleteRecordsAreExplained) {
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  std::printf("%-24s%8s%12s%18s%10s\n", "trace", "device", "span ms", "unexplained ms", "share");
  for (const char* name : {"hta_trace_diff_control", "param_dlrm_8rank", "tl_h100_owlv2", "tl_b200_eager", "tl_h100_bertsmall"}) {
    SCOPED_TRACE(name);
    const Case c = lift_trace(traces / name);
    ASSERT_FALSE(c.lifted.device_lags.empty());
    for (const DeviceLags& device : c.lifted.device_lags) {
      const LagSum& unexplained = device.lags[LagKind::unexplained];
      const auto span = static_cast<double>(span_of(c, device.device)), delay = static_cast<double>(unexplained.total);
      std::printf("%-24s%8u%12.3f%18.3f%8.2f %%\n", name, unsigned(index(device.device)), span / 1e6, delay / 1e6, span > 0 ? 100 * delay / span : 0);
      EXPECT_LE(delay, 0.01 * span);
      EXPECT_GT(device.lags[LagKind::launch].count, 0u);
    }
  }
}

// A trace that was sampled, and one whose graphs waited for what was not recorded, say so.
TEST(Traces, WithGapsInTheirRecordsAreNot) {
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  for (const char* name : {"hta_neg_queue", "hta_trace_filter_2rank"}) {
    SCOPED_TRACE(name);
    const Case c = lift_trace(traces / name);
    const DeviceLags& device = c.lifted.device_lags.front();
    EXPECT_GT(static_cast<double>(device.lags[LagKind::unexplained].total), 0.5 * static_cast<double>(span_of(c, device.device)));
  }
}

// Eight ranks and eight collectives: all are joined, and a rank that comes 1 ms later lets all others wait for as long.
TEST(Traces, OfEightRanksAreJoinedInTheirCollectives) {
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  const Case c = lift_trace(traces / "param_dlrm_8rank");
  EXPECT_EQ(c.lifted.members.size(), 64u);
  EXPECT_EQ(c.lifted.collectives_contradicted, 0u);
  const MatchedCollective& first = c.facts.collectives.matched.front();
  const auto members = c.facts.collectives.members_of(first);
  // The member that came last, and how long its kernel was.
  const auto last = std::ranges::max_element(members, {}, [&](const CollectiveMember& one) { return c.timeline.slices.start[one.slice]; });
  Graph graph = c.lifted.graph.copy();
  const OpId arrival = c.lifted.operation_of[last->slice];
  for (std::uint32_t row = graph.first_dependency(arrival); row < graph.end_dependency(arrival); ++row) graph.dependencies.lag[row] += 1'000'000;
  const ReplayTimes later = replay(graph);
  for (const CollectiveMember& one : members) EXPECT_EQ(later[c.lifted.end_of(one.slice)] - c.times[c.lifted.end_of(one.slice)], 1'000'000);
}

}  // namespace
}  // namespace stepscope
