// The result does not depend on how the file is cut, on how many threads read it, or on whether events are compared with layouts or read in full: for traces as
// they are, and for the same with random damage.
#include <rapidcheck.h>

#include <random>

#include "kineto_reading.h"

namespace stepscope {
namespace {

// Threads are started by the thousand here, which the thread sanitizer makes slow.
#if defined(STEPSCOPE_SANITIZE_THREAD)
constexpr int slowness = 5;
#else
constexpr int slowness = 1;
#endif

struct Way {
  std::string name;
  KinetoTuning tuning;
  int threads;
};

// A thread costs more than a small trace: most combinations, not all.
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const std::size_t block : {std::size_t{64}, std::size_t{1000}, std::size_t{1} << 20})
    for (const bool by_layout : {false, true})
      for (const int threads : {1, 2, 4}) {
        if (threads > 1 && (block == 1 << 20 || (block == 64 && !by_layout) || (threads == 4 && !by_layout))) continue;
        for (const bool by_place : {true, false}) {
          if (threads == 1 && !by_place) continue;
          all.push_back(
              {fmt::format("blocks of {}, {} threads{}, {}", block, threads, by_place ? "" : ", text from one place", by_layout ? "by layout" : "in full"),
               KinetoTuning{.block_bytes = block,
                            .thread_block_bytes = block,
                            .threads_from_bytes = block,
                            .alone_bytes = block,
                            .by_place = by_place,
                            .by_layout = by_layout},
               threads});
        }
      }
  return all;
}

// "" where all ways give what reading in full, all at once, by one thread gives.
std::string first_difference(std::string_view text) {
  const auto expected = test::try_read(text, KinetoTuning{.block_bytes = 1 << 20, .by_layout = false});
  for (const Way& way : ways()) {
    const auto got = test::try_read(text, way.tuning, way.threads);
    if (got.has_value() != expected.has_value()) return way.name + ": one of both was refused";
    if (!got) continue;
    if (const std::string found = test::difference(*expected, *got); !found.empty()) return way.name + ": " + found;
    if (const auto violations = check(*got); !violations.empty()) return way.name + ": " + violations[0];
  }
  return "";
}

// Some steps of a small job, with everything that events can be, as Kineto writes them.
std::string small_trace(int steps) {
  std::string events = R"~(
  {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "thread 11 (python)"}},)~";
  int id = 1;
  double time = 1419247332972.313;
  for (int step = 0; step < steps; ++step) {
    events += fmt::format(R"~(
  {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 10, "tid": 11, "ts": {:.3f}, "dur": 90.5, "args": {{"External id": {}, "Ev Idx": {}}}}},)~",
                          step, time, id, id);
    for (int op = 0; op < 6; ++op, ++id, time += 10.125) {
      const int size = op % 3 * 64;
      events += fmt::format(R"~(
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::op{}", "pid": 10, "tid": 11,
    "ts": {:.3f}, "dur": {:.3f},
    "args": {{
      "External id": {},"Sequence number": {}, "Fwd thread id": 0, "Record function id": 0, "Input Dims": [[{}, 4], []], "Input type": ["float", ""], "Ev Idx": {}
    }}
  }},
  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": {:.3f}, "dur": 2, "args": {{"External id": {}, "cbid": 211, "correlation": {}}}}},
  {{"ph": "s", "id": {}, "pid": 10, "tid": 11, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g"}},
  {{"ph": "X", "cat": "kernel", "name": "void gemm<{}>(float*)", "pid": 0, "tid": 7, "ts": {:.3f}, "dur": {}, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, "grid": [{}, 1, 1], "block": [128, 1, 1]}}}},
  {{"ph": "f", "id": {}, "pid": 0, "tid": 7, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g", "bp": "e"}},)~",
                            op % 4, time, 9.25 + op, id, step * 6 + op, size, id, time + 1, id, 1000 + id, 1000 + id, time + 1, op % 2, time + 5, op + 1, id,
                            1000 + id, op + 1, 1000 + id, time + 5);
    }
    events += fmt::format(R"~(
  {{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 11, "ts": {:.3f}, "args": {{"Total Reserved": 4096, "Total Allocated": {}, "Bytes": {}, "Addr": 140046054457344, "Device Id": 0, "Device Type": 1}}}},
  {{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": {:.3f}, "dur": 1.5, "args": {{"device": 0, "stream": 7, "correlation": {}, "bytes": {}, "memory bandwidth (GB/s)": 7.744}}}},
  {{"ph": "X", "cat": "python_function", "name": "a.py({}): f", "pid": 10, "tid": 11, "ts": {:.3f}, "dur": 3, "args": {{"Python parent id": {}, "Python id": {}, "Ev Idx": {}}}}},
  {{"ph": "s", "id": {}, "pid": 10, "tid": 11, "ts": {:.3f}, "cat": "fwdbwd", "name": "fwdbwd"}},
  {{"ph": "C", "name": "power", "pid": 10, "ts": {:.3f}, "args": {{"watts": {}}}}},
  {{"ph": "B", "name": "range", "cat": "mine", "pid": 10, "tid": 12, "ts": {:.3f}}},
  {{"ph": "E", "pid": 10, "tid": 12, "ts": {:.3f}, "args": {{"x": {}}}}},)~",
                          time, step, step % 2 == 0 ? 512 : -512, time, 2000 + step, step, step % 3, time, step, step + 1, step, step, time, time, step, time,
                          time + 3, step % 2);
  }
  events.pop_back();
  return R"~({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "distributedInfo": {"rank": 2}, "traceEvents": [)~" + events +
         "\n  ],\n \"record_shapes\": 1}\n";
}

