#include <gtest/gtest.h>

#include <algorithm>

#include "report/memory_curve.h"
#include "timeline/builder.h"

namespace stepscope {
namespace {

Timeline timeline_with(std::vector<MemoryEvent> events) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank({});
  const TrackId thread = builder.track(rank, TrackKind::thread, "1", "1");
  for (MemoryEvent& event : events) {
    event.track = thread;
    builder.add(event);
  }
  builder.add_slice(SliceKind::operation, thread, 0, 1, builder.names().intern("a"));
  return builder.finish();
}

TEST(MemoryCurve, OnePerDeviceByTime) {
  const Timeline timeline = timeline_with({{20, {}, 1, 0, 0, 50, 150, 400}, {10, {}, 1, 0, 0, 100, 100, 200}, {15, {}, 0, -1, 0, 7, 7, 7}});
  const std::vector<MemoryCurve> curves = memory_curves(timeline, 100);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].device_type, 0);
  EXPECT_EQ(curves[1].time, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(curves[1].allocated, (std::vector<std::int64_t>{100, 150}));
  EXPECT_EQ(curves[1].reserved, (std::vector<std::int64_t>{200, 400}));
  EXPECT_FALSE(curves[1].relative);
}

TEST(MemoryCurve, WithoutTotalsIsTheChangeSinceTheBegin) {
  const Timeline timeline = timeline_with({{10, {}, 1, 0, 0, 100, -1, -1}, {20, {}, 1, 0, 0, -300, -1, -1}});
  const std::vector<MemoryCurve> curves = memory_curves(timeline, 100);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_TRUE(curves[0].relative);
  EXPECT_EQ(curves[0].allocated, (std::vector<std::int64_t>{100, -200}));
}

TEST(MemoryCurve, ThinningKeepsThePeak) {
  std::vector<MemoryEvent> events;
  for (int i = 0; i < 10'000; ++i) events.push_back({i, {}, 1, 0, 0, 1, i == 7777 ? 1'000'000 : i % 100, 2'000'000});
  const std::vector<MemoryCurve> curves = memory_curves(timeline_with(events), 200);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_LE(curves[0].time.size(), 202u);
  EXPECT_EQ(curves[0].events, 10'000u);
  EXPECT_EQ(*std::max_element(curves[0].allocated.begin(), curves[0].allocated.end()), 1'000'000);
  EXPECT_EQ(curves[0].time.back(), 9'999);
  EXPECT_TRUE(std::is_sorted(curves[0].time.begin(), curves[0].time.end()));
}

}  // namespace
}  // namespace stepscope
