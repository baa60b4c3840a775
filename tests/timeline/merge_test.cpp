#include <gtest/gtest.h>

#include "timeline/builder.h"
#include "timeline/check.h"

namespace stepscope {
namespace {

// One rank with a stream and a thread, a row of every kind, all times from begin on.
void fill(TimelineBuilder& builder, std::int64_t number, Nanoseconds begin, std::string_view kernel) {
  Rank rank;
  rank.number = number;
  const RankId id = builder.add_rank(rank);
  const DeviceId device = builder.device(id, "0");
  const TrackId stream = builder.track(id, TrackKind::stream, "0", "7", device, 7);
  builder.track(stream).owner_process = builder.names().intern("python");
  const TrackId thread = builder.track(id, TrackKind::thread, "python", "main");
  const SliceId operation =
      builder.add_slice(SliceKind::operation, thread, begin, 50, builder.names().intern("aten::mm"), no_number, 1, builder.details().intern("\"a\": 1"));
  const SliceId call = builder.add_slice(SliceKind::runtime_call, thread, begin + 10, 5, builder.names().intern("cudaLaunchKernel"), 9, 1);
  const SliceId slice =
      builder.add_slice(SliceKind::kernel, stream, begin + 20, 100, builder.names().intern(kernel), 9, 1, builder.details().intern("\"grid\": [1,1,1]"));
  builder.add(SequenceFact{operation, 4, 0});
  builder.add(PythonFact{operation, 1, 2, 3});
  builder.add(TransferFact{slice, 4096});
  builder.add(SyncFact{call, 7, 9});
  builder.add(FlowEnd{1, begin + 1, thread, FlowKind::forward_backward, true});
  builder.add(MemoryEvent{begin + 2, thread, 1, 0, 0x1000, 512, 512, 1024});
  builder.add(CounterSample{begin + 3, stream, builder.names().intern("power"), 2.5});
  builder.add(Instant{begin + 4, stream, builder.names().intern("mark"), builder.details().intern("\"m\": 1")});
  builder.health().repairs.add("truncated", 1, "byte 7", "cut");
}

void expect_equal(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.slices.size(), b.slices.size());
  for (std::uint32_t i = 0; i < a.slices.size(); ++i) {
    const SliceId id{i};
    EXPECT_EQ(a.slices.start[id], b.slices.start[id]);
    EXPECT_EQ(a.slices.duration[id], b.slices.duration[id]);
    EXPECT_EQ(a.slices.kind[id], b.slices.kind[id]);
    EXPECT_EQ(a.slices.track[id], b.slices.track[id]);
    EXPECT_EQ(a.slices.name[id], b.slices.name[id]);
    EXPECT_EQ(a.name_of(id), b.name_of(id));
    EXPECT_EQ(a.detail_of(id), b.detail_of(id));
    EXPECT_EQ(a.slices.correlation[id], b.slices.correlation[id]);
    EXPECT_EQ(a.slices.external[id], b.slices.external[id]);
    EXPECT_EQ(a.order[i], b.order[i]);
  }
  ASSERT_EQ(a.tracks.size(), b.tracks.size());
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    EXPECT_EQ(a.tracks[i].rank, b.tracks[i].rank);
    EXPECT_EQ(a.tracks[i].device, b.tracks[i].device);
    EXPECT_EQ(a.names[a.tracks[i].process], b.names[b.tracks[i].process]);
    EXPECT_EQ(a.names[a.tracks[i].thread], b.names[b.tracks[i].thread]);
    EXPECT_EQ(a.names[a.tracks[i].owner_process], b.names[b.tracks[i].owner_process]);
  }
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) EXPECT_EQ(a.devices[i].rank, b.devices[i].rank);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t i = 0; i < a.ranks.size(); ++i) EXPECT_EQ(a.ranks[i].number, b.ranks[i].number);
  EXPECT_EQ(a.origin_ns, b.origin_ns);
  ASSERT_EQ(a.sequences.size(), b.sequences.size());
  ASSERT_EQ(a.python.size(), b.python.size());
  ASSERT_EQ(a.transfers.size(), b.transfers.size());
  ASSERT_EQ(a.syncs.size(), b.syncs.size());
  ASSERT_EQ(a.flows.size(), b.flows.size());
  ASSERT_EQ(a.memory.size(), b.memory.size());
  ASSERT_EQ(a.counters.size(), b.counters.size());
  ASSERT_EQ(a.instants.size(), b.instants.size());
  for (std::size_t i = 0; i < a.sequences.size(); ++i) EXPECT_EQ(a.sequences[i].slice, b.sequences[i].slice);
  for (std::size_t i = 0; i < a.python.size(); ++i) EXPECT_EQ(a.python[i].slice, b.python[i].slice);
  for (std::size_t i = 0; i < a.transfers.size(); ++i) EXPECT_EQ(a.transfers[i].slice, b.transfers[i].slice);
  for (std::size_t i = 0; i < a.syncs.size(); ++i) EXPECT_EQ(a.syncs[i].slice, b.syncs[i].slice);
  for (std::size_t i = 0; i < a.flows.size(); ++i) EXPECT_TRUE(a.flows[i].track == b.flows[i].track && a.flows[i].time == b.flows[i].time);
  for (std::size_t i = 0; i < a.memory.size(); ++i) EXPECT_TRUE(a.memory[i].track == b.memory[i].track && a.memory[i].time == b.memory[i].time);
  for (std::size_t i = 0; i < a.counters.size(); ++i) EXPECT_TRUE(a.counters[i].track == b.counters[i].track && a.counters[i].name == b.counters[i].name);
  for (std::size_t i = 0; i < a.instants.size(); ++i) EXPECT_TRUE(a.instants[i].name == b.instants[i].name && a.instants[i].detail == b.instants[i].detail);
}

