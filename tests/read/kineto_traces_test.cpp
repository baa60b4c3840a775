// Every slice of every real trace, column by column, against an independent reading of the same file: simdjson's document model and decimal arithmetic on
// digits.
#include <simdjson.h>

#include <charconv>
#include <map>
#include <set>

#include "kineto_reading.h"

namespace stepscope {
namespace {

namespace dom = simdjson::dom;

// int(Decimal(text) * 1000) of a number's digits.
Nanoseconds microseconds(std::string_view text) {
  std::string digits(text);
  long exponent = 3;
  if (const auto e = digits.find_first_of("eE"); e != std::string::npos) {
    exponent += std::stol(digits.substr(e + 1));
    digits.resize(e);
  }
  const bool negative = digits.starts_with("-");
  if (negative) digits.erase(0, 1);
  if (const auto point = digits.find('.'); point != std::string::npos) {
    exponent -= static_cast<long>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  for (; exponent > 0; --exponent) digits += '0';
  if (exponent < 0) digits.resize(digits.size() > static_cast<std::size_t>(-exponent) ? digits.size() - static_cast<std::size_t>(-exponent) : 0);
  if (digits.empty()) digits = "0";
  const Nanoseconds value = std::stoll(digits);
  return negative ? -value : value;
}

// simdjson turns numbers into doubles; this is the text of the number behind `"key":` in an event's own text.
std::string number_text(std::string_view event, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  const auto at = event.find(quoted);
  if (at == std::string_view::npos) return "0";
  const auto begin = event.find_first_not_of(": \n\r\t", at + quoted.size());
  return std::string(event.substr(begin, event.find_first_of(",}] \n\r\t", begin) - begin));
}

const std::map<std::string_view, SliceKind> kinds = {
    {"kernel", SliceKind::kernel},
    {"gpu_memcpy", SliceKind::copy},
    {"gpu_memset", SliceKind::fill},
    {"cuda_sync", SliceKind::device_sync},
    {"gpu_user_annotation", SliceKind::device_annotation},
    {"cpu_op", SliceKind::operation},
    {"cuda_runtime", SliceKind::runtime_call},
    {"cuda_driver", SliceKind::driver_call},
    {"python_function", SliceKind::python_function},
    {"user_annotation", SliceKind::annotation},
    {"overhead", SliceKind::overhead},
    {"Trace", SliceKind::profiler},
};
const std::set<std::string_view> not_in_details = {"correlation",
                                                   "External id",
                                                   "device",
                                                   "stream",
                                                   "Sequence number",
                                                   "Fwd thread id",
                                                   "Python id",
                                                   "Python parent id",
                                                   "Python module id",
                                                   "wait_on_stream",
                                                   "wait_on_cuda_event_record_corr_id",
                                                   "Ev Idx",
                                                   "Profiler Event Index",
                                                   "Record function id",
                                                   "Trace name",
                                                   "Trace iteration",
                                                   "queued",
                                                   "context",
                                                   "cbid",
                                                   "cid",
                                                   "memory bandwidth (GB/s)",
                                                   "wait_on_cuda_event_id",
                                                   "src",
                                                   "dst",
                                                   "ptr",
                                                   "packet_ptr",
                                                   "k_work_ptr",
                                                   "sqid"};

std::string as_text(dom::element value) {
  if (value.is_string()) return std::string(value.get_string().value());
  return simdjson::minify(value);
}

std::uint64_t id_of(dom::object arguments, std::string_view key) {
  std::uint64_t number;
  return arguments.at_key(key).get_uint64().get(number) == simdjson::SUCCESS ? number : no_number;
}

// The events' own texts, in order: objects at the depth of the list, found by counting brackets.
std::vector<std::string_view> event_texts(std::string_view text) {
  std::vector<std::string_view> events;
  std::size_t at = text.find('[', text.find("\"traceEvents\""));
  int depth = 0;
  std::size_t begin = 0;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') {
      for (++at; text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    } else if (text[at] == '{' || text[at] == '[') {
      if (depth++ == 0) begin = at;
    } else if (text[at] == '}' || text[at] == ']') {
      if (depth == 0) break;
      if (--depth == 0) events.push_back(text.substr(begin, at + 1 - begin));
    }
  }
  return events;
}

// One file's events against the rows they became.
class Comparison {
 public:
  explicit Comparison(const std::filesystem::path& path) : timeline_(test::read_file(path)), content_(test::content_of(path)), texts_(event_texts(content_)) {}

