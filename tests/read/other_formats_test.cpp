// Every format that is recognised only to be refused: true beginnings of each, and what the refusal tells the user to do.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {
namespace {

using namespace std::string_view_literals;

std::string reader_of(std::string_view bytes) {
  const auto source = open_memory(bytes, "input");
  const auto reader = choose_reader(*source);
  return reader ? std::string((*reader)->name) : "";
}

Error refusal_of(std::string_view bytes, std::string path = "input") {
  const auto source = open_memory(bytes, std::move(path));
  const auto reader = choose_reader(*source);
  if (!reader) return reader.error();
  TimelineBuilder builder;
  const auto done = (*reader)->read(*source, {}, builder);
  return done ? Error{"", {}, "was read", "", {}} : done.error();
}

TEST(OtherFormats, NsightReportTellsTheExportCommand) {
  const Error error = refusal_of("NVIDIA Tegra Profiler Report 2024@5@1@113-0v0.\n\x0bLocal (CLI)"sv, "run/gpt.nsys-rep");
  EXPECT_TRUE(error.remedy.starts_with("Export it: nsys export --type sqlite --output run/gpt.sqlite run/gpt.nsys-rep")) << error.remedy;
  EXPECT_EQ(error.kind, Error::Kind::unusable);
}

TEST(OtherFormats, Sqlite) {
  EXPECT_EQ(refusal_of("SQLite format 3\0... CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"sv).problem, "Nsight Systems SQLite export: not read yet");
  EXPECT_EQ(refusal_of("SQLite format 3\0... CREATE TABLE rocpd_kernel"sv).problem, "ROCm rocpd database: not read yet");
  EXPECT_EQ(refusal_of("SQLite format 3\0... CREATE TABLE moz_places"sv).problem, "SQLite database without the tables of an Nsight Systems export: not read");
}

TEST(OtherFormats, XSpace) {
  EXPECT_EQ(refusal_of("\x0a\x12\x08\x01\x12\x0e/host:metadata"sv).problem, "XPlane profile (XSpace protobuf): not read yet");
  EXPECT_EQ(refusal_of("\x0a\x10\x12\x0e/device:GPU:0\x20"sv).problem, "XPlane profile (XSpace protobuf): not read yet");  // id 0 is left out
  const Error mangled = refusal_of("\x0a\xef\xbf\xbd\xef\xbf\xbd\x06\x08\x02\x12\x0a/device:TPU:0\x1a"sv);
  EXPECT_EQ(mangled.problem, "not a valid XSpace: bytes look re-encoded as UTF-8");
  EXPECT_EQ(mangled.byte, 1u);
}

TEST(OtherFormats, Perfetto) {
  // A packet with trusted_packet_sequence_id and sequence flags, then one with a track descriptor.
  EXPECT_EQ(reader_of("\x0a\x04\x50\x07\x68\x01\x0a\x08\x50\x07\xe2\x03\x03\x08\x64\x1a\x0a\x02\x50\x07"sv), "perfetto");
  EXPECT_NE(refusal_of("\x0a\x04\x50\x07\x68\x01\x0a\x02\x50\x07"sv).remedy, "");
  EXPECT_EQ(reader_of("\x0a\x04\x52\x01x\x00"sv), "");  // sequence id as text: no packet
}

TEST(OtherFormats, ExecutionTraces) {
  EXPECT_EQ(refusal_of(R"({ "schema": "1.0.1", "pid": 563677, "time": "2023-07-14 11:53:07", "start_ts": 6278907328, "nodes": [ {)").problem,
            "PyTorch execution trace: not read yet");
  EXPECT_EQ(refusal_of("\x12\x12\x10\x0a\x06schema\xea\x01\x05"
                       "1.0.1\x00\x00"sv)
                .problem,
            "Chakra execution trace: not read yet");
  EXPECT_EQ(refusal_of("\x07\x0a\x05"
                       "0.0.4\x42"sv)
                .problem,
            "Chakra execution trace: not read yet");
}

TEST(OtherFormats, JsonLinesAndTools) {
  EXPECT_EQ(refusal_of(R"({"rocprofiler-sdk-tool":[{"metadata":{"node":{"id":0)").problem, "rocprofv3 JSON: not read yet");
  EXPECT_EQ(refusal_of(R"({"header": {"id": "0x7f", "rank": 0}, "metadata": {}, "coll_perf": {"coll": "AllReduce"}})"
                       "\n{\"header\"")
                .problem,
            "NCCL inspector log: not read yet");
  EXPECT_EQ(refusal_of("[[-1, 1, 37888, 7], [-1, 1, 512, 7], [").problem, "PyTorch memory timeline (raw): not read yet");
}

TEST(OtherFormats, Archives) {
  std::string tar(512, '\0');
  tar.replace(0, 4, "data");
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(refusal_of(tar).problem, "a tar archive");
  EXPECT_EQ(refusal_of("PK\x03\x04...."sv).problem, "a zip archive (PyTorch's .pt files are such)");
  EXPECT_EQ(refusal_of("\xfd"
                       "7zXZ\0"sv)
                .problem,
            "compressed with xz");
  EXPECT_EQ(refusal_of("\x1f\xef\xbf\xbd\x08\x00"sv).problem, "gzip whose bytes were re-encoded as UTF-8");
}

TEST(OtherFormats, UnknownContentIsShownWithWhatCanBeRead) {
  const Error error = refusal_of("# Notes\nabout \x01\xff the \"run\"");
  EXPECT_TRUE(error.problem.starts_with("not a trace: first bytes \"# Notes\\nabout \\x01\\xff the \\\"ru")) << error.problem;
  EXPECT_TRUE(error.remedy.starts_with("Stepscope reads ")) << error.remedy;
  EXPECT_NE(error.remedy.find("flight recorder"), std::string::npos);
  EXPECT_EQ(error.remedy.find("rocprof"), std::string::npos);  // refused, so not offered
  EXPECT_EQ(refusal_of("").problem, "is empty");
  EXPECT_EQ(refusal_of("\x1f\x8b\x08\x00"sv).problem, "gzip: stream ends early at byte 4 of the compressed file, after 0 bytes of content");
}

TEST(OtherFormats, EveryReaderIsComplete) {
  for (const Reader* reader : all_readers()) {
    EXPECT_FALSE(reader->name.empty() || reader->help.empty() || reader->inputs.empty()) << reader->name;
    EXPECT_EQ(reader->recognises("", "empty"), 0) << reader->name;
    EXPECT_EQ(reader->recognises("plain text\n", "notes.txt"), 0) << reader->name;
  }
}

TEST(OtherFormats, SharedSamplesAreRecognised) {
  const std::string root = STEPSCOPE_SHARED_DIR;
  if (!std::filesystem::exists(root + "/formats")) GTEST_SKIP() << root << " is absent";
  const std::pair<const char*, const char*> samples[] = {
      {"formats/et/chakra_1.0.2.tgz", "archive"},
      {"formats/et/chakra_feeder_tests.tar.gz", "archive"},
      {"formats/et/hta_simple_add_et.json.gz", "execution_trace"},
      {"formats/et/param_1.0.3-chakra.0.0.4_resnet_1gpu_et.json.gz", "execution_trace"},
      {"formats/et/param_linear_et.json.gz", "execution_trace"},
      {"formats/memory/hta_memory_timeline.raw.gz", "memory_timeline"},
      {"formats/nccl/52_flight_recorder_rank0.json", "flight_recorder"},
      {"formats/nccl/52_flight_recorder_rank1.pickle", "pickle"},
      {"formats/nccl/53_nccl_inspector.log", "nccl_inspector"},
      {"formats/perfetto/own_trackevent.pftrace", "perfetto"},
      {"formats/rocprof/908_results.json.gz", "rocprof"},
      {"formats/xplane/jax_conv_minimal_08__tw003.xplane.pb", "xplane"},
      {"formats/xplane/tpu_inference_2.xplane.pb", "xplane"},
      {"nsys/bitonic_2025.nsys-rep.head", "nsight_report"},
      {"nsys/mordred.qdrep.head", "nsight_report"},
      {"nsys/sgemm_2023.nsys-rep.head", "nsight_report"},
      {"nsys/mfu_2gpu_after.sqlite.gz", "nsight_sqlite"},
      {"nsys/mock.sqlite.gz", "nsight_sqlite"},
      {"nsys/mordred_a.sqlite.gz", "nsight_sqlite"},
      {"nsys/pipit_cloverleaf_cuda.sqlite.gz", "nsight_sqlite"},
  };
  for (const auto& [file, expected] : samples) {
    const auto source = open_bytes(root + "/" + file);
    ASSERT_TRUE(source.has_value()) << source.error().message();
    const auto reader = choose_reader(**source);
    ASSERT_TRUE(reader.has_value()) << reader.error().message();
    EXPECT_EQ((*reader)->name, expected) << file;
    if ((*reader)->reads) continue;
    TimelineBuilder builder;
    const auto done = (*reader)->read(**source, {}, builder);
    ASSERT_FALSE(done.has_value()) << file;
    EXPECT_FALSE(done.error().remedy.empty()) << file;
    const bool sqlite = std::string_view(file).contains(".sqlite");
    EXPECT_EQ(done.error().problem == "Nsight Systems SQLite export: not read yet", sqlite) << file;
  }
}

TEST(Head, TopLevelKeys) {
  EXPECT_EQ(top_level_keys(R"(  {"a": {"b": 1, "c": [{"d": 2}]}, "e\"f" : [1, "g"], "h": "i", "j)"), (std::vector<std::string_view>{"a", "e\\\"f", "h"}));
  EXPECT_EQ(top_level_keys("\xef\xbb\xbf{\"a\":1}{\"b\":2}"), std::vector<std::string_view>{"a"});
  EXPECT_TRUE(top_level_keys("[{\"a\":1}]").empty());
  EXPECT_TRUE(top_level_keys("").empty());
  EXPECT_TRUE(top_level_keys("{\"a\\").empty());
  EXPECT_TRUE(top_level_keys("{}}}{{\"").empty());
}

TEST(Head, WireFields) {
  std::string_view message =
      "\x08\x96\x01\x12\x03"
      "abc\x1d\x01\x00\x00\x00\x21\x02\x00\x00\x00\x00\x00\x00\x00\x2a\x7f"
      "cut"sv;
  const auto varint = next_field(message), text = next_field(message), fixed32 = next_field(message), fixed64 = next_field(message), cut = next_field(message);
  ASSERT_TRUE(varint && text && fixed32 && fixed64 && cut);
  EXPECT_EQ(varint->value, 150u);
  EXPECT_EQ(text->number, 2u);
  EXPECT_EQ(text->bytes, "abc");
  EXPECT_EQ(fixed32->value, 1u);
  EXPECT_EQ(fixed64->value, 2u);
  EXPECT_EQ(cut->value, 127u);
  EXPECT_EQ(cut->bytes, "cut");
  EXPECT_FALSE(next_field(message).has_value());
  std::string_view endless = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", group = "\x0b\x01";
  EXPECT_FALSE(next_varint(endless).has_value());
  EXPECT_FALSE(next_field(group).has_value());
}

}  // namespace
}  // namespace stepscope
