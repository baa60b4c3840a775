#include "analyze/findings.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Findings, PartsAreFoundByKeyAndAbsentOnesAreNull) {
  Section section{
      .key = "kernels", .title = "Kernels", .summary = {}, .figures = {{"count", "Kernels", Unit::count, std::int64_t{3}}}, .tables = {}, .caveats = {}};
  section.tables.push_back({.key = "by_name", .title = "By name", .columns = {}, .rows = {}});
  const std::vector<Section> sections{section};

  const Section* found = find_section(sections, "kernels");
  ASSERT_NE(found, nullptr);
  ASSERT_NE(found->figure("count"), nullptr);
  EXPECT_EQ(std::get<std::int64_t>(found->figure("count")->value), 3);
  ASSERT_NE(found->table("by_name"), nullptr);
  EXPECT_EQ(found->table("by_name")->title, "By name");
  EXPECT_EQ(found->figure("by_name"), nullptr);
  EXPECT_EQ(found->table("count"), nullptr);
  EXPECT_EQ(find_section(sections, "kernel"), nullptr);
}

}  // namespace
}  // namespace stepscope
