#include <gtest/gtest.h>

#include "base/bytes.h"
#include "read/pickle.h"
#include "read/reader.h"
#include "timeline/check.h"

namespace stepscope {
namespace {

using namespace std::string_view_literals;

Result<Timeline> read_text(std::string_view text, int expected_score = 90) {
  const auto source = open_memory(text, "dump");
  const auto reader = choose_reader(*source);
  if (!reader) return std::unexpected(reader.error());
  EXPECT_GE((*reader)->recognises(source->peek().value(), "dump"), expected_score);
  TimelineBuilder builder;
  if (auto done = (*reader)->read(*source, {}, builder); !done) return std::unexpected(done.error());
  Timeline timeline = builder.finish();
  EXPECT_TRUE(check(timeline).empty());
  return timeline;
}

// Two groups; collective 2 of group "0" hangs, collective 1 of group "5" has not begun.
constexpr std::string_view dump = R"({"version": "2.9", "nccl_version": "2.26.6",
"pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 12]"}, "5": {"name": "5", "desc": "tensor", "ranks": [0, 12]}},
"pg_status": {"0": {"last_enqueued_collective": 2, "last_started_collective": 2, "last_completed_collective": 1}},
"entries": [
{"process_group": ["0", "default_pg"], "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 1700000000000000000,
 "input_sizes": [[4, 2]], "input_dtypes": ["Float"], "state": "completed", "time_discovered_started_ns": 1700000000000100000, "time_discovered_completed_ns": 1700000000000400000,
 "is_p2p": false, "duration_ms": 0.3, "frames": [{"name": "secret_function", "filename": "/home/somebody/train.py", "line": 3}]},
{"process_group": ["0", "default_pg"], "collective_seq_id": 2, "p2p_seq_id": 0, "op_id": 2, "profiling_name": "nccl:all_reduce", "time_created_ns": 1700000000001000000,
 "input_sizes": [[4, 2]], "state": "started", "time_discovered_started_ns": 1700000000001100000, "time_discovered_completed_ns": null, "is_p2p": false},
{"process_group": ["5", "tensor"], "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 3, "profiling_name": "nccl:all_gather", "time_created_ns": 1700000000002000000,
 "input_sizes": [[8]], "state": "scheduled", "time_discovered_started_ns": null, "time_discovered_completed_ns": null, "is_p2p": false}]})";

TEST(FlightRecorder, EntriesBecomeInstantsAndSlicesPerProcessGroup) {
  const auto timeline = read_text(dump, 95);
  ASSERT_TRUE(timeline.has_value()) << timeline.error().message();
  ASSERT_EQ(timeline->ranks.size(), 1u);
  const Rank& rank = timeline->ranks[0];
  EXPECT_EQ(rank.producer, "PyTorch flight recorder 2.9 (NCCL 2.26.6)");
  EXPECT_EQ(rank.events, 3u);
  EXPECT_EQ(rank.world_size, 3);
  ASSERT_EQ(rank.groups.size(), 2u);
  EXPECT_EQ(rank.groups[0].name, "0");
  EXPECT_EQ(rank.groups[0].description, "default_pg");
  EXPECT_EQ(rank.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 12}));
  EXPECT_EQ(rank.groups[1].ranks, (std::vector<std::int64_t>{0, 12}));

  ASSERT_EQ(timeline->tracks.size(), 2u);
  EXPECT_EQ(timeline->tracks[0].label, "process group 0 default_pg");
  EXPECT_EQ(timeline->tracks[1].label, "process group 5 tensor");
  ASSERT_EQ(timeline->slices.size(), 1u);  // the one whose start and end are known
  const SliceId slice{0};
  EXPECT_EQ(timeline->origin_ns + timeline->slices.start[slice], 1700000000000100000);
  EXPECT_EQ(timeline->slices.duration[slice], 300'000);
  EXPECT_EQ(timeline->slices.kind[slice], SliceKind::other);
  EXPECT_EQ(timeline->name_of(slice), "nccl:all_reduce");
  EXPECT_EQ(
      timeline->detail_of(slice),
      R"("state": "completed", "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 1, "is_p2p": false, "input_sizes": [[4,2]], "input_dtypes": ["Float"], "duration_ms": 0.3)");
  ASSERT_EQ(timeline->instants.size(), 3u);
  EXPECT_EQ(timeline->origin_ns + timeline->instants[2].time, 1700000000002000000);
  EXPECT_EQ(timeline->details[timeline->instants[2].detail],
            R"("state": "scheduled", "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 3, "is_p2p": false, "input_sizes": [[8]])");
}

TEST(FlightRecorder, WhatDidNotCompleteIsInTheHealthNotes) {
  const auto timeline = read_text(dump);
  ASSERT_TRUE(timeline.has_value());
  const HealthList& notes = timeline->health.notes;
  EXPECT_EQ(notes.count("collective_not_completed"), 1u);
  EXPECT_EQ(notes.count("collective_not_started"), 1u);
  ASSERT_EQ(notes.items().size(), 3u);
  EXPECT_EQ(notes.items()[0].where, "collective 2 nccl:all_reduce [[4,2]] of process group 0 (default_pg)");
  EXPECT_EQ(notes.items()[1].where, "collective 1 nccl:all_gather [[8]] of process group 5 (tensor)");
  EXPECT_EQ(notes.items()[2].kind, "process_group_behind");
  EXPECT_EQ(notes.items()[2].where, "process group 0: collective 2 enqueued, 1 completed");
  EXPECT_TRUE(timeline->health.repairs.empty());
}

