#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question copies_question;

namespace {

const std::vector<Value>& row_with(const Table& table, std::string_view direction, std::string_view from) {
  for (const auto& row : table.rows)
    if (row[1] == Value{std::string(direction)} && row[2] == Value{std::string(from)}) return row;
  throw std::out_of_range("no such row");
}

TEST(Copies, ByDirectionAndMemory) {
  HandBuilt run;
  const TrackId stream = run.stream(7);
  run.copy(stream, "Memcpy HtoD (Pinned -> Device)", 0, 100, 1, 2'000'000);
  run.copy(stream, "Memcpy HtoD (Pinned -> Device)", 100, 100, 2, 3'000'000);
  run.copy(stream, "Memcpy HtoD (Pageable -> Device)", 200, 300, 3, 1'000'000);
  run.copy(stream, "Memset (Device)", 500, 50, 4);
  run.copy(stream, "Memcpy PtoP (Device -> Device)", 600, 450, 5);
  run.kernel(stream, "gemm", 1100, 10);
  run.finish();
  const Section section = copies_question.answer(run.device_scene()).at(0);
  const Table& table = *section.table("by_kind");
  const auto& pinned = row_with(table, "HtoD", "Pinned");
  EXPECT_EQ(whole_of(pinned[column_of(table, "count")]), 2);
  EXPECT_EQ(whole_of(pinned[column_of(table, "bytes")]), 5'000'000);
  EXPECT_EQ(whole_of(pinned[column_of(table, "total_ns")]), 200'000);
  EXPECT_DOUBLE_EQ(real_of(pinned[column_of(table, "rate_bytes_per_s")]), 25e9);
  EXPECT_DOUBLE_EQ(real_of(pinned[column_of(table, "share")]), 0.2);
  const auto& peer = row_with(table, "PtoP", "Device");
  EXPECT_EQ(peer[column_of(table, "bytes")], Value{}) << "not recorded";
  EXPECT_EQ(peer[column_of(table, "rate_bytes_per_s")], Value{});
  EXPECT_EQ(peer, table.rows[0]) << "the longest first";
  const auto& fill = table.rows.back();
  EXPECT_EQ(text_of(fill[0]), "fill");
  EXPECT_EQ(fill[1], Value{});
  EXPECT_EQ(text_of(fill[3]), "Device");
  EXPECT_EQ(sum_of(table, "total_ns"), 1'000'000);
  EXPECT_EQ(whole_of(section.figure("bytes")->value), 6'000'000);
  ASSERT_EQ(section.caveats.size(), 1u);
  EXPECT_EQ(section.caveats[0], "2 of 5 copies and fills have no byte count in this capture: bytes and rates speak of the others.");
}

TEST(Copies, NamesOfOtherKindsAreKeptAsTheyAre) {
  HandBuilt run;
  const TrackId stream = run.stream(7);
  run.slice(SliceKind::copy, stream, "CopyDeviceToHost", 0, 10, 1, R"("kind": "DtoH")");
  run.copy(stream, "Memset (Unknown)", 20, 10, 2);
  run.copy(stream, "", 40, 10, 3);
  run.copy(stream, "Memcpy ()", 60, 10, 4);
  run.finish();
  const Table table = *copies_question.answer(run.device_scene()).at(0).table("by_kind");
  EXPECT_EQ(sum_of(table, "count"), 4);
  EXPECT_TRUE(std::ranges::any_of(table.rows, [](const auto& row) { return row[1] == Value{std::string("DtoH")}; }));
}

TEST(Copies, NoneHaveNoSection) {
  HandBuilt run;
  run.kernel(run.stream(7), "gemm", 0, 10);
  run.finish();
  EXPECT_TRUE(copies_question.answer(run.device_scene()).empty());
}

}  // namespace
}  // namespace stepscope
