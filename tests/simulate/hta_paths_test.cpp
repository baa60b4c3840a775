// The traces with which HolisticTraceAnalysis tests its critical path, and our answers, worked out by hand from the rows of each file. Where HTA says otherwise
// it is because it leaves out Python between operators (weight 0), launches from a call's start, or gives shares of the path's own sum (docs/differences.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lift/lift.h"
#include "read/reader.h"
#include "simulate/critical_path.h"

namespace stepscope {
namespace {

using enum PathPartKind;

struct HtaPaths : testing::Test {
  void load(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces" / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
    const std::vector<std::string> paths{path.string()};
    Result<Timeline> read = read_timeline(paths, {.threads = 1});
    ASSERT_TRUE(read.has_value()) << read.error().message();
    timeline = *std::move(read);
    facts = derive(timeline, {});
    lifted = lift(timeline, facts);
    replay(lifted.graph, times);
  }
  // Of the first window on the device (a step, or the whole capture).
  CriticalPath path_on_device() const {
    const auto window = std::ranges::find_if(lifted.windows, [](const GraphWindow& w) { return w.device != no_id<DeviceId>; });
    return critical_path(lifted.graph, times, window->begin, window->end);
  }
  // Time on the path of operations with this name.
  Nanoseconds on_path(const CriticalPath& path, std::string_view name) const {
    Nanoseconds sum = 0;
    for (const PathPart& part : path.parts)
      if (part.dependency == no_dependency && lifted.graph.name_of(part.operation) == name) sum += part.interval.length();
    return sum;
  }
  Nanoseconds longest(const CriticalPath& path, std::string_view name) const {
    Nanoseconds most = 0;
    for (const PathPart& part : path.parts)
      if (lifted.graph.name_of(part.operation) == name) most = std::max(most, part.interval.length());
    return most;
  }

