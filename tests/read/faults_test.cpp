// Every damaged Kineto input of ../shared/faults (its README says what is right), as far as reading alone shows it: which kernels are kept, to the
// nanosecond, and which repairs are counted, with the byte of the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "read/reader.h"
#include "timeline/check.h"

namespace stepscope {
namespace {

constexpr Nanoseconds base = 1'700'000'000'000'000'000;  // all of these traces begin here
constexpr Nanoseconds us = 1000;

using Kernels = std::vector<std::pair<Nanoseconds, Nanoseconds>>;  // start since base and duration, by start
const Kernels base_kernels{{60 * us, 100 * us}, {170 * us, 20 * us}, {200 * us, 100 * us}};

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  }
  static std::string folder() { return std::string(STEPSCOPE_SHARED_DIR) + "/faults/"; }

  static Result<Timeline> try_read(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder() + name);
    return read_timeline(paths, {});
  }
  static Timeline read(const std::vector<std::string>& names) {
    auto timeline = try_read(names);
    EXPECT_TRUE(timeline.has_value()) << timeline.error().message();
    if (!timeline) return {};
    EXPECT_EQ(check(*timeline), std::vector<std::string>{});
    return std::move(*timeline);
  }
  static Error refusal(const std::string& name) {
    auto timeline = try_read({name});
    EXPECT_FALSE(timeline.has_value()) << name;
    return timeline ? Error{} : timeline.error();
  }
};

Kernels kernels_of(const Timeline& timeline, std::string_view device = "") {
  Kernels kernels;
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const SliceId id{i};
    if (!is_device_activity(timeline.slices.kind[id])) continue;
    if (!device.empty() && timeline.devices[index(timeline.track_of(id).device)].label != device) continue;
    kernels.push_back({timeline.origin_ns - base + timeline.slices.start[id], timeline.slices.duration[id]});
  }
  std::ranges::sort(kernels);
  return kernels;
}

std::size_t count_of(const Timeline& timeline, SliceKind kind) {
  return static_cast<std::size_t>(std::ranges::count(timeline.slices.kind.span(), kind));
}

// "truncated 1 byte 3757", one line per kind.
std::string repairs_of(const Timeline& timeline) {
  std::string lines;
  for (const HealthItem& item : timeline.health.repairs.items())
    lines += (lines.empty() ? "" : "; ") + item.kind + " " + std::to_string(item.count) + " " + item.where;
  return lines;
}

SliceId slice_named(const Timeline& timeline, std::string_view name) {
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i)
    if (timeline.name_of(SliceId{i}) == name) return SliceId{i};
  return no_id<SliceId>;
}