  void run() {
    dom::parser parser;
    dom::array events;
    ASSERT_EQ(parser.parse(content_)["traceEvents"].get_array().get(events), simdjson::SUCCESS);
    std::size_t number = 0;
    for (const dom::element element : events) {
      const dom::object event = element.get_object().value();
      compare_event(event, texts_.at(number++));
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(row_, timeline_.slices.size());
    EXPECT_EQ(sequences_, timeline_.sequences.size());
    EXPECT_EQ(python_, timeline_.python.size());
    EXPECT_EQ(transfers_, timeline_.transfers.size());
    EXPECT_EQ(syncs_, timeline_.syncs.size());
    EXPECT_EQ(memory_, timeline_.memory.size());
    EXPECT_EQ(launch_arrows_, timeline_.health.notes.count("launch_arrows"));
    EXPECT_EQ(timeline_.ranks[0].events, texts_.size());
    EXPECT_EQ(timeline_.ranks[0].bytes, content_.size());
    EXPECT_TRUE(timeline_.health.repairs.empty());
  }

 private:
  void compare_event(dom::object event, std::string_view text) {
    const std::string_view phase = event["ph"].get_string().value();
    dom::object arguments;
    const bool has_arguments = event["args"].get_object().get(arguments) == simdjson::SUCCESS;
    if (phase == "s" || phase == "f") launch_arrows_ += event["cat"].get_string().value() != "fwdbwd";
    if (phase == "i" && event["name"].get_string().value() == "[memory]") compare_memory(arguments, text);
    if (phase != "X") return;
    ASSERT_LT(row_, timeline_.slices.size());
    const SliceId id{row_++};
    compare_slice(id, event, text);
    compare_track(id, event, has_arguments ? std::optional(arguments) : std::nullopt);
    compare_detail(id, has_arguments ? std::optional(arguments) : std::nullopt);
    const SliceColumns& s = timeline_.slices;
    ASSERT_EQ(s.correlation[id], has_arguments ? id_of(arguments, "correlation") : no_number);
    ASSERT_EQ(s.external[id], has_arguments ? id_of(arguments, "External id") : no_number);
    if (has_arguments) compare_facts(id, arguments);
  }

  void compare_memory(dom::object arguments, std::string_view text) {
    const MemoryEvent& found = timeline_.memory[memory_++];
    ASSERT_EQ(found.bytes, arguments["Bytes"].get_int64().value());
    ASSERT_EQ(found.address, arguments["Addr"].get_uint64().value());
    ASSERT_EQ(found.total_allocated, arguments["Total Allocated"].get_int64().value());
    ASSERT_EQ(found.time + timeline_.origin_ns, microseconds(number_text(text, "ts")));
  }

  void compare_slice(SliceId id, dom::object event, std::string_view text) {
    const SliceColumns& s = timeline_.slices;
    const auto kind = kinds.find(event["cat"].get_string().value());
    ASSERT_EQ(s.kind[id], kind == kinds.end() ? SliceKind::other : kind->second);
    ASSERT_EQ(timeline_.name_of(id), event["name"].get_string().value());
    ASSERT_EQ(s.start[id] + timeline_.origin_ns, microseconds(number_text(text, "ts"))) << text;  // no argument is called ts or dur
    ASSERT_EQ(s.duration[id], microseconds(number_text(text, "dur"))) << text;
  }

  void compare_track(SliceId id, dom::object event, std::optional<dom::object> arguments) {
    const Track& track = timeline_.track_of(id);
    ASSERT_EQ(timeline_.names[track.process], as_text(event["pid"].value()));
    ASSERT_EQ(timeline_.names[track.thread], as_text(event["tid"].value()));
    const bool on_device = timeline_.slices.kind[id] <= SliceKind::device_annotation;
    ASSERT_EQ(track.kind == TrackKind::stream, on_device);
    if (!on_device) return;
    std::int64_t stream = 0;
    if (!arguments || arguments->at_key("stream").get_int64().get(stream) != simdjson::SUCCESS) stream = event["tid"].get_int64().value();
    ASSERT_EQ(track.stream, stream == 0xFFFF'FFFF ? -1 : stream);
    dom::element device;
    if (!arguments || arguments->at_key("device").get(device) != simdjson::SUCCESS) device = event["pid"].value();
    ASSERT_EQ(timeline_.devices[index(track.device)].label, as_text(device));
  }

  void compare_detail(SliceId id, std::optional<dom::object> arguments) {
    const SliceKind kind = timeline_.slices.kind[id];
    std::map<std::string, std::string> expected, found;
    if (arguments)
      for (const auto [key, value] : *arguments) {
        const std::string text = simdjson::minify(value);
        if (not_in_details.contains(key) || ((key == "Call stack" || key == "Module Hierarchy") && text == "\"\"")) continue;
        if (key == "finished" && text == "true") continue;
        if (key == "bytes" && (kind == SliceKind::copy || kind == SliceKind::fill)) continue;
        expected[std::string(key)] = text;
      }
    const std::string detail = "{" + std::string(timeline_.detail_of(id)) + "}";
    dom::object members;
    ASSERT_EQ(detail_parser_.parse(detail).get_object().get(members), simdjson::SUCCESS) << detail;
    for (const auto [key, value] : members) found[std::string(key)] = simdjson::minify(value);
    ASSERT_EQ(found, expected);
  }

  void compare_facts(SliceId id, dom::object arguments) {
    const SliceKind kind = timeline_.slices.kind[id];
    std::int64_t number = 0;
    const auto has = [&](std::string_view key) { return arguments.at_key(key).get_int64().get(number) == simdjson::SUCCESS; };
    const auto small = [&](std::string_view key) {
      return id_of(arguments, key) == no_number ? 0xFFFF'FFFFu : static_cast<std::uint32_t>(id_of(arguments, key));
    };
    if (has("Sequence number")) {
      ASSERT_LT(sequences_, timeline_.sequences.size());
      const SequenceFact& fact = timeline_.sequences[sequences_++];
      ASSERT_EQ(fact.slice, id);
      ASSERT_EQ(fact.sequence, number);
      ASSERT_EQ(fact.forward_thread, id_of(arguments, "Fwd thread id"));
    }
    if (kind == SliceKind::python_function && has("Python id")) {
      ASSERT_LT(python_, timeline_.python.size());
      const PythonFact& fact = timeline_.python[python_++];
      ASSERT_EQ(fact.slice, id);
      ASSERT_EQ(fact.id, static_cast<std::uint32_t>(number));
      ASSERT_EQ(fact.parent, small("Python parent id"));
      ASSERT_EQ(fact.module, small("Python module id"));
    }
    if ((kind == SliceKind::copy || kind == SliceKind::fill) && has("bytes")) {
      ASSERT_LT(transfers_, timeline_.transfers.size());
      ASSERT_EQ(timeline_.transfers[transfers_].slice, id);
      ASSERT_EQ(timeline_.transfers[transfers_++].bytes, number);
    }
    if (kind == SliceKind::device_sync) {
      ASSERT_LT(syncs_, timeline_.syncs.size());
      ASSERT_EQ(timeline_.syncs[syncs_].slice, id);
      ASSERT_EQ(timeline_.syncs[syncs_++].wait_on_record_correlation, id_of(arguments, "wait_on_cuda_event_record_corr_id"));
    }
  }

  const Timeline timeline_;
  const std::string content_;
  const std::vector<std::string_view> texts_;
  dom::parser detail_parser_;
  std::uint32_t row_ = 0;
  std::size_t sequences_ = 0, python_ = 0, transfers_ = 0, syncs_ = 0, memory_ = 0, launch_arrows_ = 0;
};

TEST(KinetoTraces, EverySliceOfEveryTrace) {
  const auto folder = test::shared_folder() / "traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("rank")) continue;
    SCOPED_TRACE(entry.path().string());
    Comparison(entry.path()).run();
    ++files;
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(files, 38u);
}

}  // namespace
}  // namespace stepscope
