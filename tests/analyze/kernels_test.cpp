#include <gtest/gtest.h>

#include "analyze/time_of_device.h"

namespace stepscope {
namespace {

void some_kernels(SmallTimeline& t, const FactOptions& options = {}) {
  const TrackId stream = t.stream(7);
  Nanoseconds at = 0;
  const auto run = [&](const char* name, Nanoseconds duration) {
    t.kernel(stream, name, at, duration);
    at += duration + 10;
  };
  for (const Nanoseconds duration : {3'000, 1'000, 2'000, 4'000}) run("void gemm<float>(float*)", duration);
  for (const Nanoseconds duration : {7'000, 8'000}) run("void gemm<double>(double*)", duration);
  run("ncclDevKernel_AllReduce(x)", 15'000);
  t.slice(SliceKind::copy, stream, "Memcpy HtoD (Pinned -> Device)", at, 500);
  t.finish(options);
}

TEST(Kernels, TotalsAndQuantilesByName) {
  SmallTimeline t;
  some_kernels(t);
  const auto section = ask(t, "kernels");
  ASSERT_TRUE(section);
  EXPECT_TRUE(section->figures.empty());
  const Table& table = section->tables.at(0);
  EXPECT_EQ(table.key, "kernels");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(text_cell(table, 0, "name"), "ncclDevKernel_AllReduce(x)");  // of equal totals the first by name
  EXPECT_EQ(text_cell(table, 0, "class"), "communication");
  EXPECT_EQ(text_cell(table, 2, "name"), "void gemm<float>(float*)");
  EXPECT_EQ(whole_cell(table, 2, "count"), 4);
  EXPECT_EQ(whole_cell(table, 2, "total_ns"), 10'000);
  EXPECT_EQ(whole_cell(table, 2, "min_ns"), 1'000);
  EXPECT_EQ(whole_cell(table, 2, "median_ns"), 2'000);
  EXPECT_EQ(whole_cell(table, 2, "p90_ns"), 4'000);
  EXPECT_EQ(whole_cell(table, 2, "max_ns"), 4'000);
  EXPECT_NEAR(std::get<double>(cell(table, 2, "share")), 10'000.0 / 40'500.0, 1e-12);
  EXPECT_EQ(text_cell(table, 3, "class"), "memory");
}

TEST(Kernels, UsersCategoriesAreShown) {
  SmallTimeline t;
  some_kernels(t, {.patterns = {{"gemm", ActivityClass::compute, "my products"}}});
  const auto section = ask(t, "kernels");
  const Table& table = section->tables.at(0);
  EXPECT_EQ(text_cell(table, 2, "category"), "my products");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell(table, 0, "category")));
}

TEST(Kernels, ByFunction) {
  SmallTimeline t;
  some_kernels(t);
  const auto section = ask(t, "kernels_by_short_name");
  const Table& table = section->tables.at(0);
  EXPECT_EQ(text_cell(table, 0, "short_name"), "gemm");
  EXPECT_EQ(whole_cell(table, 0, "names"), 2);
  EXPECT_EQ(whole_cell(table, 0, "count"), 6);
  EXPECT_EQ(whole_cell(table, 0, "total_ns"), 25'000);
  EXPECT_EQ(whole_cell(table, 0, "min_ns"), 1'000);
  EXPECT_EQ(whole_cell(table, 0, "max_ns"), 8'000);
}

TEST(ShortKernels, CountAndTimeBelowEachBound) {
  SmallTimeline t;
  some_kernels(t);
  const auto section = ask(t, "short_kernels");
  EXPECT_EQ(whole_figure(section, "kernels"), 7);  // the copy is none
  EXPECT_EQ(whole_figure(section, "under_5us_count"), 4);
  EXPECT_EQ(whole_figure(section, "under_5us_ns"), 10'000);
  EXPECT_EQ(whole_figure(section, "under_10us_count"), 6);
  EXPECT_EQ(whole_figure(section, "under_10us_ns"), 25'000);
  EXPECT_EQ(whole_figure(section, "under_20us_count"), 7);
  EXPECT_EQ(whole_figure(section, "under_20us_ns"), 40'000);
  std::int64_t count = 0, total = 0;
  const Table* histogram = section->table("histogram");
  for (std::size_t row = 0; row < histogram->rows.size(); ++row) {
    count += whole_cell(*histogram, row, "count");
    total += whole_cell(*histogram, row, "total_ns");
  }
  EXPECT_EQ(count, 7);
  EXPECT_EQ(total, 40'000);
}

}  // namespace
}  // namespace stepscope
