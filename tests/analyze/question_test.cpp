#include "analyze/question.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "timeline/builder.h"

namespace stepscope {
namespace {

// Four kernels at 0, 10, 10 and 30 µs. A window counts the slices that start in it: [10, 30) holds two of them.
TEST(Scene, DeviceSlicesAreThoseThatStartInTheWindow) {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank({});
  const DeviceId device = builder.device(rank, "0");
  const TrackId stream = builder.track(rank, TrackKind::stream, "0", "7", device, 7);
  const NameId name = builder.names().intern("gemm");
  for (const Nanoseconds start : {0, 10'000, 10'000, 30'000}) builder.add_slice(SliceKind::kernel, stream, start, 15'000, name);
  const Timeline timeline = builder.finish();
  DeviceFacts facts;
  facts.device = device;
  facts.slices.append(timeline.order.span());
  const Facts none;

  Scene scene{.timeline = timeline, .facts = none, .rank = rank, .device = &facts, .window = {10'000, 30'000}, .whole_capture = false};
  ASSERT_EQ(scene.device_slices().size(), 2u);
  EXPECT_EQ(scene.device_slices()[0], SliceId{1});
  scene.window = {30'001, 90'000};
  EXPECT_TRUE(scene.device_slices().empty());
  scene.window = {90'000, 10'000};  // an empty window of a step that launched nothing
  EXPECT_TRUE(scene.device_slices().empty());
  scene.whole_capture = true;
  EXPECT_EQ(scene.device_slices().size(), 4u);
  scene.device = nullptr;
  EXPECT_TRUE(scene.device_slices().empty());
}

// The seam: names are keys of the report, so they are distinct and in order.
TEST(Questions, HaveDistinctNamesInOrder) {
  const std::span<const Question* const> questions = all_questions();
  for (const Question* question : questions) {
    EXPECT_FALSE(question->name.empty());
    EXPECT_FALSE(question->help.empty());
    EXPECT_NE(question->answer, nullptr);
  }
  EXPECT_TRUE(std::ranges::is_sorted(questions, std::ranges::less_equal{}, &Question::name));
}

}  // namespace
}  // namespace stepscope
