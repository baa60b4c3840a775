#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/time_of_device.h"

namespace stepscope {
namespace {

bool lacks(const Section& health, std::string_view records) {
  const Table* missing = health.table("missing");
  for (std::size_t row = 0; row < missing->rows.size(); ++row)
    if (text_cell(*missing, row, "records") == records) return true;
  return false;
}

std::int64_t count_of(const Table& table, std::string_view kind) {
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    if (text_cell(table, row, "kind") == kind) return whole_cell(table, row, "count");
  return 0;
}

TEST(Health, SaysWhatIsMissingAndHowToGetIt) {
  SmallTimeline t;
  const TrackId main = t.thread("1");
  t.operation(main, "aten::mm", 0, 100);
  t.launched_kernel(main, t.stream(7), "ncclDevKernel_AllReduce", 10, 50, 20);
  t.finish();
  const auto health = ask(t, "health");
  ASSERT_TRUE(health);
  EXPECT_TRUE(health->table("repairs")->rows.empty());
  for (const char* records :
       {"input shapes of operators", "Python stacks", "module calls", "arguments of collectives", "allocations", "waits of streams for events", "marked steps"})
    EXPECT_TRUE(lacks(*health, records)) << records;
  EXPECT_FALSE(lacks(*health, "device activity"));
  EXPECT_FALSE(lacks(*health, "framework operators"));
  for (std::size_t row = 0; row < health->table("missing")->rows.size(); ++row) EXPECT_NE(text_cell(*health->table("missing"), row, "profiler_option"), "");
}

TEST(Health, CompleteRecordsLackNothing) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  TimelineBuilder& b = t.builder();
  b.add_slice(SliceKind::operation, main, 0, 100, b.names().intern("aten::mm"), no_number, no_number, b.details().intern("\"Input Dims\": [[2, 2]]"));
  t.annotation(main, "ProfilerStep#1", 0, 200);
  const SliceId module = t.slice(SliceKind::python_function, main, "nn.Module: Linear_0", 0, 150);
  b.add(PythonFact{module, 1, 0xFFFF'FFFFu, 5});
  t.launched_kernel(main, stream, "gemm", 10, 50, 20);
  b.add(SyncFact{t.slice(SliceKind::device_sync, stream, "Stream Wait Event", 5, 1), 8, 1});
  b.add(MemoryEvent{1, main, 1, 0, 4096, 512, 512, 1024});
  t.finish();
  const auto health = ask(t, "health");
  EXPECT_TRUE(health->table("missing")->rows.empty());
}

TEST(Health, NoDeviceActivity) {
  SmallTimeline t;
  t.operation(t.thread("1"), "aten::mm", 0, 100);
  t.finish();
  const auto health = ask(t, "health");
  EXPECT_TRUE(lacks(*health, "device activity"));
  EXPECT_EQ(count_of(*health->table("notes"), "no_device_activity"), 1);
}

TEST(Health, RepairsOfTheReaderAndOfTheFacts) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  t.builder().health().repairs.add("truncated", 1, "byte 3813", "The file ends early");
  for (const Nanoseconds at : {0, 10, 20}) t.call(main, "cudaLaunchKernel", at, 1, 5);
  for (const Nanoseconds at : {40, 60, 80}) t.kernel(stream, "k", at, 10, 5);
  t.finish();
  const auto health = ask(t, "health");
  const Table& repairs = *health->table("repairs");
  EXPECT_EQ(count_of(repairs, "truncated"), 1);
  EXPECT_EQ(count_of(repairs, "ambiguous_correlation"), 3);
  EXPECT_EQ(text_cell(repairs, 0, "where"), "byte 3813");
  // What a cut file lacks may have stood behind the cut.
  const Table& missing = *health->table("missing");
  ASSERT_FALSE(missing.rows.empty());
  EXPECT_TRUE(text_cell(missing, 0, "profiler_option").starts_with("they may have stood in the part of the file that is missing; else "));
}

TEST(Health, RepeatedStepsAndClocksThatDisagree) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  for (const Nanoseconds at : {0, 200}) t.annotation(main, "ProfilerStep#1", at, 100);
  t.launched_kernel(main, stream, "in order", 10, 12, 5);
  t.launched_kernel(main, stream, "early", 50, 40, 5);
  t.launched_kernel(main, stream, "earlier", 90, 60, 5);
  t.kernel(stream, "launched by nobody", 120, 5, 4711);
  t.finish();
  const Table notes = *ask(t, "health")->table("notes");
  EXPECT_EQ(count_of(notes, "repeated_step_numbers"), 1);
  EXPECT_EQ(count_of(notes, "slices_before_launch"), 2);
  EXPECT_EQ(count_of(notes, "slices_without_launch"), 1);
  for (std::size_t row = 0; row < notes.rows.size(); ++row)
    if (text_cell(notes, row, "kind") == "slices_before_launch") {
      EXPECT_EQ(text_cell(notes, row, "where"), "at 40 ns");
      EXPECT_NE(text_cell(notes, row, "explanation").find("by up to 30 ns"), std::string::npos);
    }
}

// faults/29
TEST(Health, LaunchesWithoutRecord) {
  SmallTimeline t;
  const TrackId main = t.thread("1"), stream = t.stream(7);
  for (Nanoseconds i = 0; i < 20; ++i) {
    t.operation(main, "aten::mm", i * 10'000, 5'000);
    t.call(main, "cudaLaunchKernel", i * 10'000 + 1'000, 2'000, static_cast<std::uint64_t>(i + 1));
    if (i >= 6) t.kernel(stream, "gemm", 80'000 + (i - 6) * 10'000, 8'000, static_cast<std::uint64_t>(i + 1));
  }
  t.finish();
  const auto health = ask(t, "health");
  const Table& notes = *health->table("notes");
  EXPECT_EQ(count_of(notes, "launches_without_record"), 6);
  EXPECT_NE(text_cell(notes, 0, "explanation").find("30.0 % of 20"), std::string::npos);
  EXPECT_NE(text_cell(notes, 0, "where").find("1.00 µs to 61.0 µs"), std::string::npos);
  EXPECT_FALSE(ask(t, "all")->caveats.empty());
}

}  // namespace
}  // namespace stepscope