  Timeline timeline;
  Facts facts;
  Lifted lifted;
  ReplayTimes times;
};
#define LOAD(name) \
  load(name);      \
  if (IsSkipped() || HasFatalFailure()) return

// One step, whose window on the device is [2810, 3073) µs: from the fill's kernel to the end of spin_kernel. The device is always ahead of the host: the path
// runs over the thread, in µs:
//   2810-2811 end of the fill's launch; 2811-2815 aten::fill_, aten::ones (4); 2815-2824 nothing recorded (9);
//   2824-2863 aten::sum: its launch 2847-2857 (10), the operators' own 29; 2863-2870 nothing (7);
//   2870-2903 aten::gt: its launch 2886-2898 (12), own 21; 2903-2910 nothing (7); 2910-2917 is_nonzero, item, _local_scalar_dense (7);
//   cudaMemcpyAsync to pageable memory returns when its copy is done: launch latency 2917-2935 (18), the copy 2935-2937 (2), its return 2937-2946 (9);
//   2946-2947 operator (1); cudaStreamSynchronize 2947-2953 (6), beside which nothing ran on the device: the call's own cost; 2953-2957 operators (4);
//   2957-3017 nothing recorded (60): Python; cudaEventRecord 3017-3020 (3); nothing 3020-3027 (7);
//   the launch of spin_kernel begins at 3027 and the kernel at 3037 (10): the launch call's own 9 µs are beside the path; spin_kernel 3037-3073 (36).
TEST_F(HtaPaths, EventSync) {
  LOAD("hta_event_sync");
  const CriticalPath path = path_on_device();
  EXPECT_EQ(path.window.length(), 263'000);
  EXPECT_EQ(path[launch], (1 + 10 + 12) * 1000);
  EXPECT_EQ(path[cpu_operator], (4 + 29 + 21 + 7 + 1 + 4) * 1000);
  EXPECT_EQ(path[python], (9 + 7 + 7 + 60 + 7) * 1000);
  EXPECT_EQ(path[launch_latency], (18 + 10) * 1000);
  EXPECT_EQ(path[copy], 2'000);
  EXPECT_EQ(path[synchronisation], (9 + 6) * 1000);
  EXPECT_EQ(path[api], 3'000);
  EXPECT_EQ(path[compute], 36'000);
  EXPECT_EQ(path[unexplained] + path[no_cause] + path[hand_over] + path[device_gap], 0);
}

// The host's step of the same trace, [0, 3154): cudaEventSynchronize (3047-3081) waits for the event behind spin_kernel, so the way back goes through the
// kernel and its launch, and what the thread did between the launch and the wait is beside the path.
TEST_F(HtaPaths, EventSyncOnTheHost) {
  LOAD("hta_event_sync");
  const auto host = std::ranges::find(lifted.windows, no_id<DeviceId>, &GraphWindow::device);
  ASSERT_NE(host, lifted.windows.end());
  const CriticalPath path = critical_path(lifted.graph, times, host->begin, host->end);
  EXPECT_EQ(path.window.length(), 3'154'000);
  EXPECT_EQ(path[compute], 36'000);         // spin_kernel alone
  EXPECT_EQ(path[launch_latency], 28'000);  // of the copy, 18, and of spin_kernel, 10
  EXPECT_EQ(path[unexplained] + path[no_cause], 0);
}

// Three products on streams 20, 28 and 24, each of 123 µs; the third's stream waits for an event of the first two, which were done 18 ms before the third was
// launched. So neither is on the path: it is the thread all the way, then the third product's launch latency (19779-19794) and the product itself.
// Launch calls in the window [411, 19917): cudaLaunchKernel 31 and 14 (the third's is beside the path), cudaMemsetAsync 10 and 10. Other calls 449: two
// cudaMalloc of 200 and 208, cudaEventRecord 15 + 1 + 6, cudaStreamWaitEvent 3, cudaEventQuery 5 + 5, and 1 each of cudaStreamIsCapturing (2), GetCaptureInfo
// (2) and occupancy (2).
TEST_F(HtaPaths, EventSyncMultiStream) {
  LOAD("hta_event_sync_multi_stream");
  const CriticalPath path = path_on_device();
  EXPECT_EQ(path.window.length(), (19'917 - 411) * 1000);
  EXPECT_EQ(path[compute], 123'000);
  EXPECT_EQ(path[launch_latency], 15'000);
  EXPECT_EQ(path[launch], (31 + 14 + 10 + 10) * 1000);
  EXPECT_EQ(path[api], (200 + 208 + 15 + 1 + 6 + 3 + 5 + 5 + 2 + 2 + 2) * 1000);
  EXPECT_EQ(path[cpu_operator] + path[python], (19'506 - 123 - 15 - 65 - 449) * 1000);
  EXPECT_GT(path[python], 18'566'000);  // the pause before the third product alone: 844 to 19410
  EXPECT_EQ(path[synchronisation] + path[unexplained] + path[hand_over], 0);
}

// The first step of a process: 12.9 s of which the device works 66 ms. What takes the time is the host's loading of libraries and of kernels: one cudaFree of
// 6.0 s, a cudaLaunchKernel of 3.06 s. All 16 copies from pageable memory hold their calls, so that each is on the path for as long as it ran.
TEST_F(HtaPaths, AlexNet) {
  LOAD("hta_alexnet");
  const CriticalPath path = path_on_device();
  EXPECT_EQ(path.window.length(), 12'920'244'000);
  EXPECT_EQ(on_path(path, "Memcpy HtoD (Pageable -> Device)"), 55'503'000);
  EXPECT_EQ(longest(path, "cudaFree"), 6'008'692'000);
  EXPECT_EQ(longest(path, "cudaLaunchKernel"), 3'055'567'000);
  EXPECT_LT(path[compute], 10'692'000);  // all kernels together
  EXPECT_LT(path[unexplained], path.window.length() / 1000);
  EXPECT_EQ(path[no_cause], 0);
}

// The same model on another machine: 39 ms of copies, two calls of cudaFree (5.2 and 2.8 s) and one of cudaLaunchKernel (4.2 s) make the window.
TEST_F(HtaPaths, SimpleAdd) {
  LOAD("hta_simple_add");
  const CriticalPath path = path_on_device();
  EXPECT_EQ(path.window.length(), 16'025'575'000);
  EXPECT_EQ(on_path(path, "Memcpy HtoD (Pageable -> Device)"), 39'080'000);
  EXPECT_EQ(longest(path, "cudaFree"), 5'179'225'000);
  EXPECT_EQ(longest(path, "cudaLaunchKernel"), 4'219'264'000);
  EXPECT_GE(on_path(path, "cudaFree"), (5'179'225 + 2'810'276) * 1'000ll);
  EXPECT_LT(path[compute], 10'728'000);
  EXPECT_LT(path[unexplained], path.window.length() / 1000);
}

// Every window of every trace: covered exactly, with its own length.
TEST(Paths, CoverEveryWindowOfEveryTrace) {
  const std::filesystem::path traces = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces";
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not here";
  std::size_t windows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(traces)) {
    if (!entry.is_directory() || entry.path().filename() == "expected") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::vector<std::string> paths{entry.path().string()};
    const Result<Timeline> timeline = read_timeline(paths, {.threads = 1});
    ASSERT_TRUE(timeline.has_value());
    const Lifted lifted = lift(*timeline, derive(*timeline, {}));
    const ReplayTimes times = replay(lifted.graph);
    for (const GraphWindow& window : lifted.windows) {
      const CriticalPath path = critical_path(lifted.graph, times, window.begin, window.end);
      Nanoseconds covered = path.window.begin, by_kind = 0;
      for (const PathPart& part : path.parts) {
        ASSERT_EQ(part.interval.begin, covered);
        covered = part.interval.end;
      }
      for (const Nanoseconds sum : path.by_kind) by_kind += sum;
      ASSERT_EQ(covered, path.window.end);
      ASSERT_EQ(by_kind, window.measured.length());
      ++windows;
    }
  }
  EXPECT_GE(windows, 100u);
}

}  // namespace
}  // namespace stepscope
