// Directories, ranks, clocks and failures: with flight recorder dumps as the smallest inputs that have times.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "read/reader.h"
#include "temporary_folder.h"
#include "timeline/check.h"

namespace stepscope {
namespace {

// One completed collective that starts at start_ns. rank < 0: the dump does not say its rank.
std::string dump(Nanoseconds start_ns, std::int64_t rank = -1, int entries = 1) {
  std::string text = R"({"pg_config": {}, "pg_status": {}, )";
  if (rank >= 0) text += "\"rank\": " + std::to_string(rank) + ", ";
  text += "\"entries\": [";
  for (int i = 0; i < entries; ++i) {
    const std::string time = std::to_string(start_ns + 1000 * i);
    text += std::string(i == 0 ? "" : ",") + R"({"process_group": ["0", "g"], "profiling_name": "nccl:op)" + std::to_string(i % 7) +
            R"(", "state": "completed", "time_created_ns": )" + time + R"(, "time_discovered_started_ns": )" + time + R"(, "time_discovered_completed_ns": )" +
            std::to_string(start_ns + 1000 * i + 500) + "}";
  }
  return text + "]}";
}

constexpr Nanoseconds noon = 1'700'000'000'000'000'000;

std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.substr(path.find_last_of('/') + 1));
  return names;
}

const HealthItem* item(const HealthList& list, std::string_view kind) {
  for (const HealthItem& one : list.items())
    if (one.kind == kind) return &one;
  return nullptr;
}

Timeline read(const std::vector<std::string>& paths, int threads = 1) {
  ReadOptions options;
  options.threads = threads;
  auto timeline = read_timeline(paths, options);
  EXPECT_TRUE(timeline.has_value()) << timeline.error().message();
  if (!timeline) return {};
  EXPECT_TRUE(check(*timeline).empty());
  return std::move(*timeline);
}

