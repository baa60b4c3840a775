// Every damaged Kineto input of ../shared/faults (its README says what is right), as far as the analysis shows it: the figures of each row, and over all of
// them that no time is negative and that compute, exposed communication, exposed copies and idle sum to the span.
#include <gtest/gtest.h>

#include <filesystem>

#include "report/report.h"
#include "timeline/check.h"
#include "verbs/stepscope.h"

namespace stepscope {
namespace {

constexpr std::int64_t us = 1000;
constexpr std::int64_t absent = -1;  // a figure that is not there

std::int64_t whole(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? absent : *number;
}

std::int64_t figure(const std::vector<Section>& sections, std::string_view section, std::string_view key) {
  const Section* found = find_section(sections, section);
  const Figure* one = found == nullptr ? nullptr : found->figure(key);
  return one == nullptr ? absent : whole(one->value);
}

// The cell of the row whose first column is name.
std::int64_t cell(const std::vector<Section>& sections, std::string_view section, std::string_view table, std::string_view name, std::string_view column) {
  const Section* found = find_section(sections, section);
  const Table* rows = found == nullptr ? nullptr : found->table(table);
  if (rows == nullptr) return absent;
  for (const std::vector<Value>& row : rows->rows) {
    const auto* label = std::get_if<std::string>(&row[0]);
    if (label == nullptr || *label != name) continue;
    for (std::size_t i = 0; i < rows->columns.size(); ++i)
      if (rows->columns[i].key == column) return whole(row[i]);
  }
  return absent;
}

void expect_no_negative_time(const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    for (const Figure& one : section.figures)
      if (one.unit == Unit::nanoseconds && std::holds_alternative<std::int64_t>(one.value)) {
        EXPECT_GE(std::get<std::int64_t>(one.value), 0) << section.key << "." << one.key;
      }
    for (const Table& table : section.tables)
      for (const std::vector<Value>& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
          if (table.columns[i].unit == Unit::nanoseconds && std::holds_alternative<std::int64_t>(row[i])) {
            EXPECT_GE(std::get<std::int64_t>(row[i]), 0) << section.key << "." << table.key << "." << table.columns[i].key;
          }
  }
}

class FaultsAnalysis : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  }
  static std::string folder() { return std::string(STEPSCOPE_SHARED_DIR) + "/faults/"; }

  static Analysis analysis_of(const std::vector<std::string>& names) {
    AnalyzeOptions options;
    for (const std::string& name : names) options.paths.push_back(folder() + name);
    Result<Analysis> analysis = analyze(options);
    EXPECT_TRUE(analysis.has_value()) << analysis.error().message();
    if (!analysis) return {};
    EXPECT_EQ(check(analysis->timeline), std::vector<std::string>{});
    expect_no_negative_time(analysis->findings.sections);
    for (const RankFindings& rank : analysis->findings.ranks) {
      expect_no_negative_time(rank.sections);
      for (const DeviceFindings& device : rank.devices) {
        expect_no_negative_time(device.sections);
        const auto all = [&](std::string_view key) { return figure(device.sections, "all", key); };
        EXPECT_EQ(all("compute_ns") + all("exposed_communication_ns") + all("exposed_memory_ns") + all("idle_ns"), all("span_ns")) << rank.file;
        EXPECT_EQ(all("busy_ns") + all("idle_ns"), all("span_ns")) << rank.file;
        const auto cause = [&](std::string_view key) { return figure(device.sections, "idle_by_cause", key); };
        EXPECT_EQ(cause("host_ns") + cause("launch_ns") + cause("scheduling_ns") + cause("dependency_ns") + cause("graph_ns") + cause("unknown_ns") +
                      cause("unlinked_ns"),
                  all("idle_ns"))
            << rank.file;
      }
    }
    return std::move(*analysis);
  }

  // The one device of the one rank.
  static const std::vector<Section>& device_of(const Analysis& analysis) {
    static const std::vector<Section> none;
    EXPECT_EQ(analysis.findings.ranks.size(), 1u);
    if (analysis.findings.ranks.size() != 1 || analysis.findings.ranks[0].devices.size() != 1) {
      ADD_FAILURE() << "not one rank with one device";
      return none;
    }
    return analysis.findings.ranks[0].devices[0].sections;
  }
  static const std::vector<Section>& rank_of(const Analysis& analysis) { return analysis.findings.ranks.at(0).sections; }

  static void expect_base(const std::vector<Section>& device) {
    EXPECT_EQ(figure(device, "all", "slices"), 3);
    EXPECT_EQ(figure(device, "all", "compute_ns"), 220 * us);
    EXPECT_EQ(figure(device, "all", "span_ns"), 240 * us);
    EXPECT_EQ(figure(device, "all", "idle_ns"), 20 * us);
  }
};

