#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question memory_question;

namespace {

constexpr std::int64_t mib = 1 << 20;

MemoryEvent event(double us, TrackId track, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved, std::int32_t type = 1, std::int32_t device = 0) {
  return {static_cast<Nanoseconds>(us * 1000), track, type, device, 0x1000, bytes, allocated, reserved};
}

// 10 MiB are allocated before the capture. aten::mm allocates 4 and 6 MiB (peak 20 MiB at 40 µs), 15 MiB are released; then a Python frame allocates 1 MiB.
struct Memory : testing::Test {
  HandBuilt run;
  Memory() {
    const TrackId thread = run.thread("1");
    run.slice(SliceKind::python_function, thread, "train.py(1): step", 0, 200);
    run.operation(thread, "aten::linear", 10, 60);
    run.operation(thread, "aten::t", 15, 3);
    run.operation(thread, "aten::mm", 20, 40);
    auto& builder = run.builder();
    builder.add(event(30, thread, 4 * mib, 14 * mib, 32 * mib));
    builder.add(event(100, thread, -15 * mib, 5 * mib, 24 * mib));  // rows need not be in order of time
    builder.add(event(40, thread, 6 * mib, 20 * mib, 32 * mib));
    builder.add(event(150, thread, 1 * mib, 6 * mib, 24 * mib));
    builder.add(event(65, thread, 512, 512, -1, 0, -1));
    run.finish();
    run.facts.steps[0].steps = {{.number = 3, .annotation = {0, 90'000}, .step_time = 90'000},
                                {.number = 4, .annotation = {90'000, 200'000}, .step_time = 110'000}};
  }
};

TEST_F(Memory, PeakAndTotals) {
  const Section section = memory_question.answer(run.rank_scene()).at(0);
  EXPECT_EQ(text_of(section.figure("device")->value), "CUDA 0");
  EXPECT_EQ(whole_of(section.figure("peak_allocated_bytes")->value), 20 * mib);
  EXPECT_EQ(whole_of(section.figure("peak_allocated_at_ns")->value), 40'000);
  EXPECT_EQ(whole_of(section.figure("peak_reserved_bytes")->value), 32 * mib);
  EXPECT_EQ(whole_of(section.figure("unused_at_peak_bytes")->value), 12 * mib);
  const Table& devices = *section.table("devices");
  ASSERT_EQ(devices.rows.size(), 2u);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "start_allocated_bytes")), 10 * mib);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "end_allocated_bytes")), 6 * mib);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "allocations")), 3);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "allocated_bytes")), 11 * mib);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "released_bytes")), 15 * mib);
  EXPECT_EQ(cell(devices, "CPU", "peak_reserved_bytes"), Value{});
}

TEST_F(Memory, StepsOperatorsAndSeries) {
  const Section section = memory_question.answer(run.rank_scene()).at(0);
  const Table& steps = *section.table("steps");
  ASSERT_EQ(steps.rows.size(), 2u);
  EXPECT_EQ(whole_of(steps.rows[0][column_of(steps, "end_allocated_bytes")]), 20 * mib);
  EXPECT_EQ(whole_of(steps.rows[1][column_of(steps, "peak_allocated_bytes")]), 20 * mib) << "the level at the step's start";
  EXPECT_EQ(whole_of(steps.rows[1][column_of(steps, "end_allocated_bytes")]), 6 * mib);
  EXPECT_EQ(whole_of(steps.rows[1][column_of(steps, "end_reserved_bytes")]), 24 * mib);
  const Table& operators = *section.table("operators");
  EXPECT_EQ(whole_of(cell(operators, "aten::mm", "allocated_bytes")), 10 * mib);
  EXPECT_EQ(whole_of(cell(operators, "aten::mm", "largest_bytes")), 6 * mib);
  EXPECT_EQ(whole_of(cell(operators, "(no operator)", "allocated_bytes")), 1 * mib);
  EXPECT_EQ(whole_of(cell(operators, "aten::linear", "allocated_bytes")), 512) << "after aten::mm returned";
  const Table& series = *section.table("series");
  ASSERT_EQ(series.rows.size(), 5u);
  EXPECT_EQ(whole_of(series.rows[1][1]), 40'000);
  EXPECT_EQ(whole_of(series.rows[1][2]), 20 * mib);
}

TEST_F(Memory, AWindowStartsAtItsOwnLevel) {
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {90'000, 200'000};
  const Section section = memory_question.answer(scene).at(0);
  const Table& devices = *section.table("devices");
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "start_allocated_bytes")), 20 * mib);
  EXPECT_EQ(whole_of(cell(devices, "CUDA 0", "allocations")), 1);
  EXPECT_EQ(section.table("steps")->rows.size(), 1u);
}

TEST(MemoryWithoutTotals, CountsFromTheFirstRecord) {
  HandBuilt run;
  const TrackId thread = run.thread("1");
  run.operation(thread, "aten::mm", 0, 100);
  run.builder().add(event(10, thread, 100, -1, -1));
  run.builder().add(event(20, thread, 200, -1, -1));
  run.builder().add(event(30, thread, -100, -1, -1));
  run.finish();
  const Section section = memory_question.answer(run.rank_scene()).at(0);
  EXPECT_EQ(whole_of(section.figure("peak_allocated_bytes")->value), 300);
  EXPECT_EQ(section.figure("peak_reserved_bytes")->value, Value{});
  EXPECT_EQ(section.caveats.size(), 1u);
}

TEST(MemoryOfNothing, HasNoSection) {
  HandBuilt run;
  run.operation(run.thread("1"), "aten::mm", 0, 100);
  run.finish();
  EXPECT_TRUE(memory_question.answer(run.rank_scene()).empty());
}

// Down-sampling keeps the extremes, the first and the last point, and the order of time.
RC_GTEST_PROP(MemorySeries, KeepsExtremes, ()) {
  const auto count = *rc::gen::inRange(1, 5000);
  HandBuilt run;
  const TrackId thread = run.thread("1");
  run.operation(thread, "aten::mm", 0, 10);
  std::int64_t allocated = 1'000'000, highest = 0, lowest = allocated * 2;
  std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>();
  for (int i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::int64_t bytes = static_cast<std::int64_t>(state >> 48) % 1000 - 499;
    allocated += bytes;
    highest = std::max(highest, allocated);
    lowest = std::min(lowest, allocated);
    run.builder().add(event(i, thread, bytes, allocated, 2'000'000));
  }
  run.finish();
  const Table series = *memory_question.answer(run.rank_scene()).at(0).table("series");
  RC_ASSERT(series.rows.size() <= 1000u);
  RC_ASSERT(whole_of(series.rows.back()[2]) == allocated);
  std::int64_t seen_highest = 0, seen_lowest = highest;
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    seen_highest = std::max(seen_highest, whole_of(series.rows[i][2]));
    seen_lowest = std::min(seen_lowest, whole_of(series.rows[i][2]));
    if (i > 0) RC_ASSERT(whole_of(series.rows[i - 1][1]) <= whole_of(series.rows[i][1]));
  }
  RC_ASSERT(seen_highest == highest);
  RC_ASSERT(seen_lowest == lowest);
}

}  // namespace
}  // namespace stepscope
