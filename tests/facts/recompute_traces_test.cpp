// Recomputed forward work of a real trace against TraceLens's is_recompute column (../shared/tracelens): calls and kernel time of each operator that it lists.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "facts/facts.h"
#include "read/reader.h"

namespace stepscope {
namespace {

struct Recomputed {
  std::set<SliceId> calls;
  Nanoseconds kernels = 0;
};

TEST(Recompute, AgreesWithTraceLensOnARealTrace) {
  const std::string trace = STEPSCOPE_SHARED_DIR "/traces/tl_mi300_resnet_act_ckpt/rank000.json.gz";
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << trace << " is absent";
  const auto timeline = read_timeline(std::vector<std::string>{trace}, {});
  ASSERT_TRUE(timeline) << timeline.error().message();
  const Facts facts = derive(*timeline, {});
  const SliceColumns& s = timeline->slices;
  // Rows of unified_perf_summary.csv with is_recompute = True, summed by name: operation_count and kernel time.
  const std::map<std::string, std::pair<std::size_t, double>> expected{
      {"aten::convolution", {57, 2228.345}}, {"aten::batch_norm", {57, 1368.784}}, {"aten::add_", {81, 296.041}}, {"aten::clamp_min_", {48, 229.068}}};
  std::map<std::string, Recomputed> found;
  for (std::size_t row = 0; row < s.size(); ++row) {
    if (s.kind[row] == SliceKind::operation && facts.recomputed[row] != 0 &&
        expected.contains(std::string(timeline->name_of(SliceId{static_cast<std::uint32_t>(row)}))))
      found[std::string(timeline->name_of(SliceId{static_cast<std::uint32_t>(row)}))].calls.insert(SliceId{static_cast<std::uint32_t>(row)});
    if (s.kind[row] != SliceKind::kernel || facts.recomputed[row] == 0) continue;  // TraceLens counts kernels only
    SliceId operation = facts.operation[row];
    while (operation != no_id<SliceId> && !expected.contains(std::string(timeline->name_of(operation)))) operation = facts.operation[operation];
    if (operation != no_id<SliceId>) found[std::string(timeline->name_of(operation))].kernels += s.duration[row];
  }
  for (const auto& [name, figures] : expected) {
    EXPECT_EQ(found[name].calls.size(), figures.first) << name;
    EXPECT_NEAR(static_cast<double>(found[name].kernels) / 1e3, figures.second, 0.01) << name;  // theirs are sums of binary fractions of µs since 1970
  }
}

}  // namespace
}  // namespace stepscope