TEST_F(FaultsAnalysis, MendedInputsGiveTheFiguresOfTheCleanTrace) {
  for (const char* name : {"00_base_ok.json", "03_array_no_close.json", "04_unescaped_quote_newline.json", "06_invalid_utf8_control.json", "07_nan_inf.json",
                           "13_negative_duration.json", "23_sync_rows_on_gpu.json", "28_display_unit_ns.json", "32_uint64_ids.json", "33_bom_crlf.json",
                           "34_concatenated.json", "37_unsorted.json"}) {
    SCOPED_TRACE(name);
    const Analysis analysis = analysis_of({name});
    expect_base(device_of(analysis));
    // All three kernels are linked to the three operators.
    EXPECT_EQ(figure(rank_of(analysis), "operators", "unattributed_ns"), 0);
    EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::mm", "kernels"), 2);
    EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::add_", "kernels"), 1);
    EXPECT_EQ(analysis.facts.ambiguous_links, 0u);
    EXPECT_EQ(figure(rank_of(analysis), "launches", "without_record"), 0);
  }
}

TEST_F(FaultsAnalysis, F01_F02_TruncatedTotalsArePartial) {
  const Analysis cut = analysis_of({"01_truncated.json"});
  EXPECT_EQ(figure(device_of(cut), "all", "slices"), 2);
  EXPECT_EQ(figure(device_of(cut), "all", "compute_ns"), 120 * us);
  const Analysis gzip = analysis_of({"02_truncated.json.gz"});
  EXPECT_EQ(figure(device_of(gzip), "all", "slices"), 1);
  EXPECT_EQ(figure(device_of(gzip), "all", "compute_ns"), 100 * us);
}

TEST_F(FaultsAnalysis, F08_AmbiguousLinksArePairedInOrderOfTime) {
  const Analysis analysis = analysis_of({"08_duplicate_correlation.json"});
  expect_base(device_of(analysis));
  EXPECT_EQ(analysis.facts.ambiguous_links, 3u);
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::mm", "kernels"), 2);  // not all three with the last launch
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::add_", "kernels"), 1);
}

TEST_F(FaultsAnalysis, F09_WithoutCpuEventsTheTimeIsUnattributed) {
  const Analysis analysis = analysis_of({"09_gpu_only.json"});
  expect_base(device_of(analysis));
  EXPECT_EQ(figure(rank_of(analysis), "operators", "unattributed_ns"), 220 * us);
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "(unattributed)", "device_own_ns"), 220 * us);
}

TEST_F(FaultsAnalysis, F10_WithoutDeviceActivityTheOperatorsAreStillTold) {
  const Analysis analysis = analysis_of({"10_cpu_only.json"});
  ASSERT_EQ(analysis.findings.ranks.size(), 1u);
  EXPECT_TRUE(analysis.findings.ranks[0].devices.empty());
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::mm", "cpu_total_ns"), 80 * us);
  const std::string page = text_report({analysis.timeline, analysis.facts, analysis.findings}, {});
  EXPECT_NE(page.find("No device activity in this trace"), std::string::npos);
  EXPECT_NE(page.find("the device was not profiled, was not used"), std::string::npos) << page;
}

TEST_F(FaultsAnalysis, F12_AKernelAtTimeZeroDoesNotStretchTheSpan) {
  const Analysis analysis = analysis_of({"12_zero_ts_kernel.json"});
  EXPECT_EQ(figure(device_of(analysis), "all", "span_ns"), 240 * us);
  EXPECT_EQ(figure(device_of(analysis), "all", "compute_ns"), 200 * us);
}

TEST_F(FaultsAnalysis, F14_OverlapOnOneStream) {
  const Analysis analysis = analysis_of({"14_overlap_same_stream_pdl.json"});
  EXPECT_EQ(figure(device_of(analysis), "all", "busy_ns"), 97 * us);
  EXPECT_EQ(figure(device_of(analysis), "all", "span_ns"), 97 * us);
  EXPECT_EQ(cell(device_of(analysis), "kernels", "kernels", "k_a", "total_ns") + cell(device_of(analysis), "kernels", "kernels", "k_b", "total_ns"), 100 * us);
}

TEST_F(FaultsAnalysis, F16_AChildThatOutlastsItsParentIsStillItsChild) {
  const Analysis analysis = analysis_of({"16_not_nested_cpu.json"});
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::outer", "cpu_own_ns"), 10 * us);
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::inner", "kernels"), 1);
  EXPECT_EQ(cell(rank_of(analysis), "operators", "by_name", "aten::outer", "kernels"), 0);
}

TEST_F(FaultsAnalysis, F17_FiveKernelsOfOneNanosecond) {
  const Analysis analysis = analysis_of({"17_ns_precision.json"});
  EXPECT_EQ(figure(device_of(analysis), "all", "slices"), 5);
  EXPECT_EQ(figure(device_of(analysis), "all", "busy_ns"), 5);
  EXPECT_EQ(figure(device_of(analysis), "all", "span_ns"), 5);
}