TEST(Merge, AppendedBuildersEqualOneThatWasFilledInTurn) {
  TimelineBuilder whole, first, second, third;
  fill(whole, 0, 1000, "gemm");
  fill(whole, 1, 900, "relu");
  fill(whole, 2, 2000, "gemm");
  fill(first, 0, 1000, "gemm");
  fill(second, 1, 900, "relu");
  fill(third, 2, 2000, "gemm");
  first.append(std::move(second), "b: ");
  first.append(std::move(third), "c: ");
  const Timeline merged = first.finish(), expected = whole.finish();
  EXPECT_TRUE(check(merged).empty());
  EXPECT_EQ(merged.slices.size(), 9u);
  EXPECT_EQ(merged.origin_ns, 900);
  expect_equal(merged, expected);
}

TEST(Merge, IntoAnEmptyBuilderAndOfAnEmptyOne) {
  TimelineBuilder alone, into, from, nothing;
  fill(alone, 5, 70, "gemm");
  fill(from, 5, 70, "gemm");
  into.append(std::move(from), "");
  into.append(std::move(nothing), "");
  expect_equal(into.finish(), alone.finish());
  EXPECT_EQ(from.slice_count(), 0u);
  EXPECT_TRUE(from.finish().ranks.empty());
}

TEST(Merge, HealthNamesTheFileOfItsFirstPlaceAndCountsAll) {
  TimelineBuilder into, a, b;
  fill(a, 0, 0, "x");
  fill(b, 1, 0, "x");
  into.append(std::move(a), "a.json: ");
  into.append(std::move(b), "b.json: ");
  ASSERT_EQ(into.health().repairs.items().size(), 1u);
  EXPECT_EQ(into.health().repairs.items()[0].count, 2u);
  EXPECT_EQ(into.health().repairs.items()[0].where, "a.json: byte 7");
}

TEST(Merge, TimeRangeCoversEveryKindOfRowAndShiftMovesThemAll) {
  TimelineBuilder builder;
  EXPECT_FALSE(builder.time_range().has_value());
  fill(builder, 0, 1000, "gemm");
  EXPECT_EQ(builder.time_range(), (Interval{1000, 1020}));
  const TrackId track{0};
  builder.add(Instant{5000, track, NameId{0}, NameId{0}});
  builder.add(CounterSample{-3, track, NameId{0}, 1});
  EXPECT_EQ(builder.time_range(), (Interval{-3, 5000}));
  builder.move_in_time(10);
  EXPECT_EQ(builder.time_range(), (Interval{7, 5010}));
  const Timeline timeline = builder.finish();
  EXPECT_EQ(timeline.origin_ns, 1010);
  EXPECT_EQ(timeline.flows[0].time, 1);
  EXPECT_EQ(timeline.memory[0].time, 2);
}

TEST(Builder, TracksAndDevicesAreFoundAgainAlsoAfterAnAppendAndAFinish) {
  TimelineBuilder into, from;
  fill(into, 0, 0, "x");
  fill(from, 1, 0, "x");
  into.append(std::move(from), "");
  EXPECT_EQ(into.device(RankId{0}, "0"), DeviceId{0});
  EXPECT_EQ(into.device(RankId{1}, "0"), DeviceId{1});
  EXPECT_EQ(into.track(RankId{1}, TrackKind::thread, "python", "main"), TrackId{3});
  EXPECT_EQ(into.track(RankId{1}, TrackKind::stream, "0", "7", DeviceId{1}, 7), TrackId{2});
  EXPECT_EQ(into.track(RankId{1}, TrackKind::stream, "0", "8", DeviceId{1}, 8), TrackId{4});
  EXPECT_EQ(into.finish().tracks.size(), 5u);
  fill(into, 0, 0, "y");
  EXPECT_EQ(into.track(RankId{0}, TrackKind::thread, "python", "main"), TrackId{1});
  EXPECT_EQ(into.device(RankId{0}, "0"), DeviceId{0});
}

// Both are linear in the number of rows: a file may name as many threads as it likes.
TEST(Builder, ManyTracksAndDevices) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank({});
  constexpr int count = 50'000;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const DeviceId device = builder.device(rank, number);
      ASSERT_EQ(index(device), static_cast<std::size_t>(i));
      ASSERT_EQ(index(builder.track(rank, TrackKind::stream, number, "7", device, 7)), static_cast<std::size_t>(i));
    }
}

}  // namespace
}  // namespace stepscope