TEST(FlightRecorder, CutAnywhereYieldsItsWholeEntriesOrARefusal) {
  const std::string text(dump);
  std::size_t entries = 0;
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string part = text.substr(0, cut);
    const auto timeline = read_text(part, 0);
    if (!timeline) {
      EXPECT_FALSE(timeline.error().remedy.empty());
      continue;
    }
    EXPECT_EQ(timeline->health.repairs.count("truncated"), 1u) << cut;
    EXPECT_GE(timeline->ranks[0].events, entries) << cut;
    entries = timeline->ranks[0].events;
  }
  EXPECT_EQ(entries, 3u);
}

TEST(FlightRecorder, AbsurdValuesAreLeftOut) {
  const auto timeline =
      read_text(R"({"version": 3, "pg_config": {"0": 7, "1": {"ranks": "[99999999999999999999, -3, x]"}}, "pg_status": [], "entries": [1, null, {},
    {"process_group": "x", "time_created_ns": -5}, {"process_group": [], "time_created_ns": 9223372036854775807},
    {"time_created_ns": 5, "time_discovered_started_ns": 9, "time_discovered_completed_ns": 3, "state": "completed"},
    {"time_created_ns": 1e30, "state": 4}]})");
  ASSERT_TRUE(timeline.has_value()) << timeline.error().message();
  EXPECT_EQ(timeline->health.repairs.count("entry_without_time"), 4u);
  EXPECT_EQ(timeline->instants.size(), 1u);
  EXPECT_EQ(timeline->slices.size(), 0u);
}

// What Python's pickle.dumps({"version": "2.9", "entries": [{"collective_seq_id": 300, "x": (1, -2, 2.5, True, None)}], "pg_config": {}}, protocol=4) writes.
constexpr std::string_view pickle_4 =
    "\x80\x04\x95\x64\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x07version\x94\x8c\x03"
    "2.9\x94\x8c\x07"
    "entries\x94]\x94}\x94(\x8c\x11"
    "collective_seq_id\x94M,\x01\x8c\x01x\x94(K\x01J\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00\x00\x88Nt\x94u"
    "a\x8c\tpg_config\x94}\x94u."sv;

TEST(Pickle, PlainDataBecomesJson) {
  const auto json = pickle_as_json(pickle_4);
  ASSERT_TRUE(json.has_value()) << json.error().message();
  EXPECT_EQ(*json, R"({"version":"2.9","entries":[{"collective_seq_id":300,"x":[1,-2,2.5,true,null]}],"pg_config":{}})");
}

TEST(Pickle, SharedValuesAndEscapes) {
  // a = ["q\"\n"]; [a, a] : EMPTY_LIST MEMOIZE MARK EMPTY_LIST MEMOIZE text APPEND BINGET 1 APPENDS
  constexpr std::string_view shared =
      "\x80\x04]\x94(]\x94\x8c\x03q\"\n\x61h\x01"
      "e."sv;
  const auto json = pickle_as_json(shared);
  ASSERT_TRUE(json.has_value()) << json.error().message();
  EXPECT_EQ(*json, R"([["q\"\u000a"],["q\"\u000a"]])");
}

TEST(Pickle, OpcodesThatCouldRunCodeAreRefused) {
  const std::pair<std::string, const char*> pickles[] = {
      {std::string("\x80\x02") + "cbuiltins\nprint\n.", "GLOBAL"},
      {std::string("\x80\x04]R."), "REDUCE"},
      {std::string("\x80\x04\x8c\x02os\x8c\x06system\x93."), "STACK_GLOBAL"},
      {std::string("\x80\x04]b."), "BUILD"},
      {std::string("\x80\x04(ios\nsystem\n."), "INST"},
      {std::string("\x80\x04]\x81."), "NEWOBJ"},
      {std::string("\x80\x04Pabc\n."), "PERSID"},
      {std::string("\x80\x04\xff."), "0xff"},
  };
  for (const auto& [pickle, name] : pickles) {
    const auto json = pickle_as_json(pickle);
    ASSERT_FALSE(json.has_value()) << name;
    EXPECT_TRUE(json.error().problem.starts_with("pickle opcode " + std::string(name) + " is outside the allowed set")) << json.error().problem;
    EXPECT_TRUE(json.error().problem.ends_with("nothing was executed"));
    EXPECT_TRUE(json.error().byte.has_value());
  }
}

TEST(Pickle, EveryCutAndEveryFlipEndsInAnAnswerOrAnError) {
  std::size_t errors = 0;
  for (std::size_t cut = 0; cut < pickle_4.size(); ++cut) {
    EXPECT_FALSE(pickle_as_json(pickle_4.substr(0, cut)).has_value());
    std::string flipped(pickle_4);
    for (int bit = 0; bit < 8; ++bit) {
      flipped[cut] = static_cast<char>(pickle_4[cut] ^ (1 << bit));
      if (!pickle_as_json(flipped)) ++errors;
    }
  }
  EXPECT_GT(errors, 100u);
}

TEST(Pickle, ValuesOutOfProportionAreRefused) {
  // A list that holds itself.
  const auto itself = pickle_as_json(
      "\x80\x04]\x94h\x00"
      "a."sv);
  ASSERT_FALSE(itself.has_value());
  // Each list holds the one before twice: 2^60 leaves.
  std::string doubling("\x80\x02]q\x00", 5);
  for (char i = 1; i < 60; ++i) doubling += {']', 'q', i, '(', 'h', static_cast<char>(i - 1), 'h', static_cast<char>(i - 1), 'e'};
  std::string all = "\x80\x02(" + doubling.substr(2) + "t.";
  const auto bomb = pickle_as_json(all);
  ASSERT_FALSE(bomb.has_value());
  EXPECT_EQ(bomb.error().problem, "pickle's value is out of proportion to its size");
}

}  // namespace
}  // namespace stepscope
