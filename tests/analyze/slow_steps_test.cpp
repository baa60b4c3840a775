// Slow steps: which step the others are compared with.
#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question slow_steps_question;

namespace {

// Steps of 100 µs, of which the last one's window ends with its compute, as windows do.
struct Steps {
  explicit Steps(const std::vector<double>& kernels_us) {
    const TrackId stream = hand.stream(7);
    for (std::size_t i = 0; i < kernels_us.size(); ++i) hand.kernel(stream, "gemm", 100.0 * static_cast<double>(i), kernels_us[i]);
    hand.finish();
    hand.facts.kernel_launches.resize(1);
    for (std::size_t i = 0; i < kernels_us.size(); ++i) {
      const bool last = i + 1 == kernels_us.size();
      const Nanoseconds begin = 100'000 * static_cast<Nanoseconds>(i), end = last ? begin + static_cast<Nanoseconds>(1000 * kernels_us[i]) : begin + 100'000;
      hand.facts.steps[0].steps.push_back({static_cast<std::int64_t>(i), {begin, begin + 100'000}, 100'000, i == 0 || last});
      hand.facts.devices[0].windows.push_back({static_cast<std::int64_t>(i), static_cast<std::uint32_t>(i), {begin, end}});
    }
  }
  HandBuilt hand;
};

TEST(SlowSteps, TheCutLastWindowIsNoMeasureOfTheOthers) {
  for (const std::size_t count : {2u, 3u, 4u}) {
    const Steps steps(std::vector<double>(count, 30.0));
    EXPECT_TRUE(slow_steps_question.answer(steps.hand.device_scene()).empty()) << count << " alike steps";
  }
}

TEST(SlowSteps, ALastStepThatIsLongerIsShown) {
  const Steps steps({30, 150});
  const std::vector<Section> sections = slow_steps_question.answer(steps.hand.device_scene());
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].figures[0].value, Value{std::int64_t{0}});  // compared with step 0
  ASSERT_EQ(sections[0].tables[0].rows.size(), 1u);
  EXPECT_EQ(sections[0].tables[0].rows[0][2], Value{std::int64_t{50'000}});
}

}  // namespace

}  // namespace stepscope