TEST(Inputs, OfADirectoryAreFoundByContentInNaturalOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"t10", "t9", "t2.txt", "t002", "a1b2", "a1b10", "A"}) folder.write(name, dump(noon));
  folder.write("notes.json", "# no trace");
  folder.write("empty.json", "");
  folder.write("deeper/t1", dump(noon));
  ASSERT_EQ(::mkfifo((folder / "pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder / "t9", folder / "link");
  std::filesystem::create_symlink(folder / "nothing", folder / "dead");
  const auto found = search_inputs(folder.path());
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(names_of(found->files), (std::vector<std::string>{"A", "a1b2", "a1b10", "link", "t002", "t2.txt", "t9", "t10"}));
  ASSERT_EQ(found->skipped.size(), 4u);
  EXPECT_EQ(found->skipped[0].name, "dead");
  EXPECT_EQ(found->skipped[0].reason, "a link to nothing");
  EXPECT_EQ(found->skipped[1].name, "empty.json");
  EXPECT_EQ(found->skipped[1].reason, "is empty");
  EXPECT_EQ(found->skipped[2].name, "notes.json");
  EXPECT_EQ(found->skipped[2].reason, "not a trace: first bytes \"# no trace\"");
  EXPECT_EQ(found->skipped[3].name, "pipe.json");
  EXPECT_EQ(find_inputs(folder.path() + "/").value().size(), 8u);
}

TEST(Inputs, AFileStandsForItself) {
  EXPECT_EQ(find_inputs("-").value(), std::vector<std::string>{"-"});
  EXPECT_EQ(find_inputs("/no/such/file.json").value(), std::vector<std::string>{"/no/such/file.json"});
}

TEST(Inputs, ADirectoryWithoutTracesSaysWhatItHolds) {
  const TemporaryFolder folder;
  EXPECT_EQ(find_inputs(folder.path()).error().problem, "the directory is empty");
  folder.write("deeper/t1", dump(noon));
  EXPECT_EQ(find_inputs(folder.path()).error().problem, "no file of this directory is a trace");
  EXPECT_EQ(find_inputs(folder.path()).error().remedy, "It has 1 sub-directory, which are not searched: give the one that holds the trace files themselves.");
  folder.write("README", "hello");
  EXPECT_EQ(find_inputs(folder.path()).error().problem, "no file of this directory is a trace (1 looked at; README: not a trace: first bytes \"hello\")");
}

TEST(ReadTimeline, RanksComeFromTheFileThenItsNameThenTheLowestFreeNumber) {
  const TemporaryFolder folder;
  const Timeline timeline = read({folder.write("first.json", dump(noon)), folder.write("rank_4.json", dump(noon)), folder.write("b.json", dump(noon, 0)),
                                  folder.write("last.json", dump(noon)), folder.write("rank7.json", dump(noon, 2))});
  ASSERT_EQ(timeline.ranks.size(), 5u);
  const std::pair<std::int64_t, RankSource> expected[] = {
      {1, RankSource::position}, {4, RankSource::file_name}, {0, RankSource::distributed_info}, {3, RankSource::position}, {2, RankSource::distributed_info}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(timeline.ranks[i].number, expected[i].first) << i;
    EXPECT_EQ(timeline.ranks[i].number_from, expected[i].second) << i;
  }
  const HealthList& notes = timeline.health.notes;
  EXPECT_EQ(notes.count("rank_from_file_name"), 1u);
  EXPECT_EQ(notes.count("rank_from_position"), 2u);
  ASSERT_NE(item(notes, "rank_contradicts_file_name"), nullptr);
  EXPECT_NE(item(notes, "rank_contradicts_file_name")->explanation.find("it says rank 2, its name says 7"), std::string::npos);
  EXPECT_EQ(notes.count("duplicate_rank"), 0u);
}

TEST(ReadTimeline, OneFileAloneIsRankZeroWithoutANote) {
  const TemporaryFolder folder;
  const Timeline timeline = read({folder.write("trace.json", dump(noon))});
  EXPECT_EQ(timeline.ranks[0].number, 0);
  EXPECT_EQ(timeline.ranks[0].file, folder / "trace.json");
  EXPECT_TRUE(timeline.health.notes.empty());
}

TEST(ReadTimeline, TwoFilesOfOneRankAreBothKeptAndNoted) {
  const TemporaryFolder folder;
  const Timeline timeline = read({folder.write("a/rank1.json", dump(noon)), folder.write("b/rank1.json", dump(noon + 5))});
  EXPECT_EQ(timeline.ranks.size(), 2u);
  ASSERT_NE(item(timeline.health.notes, "duplicate_rank"), nullptr);
  EXPECT_EQ(timeline.health.notes.count("duplicate_rank"), 1u);
}

TEST(ReadTimeline, AFileGivenTwiceIsReadOnce) {
  const TemporaryFolder folder;
  const std::string file = folder.write("t", dump(noon, 3));
  std::filesystem::create_symlink("t", folder / "latest");
  for (const std::vector<std::string>& paths : {std::vector{file, file}, {folder.path()}, {file, folder / "latest"}}) {
    const Timeline timeline = read(paths);
    EXPECT_EQ(timeline.ranks.size(), 1u);
    ASSERT_NE(item(timeline.health.notes, "repeated_file"), nullptr);
    EXPECT_EQ(item(timeline.health.notes, "repeated_file")->count, 1u);
    EXPECT_EQ(item(timeline.health.notes, "duplicate_rank"), nullptr);
  }
}

TEST(ReadTimeline, ClocksOfOneJobStayAsTheyAre) {
  const TemporaryFolder folder;
  const Timeline timeline = read({folder.write("rank0.json", dump(noon + 700)), folder.write("rank1.json", dump(noon))});
  EXPECT_EQ(timeline.origin_ns, noon);
  EXPECT_EQ(timeline.slices.start[0], 700);
  EXPECT_EQ(timeline.slices.start[1], 0);
  EXPECT_EQ(timeline.instants[0].time, 700);
  EXPECT_EQ(timeline.health.notes.count("clock_years_away"), 0u);
}

TEST(ReadTimeline, AClockYearsAwayIsMovedAndNoted) {
  const TemporaryFolder folder;
  // Ranks 1 and 2 count from boot: they are 40 ns apart, and stay so.
  const Timeline timeline = read({folder.write("rank0.json", dump(noon)), folder.write("rank1.json", dump(1'000'000)),
                                  folder.write("rank2.json", dump(1'000'040)), folder.write("rank3.json", dump(noon - 7))});
  EXPECT_EQ(timeline.origin_ns, noon - 7);
  EXPECT_EQ(timeline.slices.start[0], 7);
  EXPECT_EQ(timeline.slices.start[1], 7);
  EXPECT_EQ(timeline.slices.start[2], 47);
  EXPECT_EQ(timeline.slices.start[3], 0);
  EXPECT_EQ(timeline.instants[2].time, 47);
  const HealthItem* moved = item(timeline.health.notes, "clock_years_away");
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->count, 2u);
  EXPECT_EQ(moved->where, "rank1.json");
  EXPECT_NE(moved->explanation.find("rank1.json: 53 years earlier"), std::string::npos) << moved->explanation;
}

TEST(ReadTimeline, FilesThatCannotBeUsedAreNoted) {
  const TemporaryFolder folder;
  const std::string good = folder.write("rank1.json", dump(noon));
  const Timeline timeline =
      read({folder / "missing.json", good, folder.write("run.nsys-rep", "NVIDIA Tegra Profiler Report 1.\n"), folder.write("x.json", "hello")});
  EXPECT_EQ(timeline.ranks.size(), 1u);
  const HealthItem* unusable = item(timeline.health.notes, "unusable_file");
  ASSERT_NE(unusable, nullptr);
  EXPECT_EQ(unusable->count, 3u);
  EXPECT_EQ(unusable->where, "missing.json");
  EXPECT_NE(unusable->explanation.find("missing.json: no such file; run.nsys-rep: Nsight Systems report"), std::string::npos) << unusable->explanation;
  EXPECT_NE(unusable->explanation.find("x.json: not a trace: first bytes \"hello\""), std::string::npos) << unusable->explanation;
}

TEST(ReadTimeline, ADirectorysOtherFilesAreNoted) {
  const TemporaryFolder folder;
  folder.write("rank0.json", dump(noon));
  folder.write("README.md", "# Run");
  const Timeline timeline = read({folder.path()});
  EXPECT_EQ(timeline.ranks.size(), 1u);
  EXPECT_EQ(timeline.ranks[0].file, folder / "rank0.json");
  const HealthItem* skipped = item(timeline.health.notes, "skipped_file");
  ASSERT_NE(skipped, nullptr);
  EXPECT_EQ(skipped->where, "README.md");
}

TEST(ReadTimeline, FailsOnlyWhereNothingCouldBeUsed) {
  const TemporaryFolder folder;
  const std::string bad = folder.write("x.json", "hello");
  const std::vector<std::string> one{bad}, two{folder / "missing", bad}, none;
  EXPECT_TRUE(read_timeline(one, {}).error().problem.starts_with("not a trace"));
  EXPECT_EQ(read_timeline(two, {}).error().problem, "no such file (and none of the other 1 files could be used either)");
  EXPECT_EQ(read_timeline(two, {}).error().file, folder / "missing");
  EXPECT_EQ(read_timeline(none, {}).error().problem, "no input was given");
}

TEST(ReadTimeline, ThreadsDoNotChangeTheResult) {
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 12; ++i) paths.push_back(folder.write("rank" + std::to_string(i) + ".json", i == 5 ? "broken" : dump(noon + 10 * i, -1, 50 * (12 - i))));
  const Timeline one = read(paths, 1);
  EXPECT_EQ(one.ranks.size(), 11u);
  for (const int threads : {2, 3, 8, 40}) {
    const Timeline many = read(paths, threads);
    ASSERT_EQ(many.slices.size(), one.slices.size());
    for (std::uint32_t i = 0; i < one.slices.size(); ++i) {
      const SliceId id{i};
      ASSERT_TRUE(many.slices.start[id] == one.slices.start[id] && many.slices.name[id] == one.slices.name[id] &&
                  many.slices.track[id] == one.slices.track[id]);
      ASSERT_EQ(many.name_of(id), one.name_of(id));
    }
    ASSERT_EQ(many.ranks.size(), one.ranks.size());
    for (std::size_t i = 0; i < one.ranks.size(); ++i) EXPECT_EQ(many.ranks[i].file, one.ranks[i].file);
    ASSERT_EQ(many.health.notes.items().size(), one.health.notes.items().size());
    for (std::size_t i = 0; i < one.health.notes.items().size(); ++i)
      EXPECT_EQ(many.health.notes.items()[i].explanation, one.health.notes.items()[i].explanation);
  }
}

TEST(ReadTimeline, ProgressIsToldTheBytesToRead) {
  const TemporaryFolder folder;
  Progress progress;
  ReadOptions options;
  options.progress = &progress;
  const std::vector<std::string> paths{folder.write("a", dump(noon)), folder.write("b", dump(noon))};
  ASSERT_TRUE(read_timeline(paths, options).has_value());
  EXPECT_EQ(progress.total(), 2 * dump(noon).size());
  EXPECT_EQ(progress.done(), progress.total());
}

}  // namespace
}  // namespace stepscope
