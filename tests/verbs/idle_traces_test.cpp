// Real traces with complete records: of the time that their devices are idle, under 1 % is for a reason that is not known
// or before a slice whose launch was not recorded. The table shows both.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "verbs/stepscope.h"

namespace stepscope {
namespace {

const std::filesystem::path traces = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces";

double seconds(const Section& section, std::string_view key) {
  const Figure* figure = section.figure(key);
  return figure == nullptr ? -1 : static_cast<double>(std::get<std::int64_t>(figure->value)) / 1e9;
}

TEST(IdleOfRealTraces, UnknownIsUnderOnePercentWhereRecordsAreComplete) {
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  fmt::print("{:<24}{:>6}{:>12}{:>14}{:>10}\n", "trace", "rank", "idle ms", "unknown ms", "share");
  for (const char* name : {"hta_trace_diff_control", "param_dlrm_8rank", "tl_h100_owlv2", "tl_b200_eager", "tl_h100_bertsmall"}) {
    AnalyzeOptions options;
    options.paths = {(traces / name).string()};
    const Result<Analysis> analysis = analyze(options);
    ASSERT_TRUE(analysis) << analysis.error().message();
    double idle_of_all = 0, unknown_of_all = 0;
    for (const RankFindings& rank : analysis->findings.ranks)
      for (const DeviceFindings& device : rank.devices) {
        const Section* section = find_section(device.sections, "idle_by_cause");
        ASSERT_NE(section, nullptr) << name;
        const double unknown = seconds(*section, "unknown_ns") + seconds(*section, "unlinked_ns");
        double idle = unknown;
        for (const char* cause : {"host_ns", "launch_ns", "scheduling_ns", "dependency_ns", "graph_ns"}) idle += seconds(*section, cause);
        fmt::print("{:<24}{:>6}{:>12.3f}{:>14.3f}{:>9.2f} %\n", name, rank.rank, idle * 1e3, unknown * 1e3, idle > 0 ? 100 * unknown / idle : 0);
        idle_of_all += idle;
        unknown_of_all += unknown;
      }
    EXPECT_GT(idle_of_all, 0) << name;
    EXPECT_LT(unknown_of_all, 0.01 * idle_of_all) << name;
  }
}

}  // namespace
}  // namespace stepscope
