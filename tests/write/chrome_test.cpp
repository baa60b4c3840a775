// Our own export, read again: the same slices to the nanosecond, the same links, the same figures; and text that any JSON parser takes.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <map>
#include <string>

#include "analyze/breakdown.h"
#include "facts/small_timeline.h"
#include "lift/host_bound.h"
#include "lift/lift.h"
#include "read/reader.h"
#include "simulate/critical_path.h"
#include "simulate/replay.h"
#include "temporary_folder.h"
#include "write/chrome_events.h"
#include "write/json_members.h"
#include "write/writer.h"

namespace stepscope {

extern const Writer chrome_writer;

namespace {

std::string exported(const Timeline& timeline, const Facts& facts, const Lifted* lifted, const ReplayTimes* times) {
  std::string text;
  const Result<void> written = chrome_writer.write({timeline, facts, lifted, times}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  EXPECT_TRUE(written.has_value());
  return text;
}

Timeline read_text(const std::string& text) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths{folder.write("trace.json", text)};
  Result<Timeline> timeline = read_timeline(paths, {.threads = 1});
  EXPECT_TRUE(timeline.has_value());
  return *std::move(timeline);
}

TEST(DecimalMicroseconds, AreExact) {
  EXPECT_EQ(decimal_microseconds(0), "0.000");
  EXPECT_EQ(decimal_microseconds(7), "0.007");
  EXPECT_EQ(decimal_microseconds(1'712'195'495'528'028'202), "1712195495528028.202");
  EXPECT_EQ(decimal_microseconds(-1'001), "-1.001");
  EXPECT_EQ(decimal_microseconds(-9'223'372'036'854'775'807 - 1), "-9223372036854775.808");
}

TEST(NumberOrString, KeepsWhatIsNoPlainNumberAsText) {
  EXPECT_EQ(number_or_string("3113936"), "3113936");
  EXPECT_EQ(number_or_string("-1"), "-1");
  EXPECT_EQ(number_or_string("0"), "0");
  for (const char* text : {"007", "", "-", "1e5", "Spans", "1234567890123456", "0x0"}) EXPECT_EQ(number_or_string(text), '"' + std::string(text) + '"');
}

TEST(JsonMembers, OnlyStrictJsonPasses) {
  for (const char* good : {"", "  ", R"("a": 1)", R"("grid": [864,1,1], "b": {"c": -1.5e-3, "d": [], "e": {}}, "f": null, "g": true)", R"("a\"\u00e9\\": "é")"})
    EXPECT_TRUE(are_json_members(good)) << good;
  for (const char* bad : {"a: 1", R"("a": 1,)", R"("a")", R"("a": 01)", R"("a": NaN)", R"("a": 1})", R"("a": [1, ])", R"("a": "b)", R"("a": "\x")",
                          "\"a\": \"\n\"", R"("a": -)", R"("a": 1.)", R"("a": 1e)", "\"a\": \"\xFF\"", R"("a": 1}, {"b": 2)", R"("a": "\u12g4")"})
    EXPECT_FALSE(are_json_members(bad)) << bad;
  EXPECT_FALSE(are_json_members("\"a\": " + std::string(100'000, '[')));  // no depth eats the stack
}

TEST(Chrome, EscapesWhatNamesHold) {
  SmallTimeline t;
  const TrackId thread = t.thread("main \"thread\"\n"), stream = t.stream(7);
  t.operation(thread, "quote \" back \\ line \n tab \t bad \xFF </script>", 0, 5000);
  t.launched_kernel(thread, stream, "kernel<\"x\">", 1000, 2001, 3);
  t.finish();
  const std::string text = exported(t.timeline, t.facts, nullptr, nullptr);
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(padded).get(document), simdjson::SUCCESS) << text;
  const Timeline again = read_text(text);
  EXPECT_EQ(again.names[again.slices.name[SliceId{0}]], "quote \" back \\ line \n tab \t bad \xEF\xBF\xBD </script>");
  EXPECT_EQ(again.slices.start[SliceId{2}] - again.slices.start[SliceId{0}], 2001);
  EXPECT_EQ(again.slices.duration[SliceId{2}], 3);
}

// Of every real trace of one rank (and each rank of others alone): same rows, same facts, same figures per device.
TEST(Chrome, ReadsBackAsItWas) {
  const std::filesystem::path traces = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces";
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(traces)) {
    if (!entry.is_directory() || entry.path().filename() == "expected") continue;
    const Result<std::vector<std::string>> files = find_inputs(entry.path().string());
    if (!files || files->empty()) continue;
    SCOPED_TRACE(files->front());
    const std::vector<std::string> paths{files->front()};
    const Result<Timeline> timeline = read_timeline(paths, {.threads = 1});
    ASSERT_TRUE(timeline.has_value());
    const Facts facts = derive(*timeline, {});
    const Lifted lifted = lift(*timeline, facts);
    const ReplayTimes times = replay(lifted.graph);
    const Timeline again = read_text(exported(*timeline, facts, &lifted, &times));
    const Facts facts_again = derive(again, {});
    ++seen;
    const SliceColumns &a = timeline->slices, &b = again.slices;
    ASSERT_EQ(a.size(), b.size());
    std::size_t different = 0;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      const SliceId id{i};
      different += a.start[id] != b.start[id] || a.duration[id] != b.duration[id] || a.kind[id] != b.kind[id] || a.correlation[id] != b.correlation[id] ||
                   timeline->name_of(id) != again.name_of(id) || facts.launch[id] != facts_again.launch[id] || facts.operation[id] != facts_again.operation[id];
    }
    EXPECT_EQ(different, 0u);
    // The absolute time of the first slice is that of the file, written once: all others count from it.
    EXPECT_EQ(again.origin_ns, 0);
    EXPECT_EQ(timeline->ranks.front().base_time_ns + timeline->origin_ns, again.ranks.front().base_time_ns);
    EXPECT_EQ(timeline->flows.size(), again.flows.size());
    EXPECT_EQ(timeline->python.size(), again.python.size());
    EXPECT_EQ(timeline->memory.size(), again.memory.size());
    ASSERT_EQ(facts.devices.size(), facts_again.devices.size());
    for (std::size_t d = 0; d < facts.devices.size(); ++d) {
      std::vector<Interval> windows, windows_again;
      for (const StepWindow& window : facts.devices[d].windows) windows.push_back(window.window);
      for (const StepWindow& window : facts_again.devices[d].windows) windows_again.push_back(window.window);
      ASSERT_EQ(windows, windows_again);
      const Nanoseconds end = a.end(facts.devices[d].slices[facts.devices[d].slices.size() - 1]);
      windows.push_back({a.start[facts.devices[d].slices[0]], end});
      const auto before = breakdowns(*timeline, facts, facts.devices[d].slices, windows);
      const auto after = breakdowns(again, facts_again, facts_again.devices[d].slices, windows);
      for (std::size_t w = 0; w < windows.size(); ++w) {
        const auto figures = breakdown_figures(before[w]), figures_again = breakdown_figures(after[w]);
        for (std::size_t f = 0; f < figures.size(); ++f) EXPECT_EQ(figures[f].value, figures_again[f].value) << figures[f].key;
      }
    }
  }
  EXPECT_GE(seen, 25u);
}

// The track of the critical path covers the window, and its arrows join what is on it.
TEST(Chrome, DrawsTheCriticalPath) {
  SmallTimeline t;
  host_bound_capture(t);
  const Lifted lifted = lift(t.timeline, t.facts);
  const ReplayTimes times = replay(lifted.graph);
  const std::string text = exported(t.timeline, t.facts, &lifted, &times);
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(padded).get(document), simdjson::SUCCESS);
  std::map<std::string, int> phases;
  double covered = 0;
  for (const simdjson::dom::element event : document["traceEvents"].get_array()) {
    std::string_view category;
    if (event["cat"].get(category) != simdjson::SUCCESS || category != "stepscope_critical_path") continue;
    const std::string_view phase = event["ph"].get_string();
    ++phases[std::string(phase)];
    if (phase == "X") covered += event["dur"].get_double();
  }
  EXPECT_DOUBLE_EQ(covered, 1.150);  // the window [100, 1250) ns, in µs
  EXPECT_EQ(phases["X"], 4);         // between operators, the operator, launch latency, the kernel
  EXPECT_EQ(phases["s"], 2);
  EXPECT_EQ(phases["f"], 2);
}

TEST(Chrome, AFailingSinkEndsTheWriting) {
  SmallTimeline t;
  t.kernel(t.stream(7), "gemm", 0, 100);
  t.finish();
  const Result<void> written = chrome_writer.write(
      {t.timeline, t.facts}, [](std::string_view) -> Result<void> { return std::unexpected(Error{"out.json", {}, "the disk is full", ""}); });
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().problem, "the disk is full");
}

}  // namespace
}  // namespace stepscope
