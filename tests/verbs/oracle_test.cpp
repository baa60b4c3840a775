// The program against ../shared/accept/oracle.py, an independent reading of METRICS.md, on random small traces with everything that makes device time awkward:
// no figure may differ. One trace per seed; seeds are fixed, so that a failure can be looked at again.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "temporary_folder.h"

namespace stepscope {
namespace {

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  std::string text() {
    const int steps = below(5), first_step = below(2000);
    std::int64_t at = below(1'000);
    for (int step = 0; step < steps; ++step) {
      const std::int64_t length = below(40'000);
      annotation("user_annotation", fmt::format("ProfilerStep#{}", first_step + step), at, length);
      if (chance(2)) annotation("gpu_user_annotation", fmt::format("ProfilerStep#{}", first_step + step), at + below(9'000), length / 2);
      at += length + (chance(3) ? below(5'000) : 0);
    }
    const int launches = 1 + below(40);
    for (int i = 0; i < launches; ++i) launch();
    for (int i = below(6); i > 0; --i)
      annotation("cuda_sync", "Stream Wait Event", below(150'000), below(50), ", \"args\": {\"stream\": 7, \"device\": 0, \"wait_on_stream\": 8}");
    for (int i = below(10); i > 0; --i) annotation("cpu_op", "aten::mm", below(150'000), below(9'000));
    for (int i = below(4); i > 0; --i)
      annotation("cuda_runtime", chance(2) ? "cudaDeviceSynchronize" : "cudaStreamWaitEvent", below(150'000), below(9'000),
                 fmt::format(", \"args\": {{\"correlation\": {}}}", ++id_));
    return "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 1}, \"traceEvents\": [\n" + events_ + "\n]}\n";
  }

 private:
  int below(int limit) { return limit <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  // 2026-like microseconds with three decimals: a double would lose the nanoseconds.
  static std::string stamp(std::int64_t ns) {
    const std::int64_t absolute = 1'700'000'000'000'000'000 + ns;
    return fmt::format("{}.{:03}", absolute / 1'000, absolute % 1'000);
  }
  static std::string length(std::int64_t ns) { return ns % 1'000 == 0 ? fmt::format("{}", ns / 1'000) : fmt::format("{}.{:03}", ns / 1'000, ns % 1'000); }
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }
  void annotation(const char* category, const std::string& name, std::int64_t start, std::int64_t duration, const std::string& rest = {}) {
    add(fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 10, "tid": 10, "ts": {}, "dur": {}{}}})", category, name, stamp(start), length(duration),
                    rest));
  }
  void device_slice(std::int64_t start, int correlation, bool linked) {
    static constexpr const char* kinds[][2] = {{"kernel", "void gemm<float, 4>(float*)"},
                                               {"kernel", "softmax"},
                                               {"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"},
                                               {"kernel", "triton_poi_fused_all_to_all_0"},
                                               {"kernel", "elementwise_kernel<ncclFunctor>"},
                                               {"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"},
                                               {"gpu_memset", "Memset (Device)"}};
    const auto& kind = kinds[below(7)];
    const std::int64_t duration = below(3) == 0 ? below(3) : below(12'000);
    const std::string id = linked ? fmt::format("\"correlation\": {}, ", correlation) : "";
    const int device = chance(8) ? 1 : 0, stream = chance(3) ? 20 : 7 + below(2);
    add(fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}"device": {}, "stream": {}}}}})", kind[0],
                    kind[1], device, stream, stamp(start), length(duration), id, device, stream));
  }
  void launch() {
    const std::int64_t called = below(150'000) / (chance(3) ? 1'000 : 1) * (chance(3) ? 1 : 1);
    const int correlation = id_ += 1 + below(3), shape = below(12);
    const std::int64_t cost = below(3'000);
    const std::string arguments = fmt::format(", \"args\": {{\"correlation\": {}}}", correlation);
    const bool graph = shape == 0, linked = shape != 1, absent = shape == 2;
    if (!absent && linked) {
      if (shape == 3) annotation("cuda_driver", "cuLaunchKernel", called + 1 + cost / 3, cost / 3, arguments);  // inside the call that follows it in the file
      annotation("cuda_runtime", graph ? "cudaGraphLaunch" : "cudaLaunchKernel", called, cost + 10, arguments);
    }
    const int slices = graph ? 1 + below(6) : 1;
    std::int64_t start = called + (chance(10) ? -below(500) : chance(3) ? below(60'000) : below(4'000));
    for (int i = 0; i < slices; ++i) {
      device_slice(std::max<std::int64_t>(start, 0), correlation, linked);
      start += chance(3) ? 0 : below(9'000);
    }
  }

  std::mt19937 random_;
  std::string events_;
  int id_ = 0;
};

TEST(Oracle, AgreesOnRandomTraces) {
  const std::filesystem::path accept = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "accept",
                              program = std::filesystem::path(STEPSCOPE_BINARY_DIR) / "src" / "stepscope";
  if (!std::filesystem::exists(accept / "oracle.py")) GTEST_SKIP() << accept << " is absent";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << program << " is not built";
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is absent";
  const TemporaryFolder folder;
  for (unsigned seed = 0; seed < 100; ++seed) folder.write(fmt::format("traces/case_{:03}/rank000.json", seed), RandomTrace(seed).text());
  folder.write("oracle_all.py", fmt::format(R"(import sys, json, pathlib
sys.path.insert(0, "{}")
import oracle
root = pathlib.Path("{}")
(root / "expected").mkdir()
for case in sorted(root.glob("case_*")):
    try:
        (root / "expected" / (case.name + ".json")).write_text(json.dumps({{"ranks": [oracle.analyze(str(case / "rank000.json"))]}}))
    except TypeError:  # the oracle has no answer for a step window without any clipped slice
        pass
)",
                                            accept.string(), folder / "traces"));
  ASSERT_EQ(std::system(fmt::format("python3 {} > {} 2>&1", folder / "oracle_all.py", folder / "oracle.log").c_str()), 0);
  const std::string command =
      fmt::format("python3 {} {} {} > {} 2>&1", (accept / "check_traces.py").string(), program.string(), folder / "traces", folder / "differences.txt");
  const int code = std::system(command.c_str());
  std::ifstream file(folder / "differences.txt");
  const std::string differences(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(code, 0) << differences.substr(0, 4'000);
  int windows = 0, different = -1;
  const std::size_t last_line = differences.rfind('\n', differences.size() - 2) + 1;
  ASSERT_EQ(std::sscanf(differences.c_str() + last_line, "%d windows compared, %d differences", &windows, &different), 2) << differences.substr(0, 4'000);
  EXPECT_EQ(different, 0);
  EXPECT_GT(windows, 200);  // traces with steps and two devices are among them
}

}  // namespace
}  // namespace stepscope