TEST_F(FaultsAnalysis, F24_GapsInsideAGraphAreTheGraphs) {
  const Analysis analysis = analysis_of({"24_cuda_graph.json"});
  EXPECT_EQ(figure(device_of(analysis), "all", "compute_ns"), 125 * us);
  EXPECT_EQ(figure(device_of(analysis), "idle_by_cause", "graph_ns"), 20 * us);
  EXPECT_EQ(figure(device_of(analysis), "idle_by_cause", "launch_ns"), 0);
  EXPECT_EQ(analysis.facts.ambiguous_links, 0u);
  EXPECT_EQ(figure(rank_of(analysis), "launches", "calls"), 1);
  EXPECT_EQ(figure(rank_of(analysis), "launches", "launched"), 5);
}

TEST_F(FaultsAnalysis, F25_F26_NothingToAnalyse) {
  for (const char* name : {"25_metadata_only.json", "26_null_events.json"}) {
    const Analysis analysis = analysis_of({name});
    ASSERT_TRUE(analysis.nothing_to_analyse.has_value()) << name;
    EXPECT_EQ(analysis.nothing_to_analyse->kind, Error::Kind::nothing_to_analyse);
    EXPECT_FALSE(analysis.nothing_to_analyse->remedy.empty());
  }
}

TEST_F(FaultsAnalysis, F29_LaunchesWithoutRecord) {
  const Analysis analysis = analysis_of({"29_dropped_kernels.json"});
  EXPECT_EQ(analysis.facts.launches_seen, 20u);
  EXPECT_EQ(analysis.facts.launches_without_record, 6u);
  const std::string page = text_report({analysis.timeline, analysis.facts, analysis.findings}, {});
  EXPECT_NE(page.find("30.0 % of 20 kernel launches have no device record"), std::string::npos) << page;
  EXPECT_NE(page.find("lower bound"), std::string::npos);
}

TEST_F(FaultsAnalysis, F36_TwoProcessesAreTwoDevicesWithoutCrossLinks) {
  const Analysis analysis = analysis_of({"36_two_ranks_one_file.json"});
  ASSERT_EQ(analysis.findings.ranks.size(), 1u);
  ASSERT_EQ(analysis.findings.ranks[0].devices.size(), 2u);
  for (const DeviceFindings& device : analysis.findings.ranks[0].devices) expect_base(device.sections);
  EXPECT_EQ(analysis.facts.ambiguous_links, 0u);
  const Timeline& timeline = analysis.timeline;
  std::size_t linked = 0;
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const SliceId slice{i}, launch = analysis.facts.launch[slice];
    if (launch == no_id<SliceId>) continue;
    ++linked;
    const std::string_view device = timeline.devices[index(timeline.track_of(slice).device)].label;
    EXPECT_EQ(timeline.names[timeline.track_of(launch).process], device == "0" ? "1000" : "2000");
  }
  EXPECT_EQ(linked, 6u);
}

TEST_F(FaultsAnalysis, ManyRanksLoadWithTheirFigures) {
  const Analysis skewed = analysis_of({"19_clock_skew_rank0.json", "19_clock_skew_rank1.json"});
  ASSERT_EQ(skewed.findings.ranks.size(), 2u);
  for (const RankFindings& rank : skewed.findings.ranks) EXPECT_GT(figure(rank.devices.at(0).sections, "all", "communication_ns"), 0);
  const Analysis groups = analysis_of({"21_same_pg_name_rank0.json", "21_same_pg_name_rank1.json", "21_same_pg_name_rank2.json", "21_same_pg_name_rank3.json"});
  EXPECT_EQ(groups.findings.ranks.size(), 4u);
  const Analysis spin = analysis_of({"30_profiler_start_spin.json"});
  EXPECT_EQ(cell(device_of(spin), "kernels", "kernels", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "max_ns"),
            15'747'000 * us);
}

TEST_F(FaultsAnalysis, F52_AHangIsToldInTheCapturesHealth) {
  for (const std::string ending : {"json", "pickle"}) {
    const Analysis analysis = analysis_of({"52_flight_recorder_rank0." + ending, "52_flight_recorder_rank1." + ending});
    EXPECT_TRUE(analysis.nothing_to_analyse.has_value());
    const std::string page = text_report({analysis.timeline, analysis.facts, analysis.findings}, {});
    EXPECT_NE(page.find("collective 4"), std::string::npos) << page;
  }
}

TEST_F(FaultsAnalysis, TheWholeFolderIsAnalysed) {
  const Analysis analysis = analysis_of({""});
  EXPECT_GT(analysis.findings.ranks.size(), 30u);
  EXPECT_FALSE(json_report({analysis.timeline, analysis.facts, analysis.findings}).empty());
}

}  // namespace
}  // namespace stepscope