TEST_F(Faults, F00_Base) {
  const Timeline timeline = read({"00_base_ok.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "");
  EXPECT_EQ(count_of(timeline, SliceKind::operation), 3u);
  EXPECT_EQ(count_of(timeline, SliceKind::runtime_call), 3u);
  EXPECT_EQ(count_of(timeline, SliceKind::annotation), 1u);
  ASSERT_EQ(timeline.devices.size(), 1u);
  EXPECT_EQ(timeline.devices[0].label, "0");
  EXPECT_EQ(timeline.devices[0].gpu_name, "Test GPU");
  EXPECT_EQ(timeline.devices[0].multiprocessors, 132);
  EXPECT_EQ(timeline.devices[0].memory_bytes, 85'899'345'920);
}

TEST_F(Faults, F01_TruncatedJsonKeepsEveryCompleteEvent) {
  const Timeline timeline = read({"01_truncated.json"});
  EXPECT_EQ(kernels_of(timeline), (Kernels{base_kernels[0], base_kernels[1]}));
  EXPECT_EQ(repairs_of(timeline), "truncated 1 byte 3757");  // where the cut event begins
  EXPECT_NE(timeline.health.repairs.items()[0].explanation.find("totals are partial"), std::string::npos);
}

TEST_F(Faults, F02_TruncatedGzipKeepsThePrefixThatInflates) {
  const Timeline timeline = read({"02_truncated.json.gz"});
  EXPECT_EQ(kernels_of(timeline), Kernels{base_kernels[0]});
  EXPECT_EQ(timeline.health.repairs.count("truncated"), 1u);
  EXPECT_EQ(timeline.health.repairs.count("damaged_compression"), 1u);
  for (const HealthItem& item : timeline.health.repairs.items()) {
    EXPECT_TRUE(item.kind != "truncated" || item.where == "byte 1826") << item.where;
    EXPECT_TRUE(item.kind != "damaged_compression" || item.explanation.starts_with("gzip: stream ends early at byte 565")) << item.explanation;
  }
}

TEST_F(Faults, F03_ArrayWithoutEndIsLegal) {
  const Timeline timeline = read({"03_array_no_close.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F04_UnescapedQuotesAreOneDamagedString) {
  const Timeline timeline = read({"04_unescaped_quote_newline.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "damaged_string 1 byte 397");  // the string's first byte
  EXPECT_NE(slice_named(timeline, "lib = Library(\"_demo\", \"IMPL\")\n(1): <module>"), no_id<SliceId>);
}

TEST_F(Faults, F06_InvalidUtf8IsReplaced) {
  const Timeline timeline = read({"06_invalid_utf8_control.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "invalid_utf8 1 byte 397");
  bool found = false;
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const std::string_view name = timeline.name_of(SliceId{i});
    found = found || name.starts_with("torch/_inductor/config.py(0): \xef\xbf\xbd");
    for (const char c : name) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != '\xff' && c != '\xfe') << name;
  }
  EXPECT_TRUE(found);
}

TEST_F(Faults, F07_NanAndInfinityAreMissingValues) {
  const Timeline timeline = read({"07_nan_inf.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "not_a_number 3 byte 1168");
}

TEST_F(Faults, F08_OneCorrelationIdOfThreeLaunches) {
  const Timeline timeline = read({"08_duplicate_correlation.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(std::ranges::count(timeline.slices.correlation.span(), 5u), 6);
}

TEST_F(Faults, F09_NoCpuEvents) {
  const Timeline timeline = read({"09_gpu_only.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(count_of(timeline, SliceKind::operation), 0u);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F10_NoGpuEvents) {
  const Timeline timeline = read({"10_cpu_only.json"});
  EXPECT_TRUE(kernels_of(timeline).empty());
  EXPECT_EQ(count_of(timeline, SliceKind::operation), 3u);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F12_AKernelAtTimeZeroIsDropped) {
  const Timeline timeline = read({"12_zero_ts_kernel.json"});
  EXPECT_EQ(kernels_of(timeline), (Kernels{base_kernels[0], base_kernels[2]}));
  EXPECT_EQ(repairs_of(timeline), "zero_timestamp 1 byte 2521");
}

TEST_F(Faults, F13_NegativeDurationEndsWithItsThread) {
  const Timeline timeline = read({"13_negative_duration.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  const SliceId unfinished = slice_named(timeline, "aten::unfinished");
  ASSERT_NE(unfinished, no_id<SliceId>);
  EXPECT_EQ(timeline.slices.duration[unfinished], 860 * us);  // from 140 us to 1000 us, where ProfilerStep#3 ends
  EXPECT_EQ(repairs_of(timeline), "negative_duration 1 byte 4274");
}

TEST_F(Faults, F14_OverlapOnOneStreamIsLegal) {
  const Timeline timeline = read({"14_overlap_same_stream_pdl.json"});
  EXPECT_EQ(kernels_of(timeline), (Kernels{{10 * us, 50 * us}, {57 * us, 50 * us}}));
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F16_AChildThatOutlastsItsParentIsKept) {
  const Timeline timeline = read({"16_not_nested_cpu.json"});
  EXPECT_EQ(timeline.slices.duration[slice_named(timeline, "aten::inner")], 90'500);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F17_NanosecondsOfSixteenDigitMicroseconds) {
  const Timeline timeline = read({"17_ns_precision.json"});
  const Kernels kernels = kernels_of(timeline);
  ASSERT_EQ(kernels.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(kernels[i], std::make_pair(kernels[0].first + static_cast<Nanoseconds>(i), Nanoseconds{1}));
}

TEST_F(Faults, F23_SyncAndAnnotationRowsAreNoActivity) {
  const Timeline timeline = read({"23_sync_rows_on_gpu.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(count_of(timeline, SliceKind::device_sync), 3u);
  EXPECT_EQ(count_of(timeline, SliceKind::device_annotation), 1u);
}

TEST_F(Faults, F24_OneGraphLaunchOwnsFiveKernels) {
  const Timeline timeline = read({"24_cuda_graph.json"});
  EXPECT_EQ(kernels_of(timeline), (Kernels{{20 * us, 25 * us}, {50 * us, 25 * us}, {80 * us, 25 * us}, {110 * us, 25 * us}, {140 * us, 25 * us}}));
  EXPECT_EQ(std::ranges::count(timeline.slices.correlation.span(), 77u), 6);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F25_26_NothingToRead) {
  EXPECT_EQ(read({"25_metadata_only.json"}).slices.size(), 0u);
  EXPECT_EQ(read({"26_null_events.json"}).slices.size(), 0u);
  const Error empty = refusal("26_empty.json");
  EXPECT_EQ(empty.problem, "is empty");
  EXPECT_FALSE(empty.remedy.empty());
}

TEST_F(Faults, F28_DisplayTimeUnitIsAHintOnly) {
  EXPECT_EQ(kernels_of(read({"28_display_unit_ns.json"})), base_kernels);
}

TEST_F(Faults, F29_DroppedKernels) {
  const Timeline timeline = read({"29_dropped_kernels.json"});
  EXPECT_EQ(count_of(timeline, SliceKind::kernel), 14u);
  EXPECT_EQ(count_of(timeline, SliceKind::runtime_call), 20u);
}

TEST_F(Faults, F32_IdsAbove2To63AreKept) {
  const Timeline timeline = read({"32_uint64_ids.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(std::ranges::count(timeline.slices.correlation.span(), 18446744073709551615u), 2);  // the launch and its kernel
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F33_ByteOrderMarkAndCrLf) {
  const Timeline timeline = read({"33_bom_crlf.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F34_OnlyTheFirstOfTwoDocuments) {
  const Timeline timeline = read({"34_concatenated.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "second_document 1 byte 3113");
}

TEST_F(Faults, F36_TwoProcessesWithEqualIds) {
  const Timeline timeline = read({"36_two_ranks_one_file.json"});
  EXPECT_EQ(kernels_of(timeline, "0"), base_kernels);
  EXPECT_EQ(kernels_of(timeline, "1"), base_kernels);
  std::set<std::string_view> owners;
  for (const Track& track : timeline.tracks)
    if (track.kind == TrackKind::stream) owners.insert(timeline.names[track.owner_process]);
  EXPECT_EQ(owners, (std::set<std::string_view>{"1000", "2000"}));
}

TEST_F(Faults, F37_UnsortedEvents) {
  const Timeline timeline = read({"37_unsorted.json"});
  EXPECT_EQ(kernels_of(timeline), base_kernels);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F19_TwoRanks) {
  const Timeline timeline = read({"19_clock_skew_rank0.json", "19_clock_skew_rank1.json"});
  ASSERT_EQ(timeline.ranks.size(), 2u);
  for (std::int64_t number = 0; number < 2; ++number) {
    EXPECT_EQ(timeline.ranks[static_cast<std::size_t>(number)].number, number);
    EXPECT_EQ(timeline.ranks[static_cast<std::size_t>(number)].number_from, RankSource::distributed_info);
  }
  EXPECT_EQ(timeline.health.notes.count("clock_years_away"), 0u);  // 250 us are no reason to move anything
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F21_FourRanksWithTwoGroupsOfOneName) {
  const Timeline timeline = read({"21_same_pg_name_rank0.json", "21_same_pg_name_rank1.json", "21_same_pg_name_rank2.json", "21_same_pg_name_rank3.json"});
  ASSERT_EQ(timeline.ranks.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(timeline.ranks[i].number, static_cast<std::int64_t>(i));
  EXPECT_EQ(timeline.devices.size(), 4u);
  EXPECT_EQ(repairs_of(timeline), "");
}

TEST_F(Faults, F30_ProfilerStartSpin) {
  const Timeline timeline = read({"30_profiler_start_spin.json"});
  const Kernels kernels = kernels_of(timeline);
  ASSERT_GE(kernels.size(), 6u);
  EXPECT_EQ(kernels[0].second, 15'747'000 * us);
  EXPECT_EQ(kernels[1].second, 120 * us);
  EXPECT_EQ(timeline.ranks[0].world_size, 2);
}

TEST_F(Faults, F40to45_NsightSqliteIsRefused) {
  for (const char* name : {"40_nsys_no_nvtx.sqlite", "41_nsys_nvtx_v2.sqlite", "43_nsys_no_kernel_table.sqlite", "45_nsys_negative_start.sqlite"}) {
    const Error error = refusal(name);
    EXPECT_EQ(error.problem, "Nsight Systems SQLite export: not read yet") << name;
    EXPECT_EQ(error.kind, Error::Kind::unusable);
    EXPECT_FALSE(error.remedy.empty());
  }
}

TEST_F(Faults, F46_NsightReportTellsTheExportCommand) {
  const Error error = refusal("46_not_sqlite.nsys-rep");
  EXPECT_NE(error.remedy.find("nsys export --type sqlite --output " + folder() + "46_not_sqlite.sqlite " + folder() + "46_not_sqlite.nsys-rep"),
            std::string::npos)
      << error.remedy;
}

TEST_F(Faults, F50_MangledXSpace) {
  const Error error = refusal("50_xplane_utf8_mangled.pb");
  EXPECT_EQ(error.problem, "not a valid XSpace: bytes look re-encoded as UTF-8");
  EXPECT_EQ(error.byte, 1u);
}

TEST_F(Faults, F51_PickleWithACall) {
  const Error error = refusal("51_pickle_with_call.pickle");
  EXPECT_TRUE(error.problem.starts_with("pickle opcode STACK_GLOBAL is outside the allowed set")) << error.problem;
  EXPECT_TRUE(error.problem.ends_with("nothing was executed"));
  EXPECT_EQ(error.byte, 66u);
}

TEST_F(Faults, F52_FlightRecordersOfAHangReportTheirHealth) {
  std::vector<std::string> wheres;
  for (const char* ending : {"json", "pickle"}) {
    const Timeline timeline = read({std::string("52_flight_recorder_rank0.") + ending, std::string("52_flight_recorder_rank1.") + ending});
    ASSERT_EQ(timeline.ranks.size(), 2u);
    EXPECT_EQ(timeline.ranks[1].number, 1);  // by the file's name
    EXPECT_EQ(timeline.ranks[0].groups.at(0).ranks, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(timeline.instants.size(), 7u);
    EXPECT_EQ(timeline.slices.size(), 6u);
    EXPECT_EQ(timeline.health.notes.count("collective_not_completed"), 1u);
    for (const HealthItem& item : timeline.health.notes.items())
      if (item.kind == "collective_not_completed") wheres.push_back(item.where.substr(item.where.find(": ")));
  }
  EXPECT_EQ(wheres, (std::vector<std::string>(2, ": collective 4 nccl:all_reduce [[1024,1024]] of process group 0 (default_pg)")));
}

TEST_F(Faults, F53_NcclInspectorIsRefused) {
  EXPECT_EQ(refusal("53_nccl_inspector.log").problem, "NCCL inspector log: not read yet");
}

TEST_F(Faults, TheWholeFolderIsReadWithItsFailuresNoted) {
  const std::vector<std::string> paths{folder()};
  const auto timeline = read_timeline(paths, {});
  ASSERT_TRUE(timeline.has_value()) << timeline.error().message();
  EXPECT_EQ(check(*timeline), std::vector<std::string>{});
  EXPECT_GT(timeline->ranks.size(), 30u);
  EXPECT_GE(timeline->health.notes.count("unusable_file"), 8u);
  EXPECT_GE(timeline->health.notes.count("skipped_file"), 2u);  // README.md and the empty file
  EXPECT_GT(timeline->health.notes.count("duplicate_rank"), 0u);
}

}  // namespace
}  // namespace stepscope