TEST(KinetoSameResult, OfATraceAsItIs) {
  const std::string trace = small_trace(12);
  EXPECT_EQ(first_difference(trace), "");
  const Timeline timeline = test::read_text(trace);
  EXPECT_EQ(timeline.slices.size(), 12u * (1 + 6 * 3 + 2 + 1));
  EXPECT_TRUE(timeline.health.repairs.empty());
}

// Found by fuzzing: an event that was compared with a layout, and the next one right behind it.
TEST(KinetoSameResult, OfEventsWithoutCommasBetweenThem) {
  const std::string trace = small_trace(12);
  for (const std::string_view between : {"", " ", "\n  "}) {
    std::string text;
    std::size_t commas = 0, left_out = 0, at = 0;
    for (std::size_t comma; (comma = trace.find("}},\n  {", at)) != std::string::npos; at = comma + 3) {
      const bool leave_out = ++commas % 5 == 0;
      left_out += leave_out;
      text.append(trace, at, comma + 2 - at).append(leave_out ? between : ",");
      if (leave_out) comma += 3;  // the line break and the spaces too
    }
    text.append(trace, at, std::string::npos);
    EXPECT_EQ(first_difference(text), "");
    EXPECT_EQ(test::read_text(text).health.repairs.count("missing_comma"), left_out);
    EXPECT_GT(left_out, 20u);
  }
}

TEST(KinetoSameResult, WhereverTheFileEnds) {
  const std::string trace = small_trace(1);
  for (std::size_t length = 0; length < trace.size(); length += 61 * slowness) ASSERT_EQ(first_difference(trace.substr(0, length)), "") << length;
}

