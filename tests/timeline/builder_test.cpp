// The order that finish() gives each track's slices, against sorting all of them, and what it makes of times and devices.
#include "timeline/builder.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "timeline/check.h"

namespace stepscope {
namespace {

TEST(Builder, TimesAreRelativeToTheEarliestSlice) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(Rank{});
  const TrackId track = builder.track(rank, TrackKind::thread, "1", "2");
  builder.add_slice(SliceKind::operation, track, 1'700'000'000'000'000'050, 10, builder.names().intern("b"));
  builder.add_slice(SliceKind::operation, track, 1'700'000'000'000'000'020, 5, builder.names().intern("a"));
  builder.add(Instant{1'700'000'000'000'000'010, track, NameId{}, NameId{}});
  const Timeline timeline = builder.finish();
  EXPECT_EQ(timeline.origin_ns, 1'700'000'000'000'000'020);
  EXPECT_EQ(timeline.slices.start[0], 30);
  EXPECT_EQ(timeline.slices.start[1], 0);
  EXPECT_EQ(timeline.instants[0].time, -10);
  ASSERT_EQ(timeline.on_track(track).size(), 2u);
  EXPECT_EQ(timeline.on_track(track)[0], SliceId{1});
  EXPECT_EQ(check(timeline), std::vector<std::string>{});
}

TEST(Builder, DevicesKnowWhetherTheyWereActive) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(Rank{});
  const DeviceId active = builder.device(rank, "0"), annotated = builder.device(rank, "1"), unused = builder.device(rank, "gpu 2");
  const TrackId kernels = builder.track(rank, TrackKind::stream, "0", "7", active, 7), notes = builder.track(rank, TrackKind::stream, "1", "7", annotated, 7);
  builder.add_slice(SliceKind::device_annotation, notes, 1, 9, NameId{});
  builder.add_slice(SliceKind::device_annotation, kernels, 1, 9, NameId{});
  builder.add_slice(SliceKind::kernel, kernels, 2, 1, NameId{});
  const Timeline timeline = builder.finish();
  EXPECT_TRUE(timeline.devices[index(active)].has_slices);
  EXPECT_FALSE(timeline.devices[index(annotated)].has_slices);
  EXPECT_FALSE(timeline.devices[index(unused)].has_slices);
  EXPECT_EQ(timeline.devices[index(active)].number, 0);
  EXPECT_FALSE(timeline.devices[index(unused)].number.has_value());
}

// So many slices that finish() divides them.
TEST(Builder, ThreadsChangeNothing) {
  const auto built = [](int threads) {
    TimelineBuilder builder;
    const RankId rank = builder.add_rank(Rank{});
    std::vector<TrackId> tracks;
    for (const char* thread : {"1", "2", "3"}) tracks.push_back(builder.track(rank, TrackKind::thread, "1", thread));
    std::uint32_t random = 7;
    for (std::uint32_t i = 0; i < 300'000; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      // One track in order of time, one in two runs, one in none.
      const std::uint32_t track = random >> 29 & 1 ? 0 : 1 + (random >> 28 & 1);
      const Nanoseconds start = 1000 + (track == 2 ? random >> 12 : track == 1 && i > 200'000 ? i - 200'000 : i);
      builder.add_slice(SliceKind::operation, tracks[track], start, random >> 26 & 7, NameId{});
    }
    builder.add(Instant{1'500, tracks[0], NameId{}, NameId{}});
    return builder.finish(threads);
  };
  const Timeline expected = built(1);
  EXPECT_EQ(check(expected), std::vector<std::string>{});
  for (const int threads : {2, 3, 8}) {
    const Timeline got = built(threads);
    EXPECT_EQ(got.origin_ns, expected.origin_ns);
    EXPECT_EQ(got.instants[0].time, expected.instants[0].time);
    EXPECT_TRUE(std::ranges::equal(got.slices.start, expected.slices.start));
    EXPECT_TRUE(std::ranges::equal(got.first, expected.first));
    EXPECT_TRUE(std::ranges::equal(got.order, expected.order));
  }
}

// Law: by start, the longest first, then in the order of adding; whether the rows came sorted, as several sorted runs, or in no order at all.
TEST(Builder, TracksAreInOrderOfTime) {
  rc::check([] {
    const int tracks = *rc::gen::inRange(1, 4), runs = *rc::gen::inRange(1, 6), latest = *rc::gen::element(3, 1000);
    const bool in_no_order = *rc::gen::arbitrary<bool>();
    std::vector<std::tuple<std::uint32_t, Nanoseconds, Nanoseconds>> rows;
    for (int run = 0; run < runs; ++run) {
      auto starts = *rc::gen::container<std::vector<Nanoseconds>>(rc::gen::inRange<Nanoseconds>(0, latest));
      if (!in_no_order) std::ranges::sort(starts);
      for (const Nanoseconds start : starts)
        rows.emplace_back(static_cast<std::uint32_t>(*rc::gen::inRange(0, tracks)), start, *rc::gen::inRange<Nanoseconds>(0, 3));
    }
    TimelineBuilder builder;
    const RankId rank = builder.add_rank(Rank{});
    for (int track = 0; track < tracks; ++track) builder.track(rank, TrackKind::thread, "1", std::to_string(track));
    for (const auto& [track, start, duration] : rows) builder.add_slice(SliceKind::operation, TrackId{track}, start, duration, NameId{});
    const Timeline timeline = builder.finish();
    RC_ASSERT(check(timeline).empty());
    for (std::uint32_t track = 0; track < static_cast<std::uint32_t>(tracks); ++track) {
      std::vector<std::uint32_t> expected;
      for (std::uint32_t row = 0; row < rows.size(); ++row)
        if (std::get<0>(rows[row]) == track) expected.push_back(row);
      std::ranges::stable_sort(expected, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(std::get<1>(rows[a]), -std::get<2>(rows[a])) < std::tuple(std::get<1>(rows[b]), -std::get<2>(rows[b]));
      });
      const auto got = timeline.on_track(TrackId{track});
      RC_ASSERT(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) RC_ASSERT(index(got[i]) == expected[i]);
    }
  });
}

// Many runs, each behind the last one in part: the steps of a long trace, operators then calls in each.
TEST(Builder, ManyRunsAreMerged) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(Rank{});
  const TrackId track = builder.track(rank, TrackKind::thread, "1", "1");
  constexpr int steps = 50, events = 100;
  for (int step = 0; step < steps; ++step)
    for (const int offset : {0, 1, 0})
      for (int i = 0; i < events; ++i) builder.add_slice(SliceKind::operation, track, 1000 * step + 10 * i + offset, 1 + offset, NameId{});
  const Timeline timeline = builder.finish();
  EXPECT_EQ(check(timeline), std::vector<std::string>{});
  EXPECT_EQ(timeline.on_track(track).size(), static_cast<std::size_t>(steps * events * 3));
}

}  // namespace
}  // namespace stepscope
