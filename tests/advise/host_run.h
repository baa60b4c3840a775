// A training run written in a test: what the launching thread does in turn, in microseconds, and what the device makes of it. The device starts a kernel 5 µs
// after its launch begins, or at once behind the one before it. Steps are equal unless a test says otherwise; the first and last are no part of means.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/rule.h"
#include "facts/small_timeline.h"
#include "lift/lift.h"
#include "simulate/step_length.h"

namespace stepscope {

constexpr Nanoseconds us = 1'000;

class HostRun {
 public:
  static constexpr Nanoseconds launch_call = 2 * us, launch_lag = 5 * us;

  HostRun() : thread(small.thread("1")), stream(small.stream(7)) {}

  void steps(int count, const std::function<void(int)>& body) {
    for (int i = 0; i < count; ++i) {
      const Nanoseconds begin = now;
      body(i);
      small.annotation(thread, "ProfilerStep#" + std::to_string(i), begin, now - begin);
    }
  }
  void python(Nanoseconds duration) { now += duration; }
  SliceId range(std::string_view name, const std::function<void()>& body) {
    const Nanoseconds begin = now;
    body();
    return small.annotation(thread, name, begin, now - begin);
  }
  // An operator of 10 µs that launches one kernel, 4 µs after it begins.
  SliceId kernel(std::string_view operation, std::string_view name, Nanoseconds duration) {
    small.operation(thread, operation, now, 10 * us);
    const SliceId id = launch(SliceKind::kernel, "cudaLaunchKernel", now + 4 * us, name, duration, stream);
    now += 10 * us;
    return id;
  }
  SliceId launch(SliceKind kind, std::string_view call, Nanoseconds at, std::string_view name, Nanoseconds duration, TrackId on,
                 Nanoseconds call_time = launch_call) {
    small.call(thread, call, at, call_time, ++correlation);
    Nanoseconds& free = on == stream ? device_free : other_free;
    const Nanoseconds start = std::max(at + launch_lag, free);
    free = start + duration;
    return small.slice(kind, on, name, start, duration, correlation);
  }
  // A copy that the thread waits for: an operator with the copy's call and a synchronisation, both within it.
  SliceId copy_and_wait(std::string_view operation, std::string_view name, std::int64_t bytes, Nanoseconds duration) {
    const Nanoseconds begin = now;
    const SliceId id = launch(SliceKind::copy, "cudaMemcpyAsync", now + 2 * us, name, duration, stream);
    small.builder().add(TransferFact{id, bytes});
    wait_at(now + 5 * us);
    small.operation(thread, operation, begin, now + us - begin);
    now += us;
    return id;
  }
  // cudaStreamSynchronize from `at` until 2 µs after the stream is done.
  SliceId wait_at(Nanoseconds at, std::string_view call = "cudaStreamSynchronize") {
    const Nanoseconds end = std::max(at, device_free) + 2 * us;
    const SliceId id = small.call(thread, call, at, end - at, ++correlation);
    now = end;
    return id;
  }
  SliceId wait(std::string_view call = "cudaStreamSynchronize") { return wait_at(now, call); }

  void finish() {
    small.finish();
    lifted = lift(small.timeline, small.facts);
    times = replay(lifted.graph);
  }
  AdviceScene scene(const Gpu* gpu = nullptr) const { return {.timeline = small.timeline, .facts = small.facts, .lifted = lifted, .times = times, .gpu = gpu}; }
  std::vector<Finding> detect(std::string_view name, const Gpu* gpu = nullptr) const {
    for (const Rule* rule : all_rules())
      if (rule->name == name) return rule->detect(scene(gpu));
    ADD_FAILURE() << "no rule " << name;
    return {};
  }
  double step() const { return step_length(lifted, times, representative_windows(lifted)); }
  // What the step is shorter by with the finding's edits, ns.
  double gain(const Finding& finding, const Gpu* gpu = nullptr) const {
    Graph graph = lifted.graph.copy();
    const auto effects = apply_edits({.timeline = small.timeline, .facts = small.facts, .lifted = lifted, .gpu = gpu}, finding.edits, graph);
    if (!effects) {
      ADD_FAILURE() << effects.error().message();
      return -1;
    }
    return step() - step_length(lifted, replay(graph), representative_windows(lifted));
  }
  // Exactly one finding, complete: evidence where the trace has slices for it, changes, and a gain or the reason why there is none.
  Finding only(std::string_view name, const Gpu* gpu = nullptr) const {
    std::vector<Finding> found = detect(name, gpu);
    EXPECT_EQ(found.size(), 1U) << name;
    if (found.size() != 1) return {};
    EXPECT_FALSE(found[0].title.empty());
    EXPECT_FALSE(found[0].observation.empty());
    EXPECT_FALSE(found[0].changes.empty());
    EXPECT_LE(found[0].evidence.size(), 10U);
    EXPECT_EQ(found[0].edits.empty(), !found[0].unknown.empty()) << found[0].unknown;
    return std::move(found[0]);
  }

  SmallTimeline small;
  TrackId thread, stream;
  Nanoseconds now = 0, device_free = 0, other_free = 0;
  std::uint64_t correlation = 0;
  Lifted lifted;
  ReplayTimes times;
};

}  // namespace stepscope
