// The data of the page: what it says, what it leaves out, and that it fits.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <limits>

#include "report/page_data.h"
#include "report/page_document.h"
#include "timeline/builder.h"

namespace stepscope {
namespace {

struct Capture {
  Timeline timeline;
  Facts facts;
  Findings findings;
  ReportInput input() const { return {timeline, facts, findings, 0.5, 0.25}; }
};

Rank rank_of(std::string file, std::uint64_t bytes) {
  Rank rank;
  rank.file = std::move(file);
  rank.bytes = bytes;
  rank.events = 3;
  return rank;
}

RankFindings findings_of(std::int64_t rank, std::string file, Section on_device) {
  RankFindings findings;
  findings.rank = rank;
  findings.file = std::move(file);
  findings.devices.emplace_back();
  findings.devices[0].device = "0";
  findings.devices[0].sections.push_back(std::move(on_device));
  return findings;
}

Capture small_run() {
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(rank_of("/home/ann/secret/trace.json", 1000));
  const TrackId thread = builder.track(rank, TrackKind::thread, "17", "18");
  const DeviceId device = builder.device(rank, "0");
  const TrackId stream = builder.track(rank, TrackKind::stream, "0", "7", device, 7);
  builder.track(thread).owner_process = builder.track(stream).owner_process = builder.names().intern("17");
  builder.track(thread).label = "thread 18 (python3)";
  builder.add_slice(SliceKind::python_function, thread, 0, 90, builder.names().intern("/home/ann/secret/train.py(3): main"));
  builder.add_slice(SliceKind::runtime_call, thread, 10, 5, builder.names().intern("cudaLaunchKernel"), 1);
  builder.add_slice(SliceKind::kernel, stream, 20, 50,
                    builder.names().intern("void at::native::vectorized_elementwise_kernel<4, at::native::AbsFunctor<long>>(int)"), 1, no_number,
                    builder.details().intern(R"("grid": [1, 2, 3], "HOSTNAME": "gpu-box-7", "nested": {"token": "x"}, "block": [4,1,1])"));
  Capture run{builder.finish(), {}, {}};
  run.facts = derive(run.timeline, {});
  const Section section{.key = "kernels",
                        .title = "Kernels",
                        .figures = {{"count", "Count", Unit::count, std::int64_t{1}}, {"odd", "Odd", Unit::ratio, std::numeric_limits<double>::quiet_NaN()}},
                        .tables = {{"kernels",
                                    "Kernels",
                                    {{"name", "Name"}, {"total_ns", "Total", Unit::nanoseconds}},
                                    {{std::string("a name that is longer than twenty-four bytes"), std::int64_t{50}}, {Value{}, 0.5}}}}};
  run.findings.ranks = {findings_of(0, "/home/ann/secret/trace.json", section), findings_of(1, "b.json", section)};
  run.findings.sections = {{.key = "health", .title = "Health", .summary = "read /home/ann/secret/trace.json"}};
  return run;
}

std::string document_of(const Capture& run, const PageLimits& limits = {}) {
  const TimelineView view = view_timeline(run.timeline, run.facts, 1000);
  return page_document(run.input(), view, encode_columns(view, 100), limits);
}

TEST(PageDocument, HoldsFindingsAndTheFrameOfTheTimeline) {
  const std::string text = document_of(small_run());
  simdjson::dom::parser parser;
  simdjson::dom::element page;
  ASSERT_EQ(parser.parse(text).get(page), simdjson::SUCCESS) << text;
  EXPECT_EQ(std::string_view(page["schema"]), "stepscope.page/1");
  EXPECT_EQ(std::uint64_t(page["meta"]["slices"]), 3u);
  EXPECT_GE(page["verdict"].get_array().value().size(), 1u);
  // Sections of like key stand together; owners name theirs.
  EXPECT_EQ(std::string_view(page["sections"].at(0)["key"]), "health");
  EXPECT_EQ(std::uint64_t(page["findings"]["sections"].at(0)), 0u);
  EXPECT_EQ(std::uint64_t(page["findings"]["ranks"].at(0)["devices"].at(0)["sections"].at(0)), 1u);
  EXPECT_EQ(std::uint64_t(page["findings"]["ranks"].at(1)["devices"].at(0)["sections"].at(0)), 2u);
  const simdjson::dom::element table = page["sections"].at(1)["tables"].at(0);
  const auto shared = std::uint64_t(table["rows"].at(0).at(0).at(0));
  EXPECT_EQ(std::string_view(page["strings"].at(shared)), "a name that is longer than twenty-four bytes");
  EXPECT_EQ(std::uint64_t(table["rows"].at(0).at(1)), 50u);
  EXPECT_TRUE(table["rows"].at(1).at(0).is_null());
  EXPECT_TRUE(page["sections"].at(1)["figures"].at(1)["value"].is_null()) << "NaN is absent";
  const simdjson::dom::element timeline = page["timeline"];
  EXPECT_EQ(std::int64_t(timeline["begin"]), 0);
  EXPECT_EQ(std::int64_t(timeline["end"]), 90);
  EXPECT_EQ(timeline["tracks"].get_array().value().size(), 2u);
  EXPECT_EQ(std::string_view(timeline["tracks"].at(1)["kind"]), "stream");
  EXPECT_EQ(std::string_view(timeline["details"].at(0)), "grid\t[1, 2, 3]\nblock\t[4,1,1]");
  bool readable = false;
  for (const simdjson::dom::element label : timeline["short_labels"].get_array())
    readable = readable || (label.is_string() && std::string_view(label) == "vectorized_elementwise_kernel<AbsFunctor<long>>");
  EXPECT_TRUE(readable);
}

TEST(PageDocument, NamesNoDirectoryNoUserNoHost) {
  const std::string text = document_of(small_run());
  for (const std::string_view secret : {"/home", "ann/", "secret", "gpu-box-7", "HOSTNAME", "token"}) EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  EXPECT_NE(text.find("train.py(3): main"), std::string::npos);
  EXPECT_NE(text.find("trace.json"), std::string::npos);
}

// A description from a file (--gpu FILE) has its ceilings too; the page opens on the device that the terminal page shows.
TEST(PageDocument, NamesThePeaksOfTheGpusAndTheDeviceToOpenOn) {
  Capture run = small_run();
  run.findings.gpus.emplace_back();
  run.findings.gpus[0].name = "mine";
  run.findings.gpus[0].title = "My GPU";
  run.findings.gpus[0].matrix_bf16 = 2e15;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    DeviceFindings& device = run.findings.ranks[rank].devices[0];
    device.gpu = "mine";
    device.sections.push_back({.key = "all", .title = "All", .figures = {{"span_ns", "Span", Unit::nanoseconds, static_cast<std::int64_t>(100 + rank)}}});
  }
  simdjson::dom::parser parser;
  const std::string text = document_of(run);
  const simdjson::dom::element meta = parser.parse(text).value()["meta"];
  EXPECT_EQ(std::string_view(meta["gpus"]["mine"]["title"]), "My GPU");
  EXPECT_EQ(double(meta["gpus"]["mine"]["bf16"]), 2e15);
  EXPECT_EQ(meta["gpus"]["mine"]["fp8"].error(), simdjson::NO_SUCH_FIELD);
  EXPECT_EQ(std::int64_t(meta["opens_on"].at(0)), 1);
  EXPECT_EQ(std::int64_t(meta["opens_on"].at(1)), 0);
  EXPECT_EQ(parser.parse(document_of(small_run())).value()["meta"]["opens_on"].error(), simdjson::NO_SUCH_FIELD);
}

TEST(PageDocument, SaysHowManyRowsATableHad) {
  Capture run = small_run();
  Table& table = run.findings.ranks[0].devices[0].sections[0].tables[0];
  for (int row = 0; row < 500; ++row) table.rows.push_back({std::to_string(row), std::int64_t{row}});
  Table series = table;
  series.key = "series";
  run.findings.ranks[0].devices[0].sections[0].tables.push_back(series);
  const std::string text = document_of(run, {.table_rows = 20, .text_bytes = 100});
  simdjson::dom::parser parser;
  const simdjson::dom::element tables = parser.parse(text).value()["sections"].at(1)["tables"];
  EXPECT_EQ(tables.at(0)["rows"].get_array().value().size(), 20u);
  EXPECT_EQ(std::uint64_t(tables.at(0)["rows_total"]), 502u);
  // A series over time is thinned, not cut off.
  EXPECT_EQ(tables.at(1)["rows"].get_array().value().size(), 300u);
  EXPECT_GT(std::int64_t(tables.at(1)["rows"].at(299).at(1)), 480);
}

TEST(PageDocument, IsTheSameForTheSameInput) {
  EXPECT_EQ(document_of(small_run()), document_of(small_run()));
}

TEST(PageDocument, OfAnEmptyTimelineIsReadable) {
  Capture run;
  simdjson::dom::parser parser;
  const std::string text = document_of(run);
  EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << text;
}

TEST(PageData, FitsItsBudgetWhateverTheNames) {
  Capture run;
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(rank_of("a.json", 2'000'000));
  const TrackId thread = builder.track(rank, TrackKind::thread, "1", "1");
  std::uint64_t state = 1;
  Table table{"kernels", "Kernels", {{"name", "Name"}, {"total_ns", "Total", Unit::nanoseconds}}, {}};
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (int word = 0; word < 30; ++word) name += std::to_string(state = state * 6364136223846793005u + 1442695040888963407u);
    builder.add_slice(SliceKind::operation, thread, i * 1'000, static_cast<Nanoseconds>(state % 1'000), builder.names().intern(name), no_number, no_number,
                      builder.details().intern("\"Input Dims\": [" + name + "]"));
    if (i < 5'000) table.rows.push_back({name, static_cast<std::int64_t>(state % 1'000'000)});
  }
  run.timeline = builder.finish();
  run.facts = derive(run.timeline, {});
  run.findings.ranks = {findings_of(0, "a.json", {.key = "operators", .title = "Operators", .tables = {table}})};
  EXPECT_LE(pack_page_data(run.input()).size(), 200'000u);
}

}  // namespace
}  // namespace stepscope
