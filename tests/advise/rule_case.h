// A small run for tests of rules about devices: operators with the arguments that Kineto records, their kernels back to back on a stream, and what the edits of
// a finding save by replay.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "advise/rule.h"
#include "cost/recorded_call.h"
#include "facts/small_timeline.h"
#include "lift/lift.h"
#include "simulate/replay.h"
#include "simulate/step_length.h"

namespace stepscope {

// Times in ns. Everything is launched at the beginning (1 µs apart), so that the device is never idle for the host's sake: a kernel that becomes shorter
// shortens the run by as much.
class RuleCase : public testing::Test {
 protected:
  static Gpu small_gpu() {
    Gpu gpu;
    gpu.name = "small";
    gpu.title = "Small GPU";
    gpu.vendor = "NVIDIA";
    gpu.multiprocessors = 100;
    gpu.matrix_bf16 = gpu.matrix_fp16 = 100e12;
    gpu.matrix_tf32 = 50e12;
    gpu.matrix_fp8 = 200e12;
    gpu.vector_fp32 = 10e12;
    gpu.memory_bytes_per_second = 1e12;
    gpu.link_bytes_per_second_each_way = 400e9;
    gpu.scale_up_gpus = 8;
    return gpu;
  }

  // A kernel, launched inside an operator of this name; it starts when the one before it on its stream ends, or at `start`.
  SliceId kernel(std::string_view operation, std::string_view detail, std::string_view name, Nanoseconds duration, std::string_view kernel_detail = {},
                 TrackId on = no_id<TrackId>, Nanoseconds start = -1) {
    if (on == no_id<TrackId>) on = stream;
    const TrackId from = on_thread == no_id<TrackId> ? thread : on_thread;
    if (!operation.empty()) add(SliceKind::operation, from, operation, host, 900, no_number, detail);
    add(SliceKind::runtime_call, from, "cudaLaunchKernel", host + 100, 500, ++correlation, {});
    if (start < 0) start = std::max<Nanoseconds>(now, first_kernel);
    host += 1'000;
    if (on == stream) now = start + duration;
    return add(SliceKind::kernel, on, name, start, duration, correlation, kernel_detail);
  }
  // A kernel of an operator inside a range or operator around it.
  SliceId kernel_in(std::string_view around, std::string_view operation, std::string_view detail, std::string_view name, Nanoseconds duration,
                    std::string_view kernel_detail = {}, TrackId on = no_id<TrackId>, Nanoseconds start = -1, std::string_view around_detail = {}) {
    const TrackId from = on_thread == no_id<TrackId> ? thread : on_thread;
    add(SliceKind::operation, from, around, host, 2'000, no_number, around_detail);
    host += 50;
    const SliceId id = kernel(operation, detail, name, duration, kernel_detail, on, start);
    host += 1'950;
    return id;
  }
  // A kernel of a backward pass.
  SliceId backward_kernel(std::string_view operation, std::string_view detail, std::string_view name, Nanoseconds duration) {
    return kernel_in("autograd::engine::evaluate_function: AddmmBackward0", operation, detail, name, duration);
  }
  // A collective as Kineto 2024 records it on the kernel.
  static std::string collective(std::string_view function, std::int64_t elements, std::string_view type, std::int64_t ranks, std::string_view group = "0",
                                std::int64_t out_elements = -1) {
    return "\"Collective name\": \"" + std::string(function) + "\", \"In msg nelems\": " + std::to_string(elements) +
           ", \"Out msg nelems\": " + std::to_string(out_elements < 0 ? elements : out_elements) + ", \"Group size\": " + std::to_string(ranks) +
           ", \"dtype\": \"" + std::string(type) + "\", \"Process Group Name\": \"" + std::string(group) + "\", \"Process Group Ranks\": \"[0, 1]\"";
  }
  SliceId add(SliceKind kind, TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint64_t correlated,
              std::string_view detail) {
    return built.builder().add_slice(kind, track, start, duration, built.builder().names().intern(name), correlated, no_number,
                                     detail.empty() ? NameId{0} : built.builder().details().intern(detail));
  }

  void finish() {
    built.finish();
    lifted = lift(built.timeline, built.facts);
    times = replay(lifted.graph);
  }
  std::vector<Finding> ask(const Rule& rule) {
    if (lifted.graph.size() == 0) finish();
    const AdviceScene scene{.timeline = built.timeline, .facts = built.facts, .lifted = lifted, .times = times, .gpu = with_gpu ? &gpu : nullptr};
    std::vector<Finding> found = rule.detect(scene);
    for (const Finding& finding : found) {
      EXPECT_FALSE(finding.title.empty());
      EXPECT_FALSE(finding.observation.empty());
      EXPECT_FALSE(finding.changes.empty());
      EXPECT_FALSE(finding.evidence.empty());
      EXPECT_LE(finding.evidence.size(), 10u);
      EXPECT_EQ(finding.edits.empty(), !finding.unknown.empty());
    }
    return found;
  }
  // What the edits of the only finding save of the step, ns.
  double gain(const Rule& rule) {
    const std::vector<Finding> found = ask(rule);
    EXPECT_EQ(found.size(), 1u) << rule.name;
    if (found.size() != 1) return -1;
    Graph graph = lifted.graph.copy();
    const EditScene scene{.timeline = built.timeline, .facts = built.facts, .lifted = lifted, .gpu = with_gpu ? &gpu : nullptr};
    const auto effects = apply_edits(scene, found.front().edits, graph);
    EXPECT_TRUE(effects.has_value()) << (effects ? "" : effects.error().problem);
    const std::vector<std::uint32_t> windows = representative_windows(lifted);
    return step_length(lifted, times, windows) - step_length(lifted, replay(graph), windows);
  }

  SmallTimeline built;
  TrackId thread = built.thread("1"), stream = built.stream(7), comm = built.stream(20);
  TrackId on_thread = no_id<TrackId>;
  Gpu gpu = small_gpu();
  bool with_gpu = true;
  Lifted lifted;
  ReplayTimes times;
  // Launches end before the first kernel starts.
  static constexpr Nanoseconds first_kernel = 1'000'000;
  Nanoseconds host = 0, now = 0;
  std::uint64_t correlation = 0;
};

inline std::string grid(int x) {
  return "\"grid\": [" + std::to_string(x) + ",1,1], \"block\": [256,1,1]";
}
// A product of m x k and k x n.
inline std::string product(int m, int n, int k, std::string_view type = "c10::BFloat16") {
  const auto text = [](int value) { return std::to_string(value); };
  return recorded_detail("[[" + text(m) + "," + text(k) + "],[" + text(k) + "," + text(n) + "]]",
                         "[\"" + std::string(type) + "\",\"" + std::string(type) + "\"]");
}

}  // namespace stepscope