// Random damage: bytes changed, left out, put in, stretches twice or gone.
TEST(KinetoSameResult, OfDamagedTraces) {
  const std::string original = small_trace(4);
  std::size_t repaired = 0;
  const int rounds = 100 / slowness;
  std::mt19937 random(20261201);
  const std::string alphabet = "\"\\{}[],: 0123456789-.eENnaItrufls\n\r\t\x01\x7F\x80\xC3\xFFphXcat";
  for (int round = 0; round < rounds; ++round) {
    std::string text = original;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      const std::size_t place = random() % text.size(), length = 1 + random() % (random() % 3 == 0 ? 400 : 4);
      switch (random() % 5) {
        case 0:
          text[place] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(place, length);
          break;
        case 2:
          text.insert(place, 1, alphabet[random() % alphabet.size()]);
          break;
        case 3:
          text.insert(place, text.substr(random() % text.size(), length));
          break;
        default:
          text.resize(std::max<std::size_t>(place, 1));
      }
    }
    ASSERT_EQ(first_difference(text), "") << "round " << round << ":\n" << text;
    if (const auto timeline = test::try_read(text); timeline && !timeline->health.repairs.empty()) ++repaired;
  }
  EXPECT_GT(repaired, static_cast<std::size_t>(rounds) / 2);
}

// Text inside a string that looks like an event's beginning makes a wrong cut; what follows must not suffer.
TEST(KinetoSameResult, WithStringsThatLookLikeEvents) {
  std::string events;
  for (int i = 0; i < 40; ++i)
    events += fmt::format(
        R"~({}{{"ph": "X", "cat": "cpu_op", "name": "n{} }}, {{\"ph\": [{{'ph': 1}}, {{ph: 2", "pid": 1, "tid": 1, "ts": {}, "dur": 1, "args": {{"x": "y }}, {{", "ph": [1, {{"ph": 2}}]}}}})~",
        i == 0 ? "" : ",", i % 3, i + 1);
  EXPECT_EQ(first_difference(test::as_trace(events)), "");
  EXPECT_EQ(test::read_text(test::as_trace(events)).slices.size(), 40u);
}

TEST(KinetoSameResult, OfRealTraces) {
  if (!std::filesystem::exists(test::shared_folder() / "traces")) GTEST_SKIP() << test::shared_folder() << " is absent";
  for (const char* name : {"hta_event_sync_multi_stream", "hta_amd_mi250", "param_dlrm_8rank", "tl_torch_compile_triton", "tl_vllm_decode_full",
                           "tl_h100_bertsmall", "hta_triton_example"}) {
    const std::string text = test::content_of(test::shared_folder() / "traces" / name / "rank000.json.gz");
    ASSERT_FALSE(text.empty()) << name;
    const Timeline expected = test::read_text(text, KinetoTuning{.block_bytes = 1 << 20, .by_layout = false});
    for (const Way& way : ways()) {
      if (way.tuning.block_bytes == 64) continue;
      ASSERT_EQ(test::difference(expected, test::read_text(text, way.tuning, way.threads)), "") << name << ", " << way.name;
    }
  }
}

TEST(KinetoSameResult, OfTheDamagedInputs) {
  if (!std::filesystem::exists(test::shared_folder() / "faults")) GTEST_SKIP() << test::shared_folder() << " is absent";
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::shared_folder() / "faults")) {
    if (!entry.path().filename().string().ends_with(".json")) continue;
    ++inputs;
    ASSERT_EQ(first_difference(test::content_of(entry.path())), "") << entry.path();
  }
  EXPECT_GT(inputs, 20u);
}

// A thread may find the end of the text while another stops at damage: whoever comes last, reading ends. (Found by fuzzing: it once waited for ever.)
TEST(KinetoSameResult, WhereDamageStandsBesideTheEnd) {
  std::string text = small_trace(1);
  const std::size_t event = text.rfind("\"ts\"", text.size() - 500);
  text.replace(event, 4, "\"ts\" [ [ 5 \"ts");
  const Timeline one = test::read_text(text, {.block_bytes = 1 << 20});
  for (int i = 0; i < 300; ++i)
    for (const bool by_place : {false, true}) {
      const KinetoTuning tuning{.block_bytes = 512, .thread_block_bytes = 512, .threads_from_bytes = 512, .alone_bytes = 2048, .by_place = by_place};
      ASSERT_EQ(test::difference(one, test::read_text(text, tuning, 3)), "");
    }
}

}  // namespace
}  // namespace stepscope
