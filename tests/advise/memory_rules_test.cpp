// Rules about memory: mem.*. Times in the comments are µs.
#include <gtest/gtest.h>

#include "host_run.h"

namespace stepscope {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

void allocate(HostRun& run, std::string_view call) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    const Nanoseconds begin = run.now;
    run.small.call(run.thread, call, run.now + 1 * us, 200 * us);
    run.python(202 * us);
    run.small.operation(run.thread, "aten::empty", begin, run.now - begin);
  });
  run.finish();
}

TEST(MemCudamallocRetry, GainsTheCalls) {
  HostRun run;
  allocate(run, "cudaMalloc");
  // 212 per step, of which the call takes 200; then the device's 100 decide.
  EXPECT_NEAR(run.gain(run.only("mem.cudamalloc_retry")), 112e3, 1e3);
}

TEST(MemCudamallocRetry, IsQuietOnOtherCallsAndInFirstSteps) {
  HostRun run;
  allocate(run, "cudaGetDevice");
  EXPECT_TRUE(run.detect("mem.cudamalloc_retry").empty());
  HostRun first;
  first.steps(6, [&](int i) {
    if (i == 0) {
      first.small.call(first.thread, "cudaMalloc", first.now, 200 * us);
      first.python(200 * us);
    }
    first.kernel("aten::mm", "gemm", 100 * us);
  });
  first.finish();
  EXPECT_TRUE(first.detect("mem.cudamalloc_retry").empty());
}

// A step of training on a device of 80 GiB with these totals.
void with_memory(HostRun& run, std::int64_t allocated, std::int64_t reserved, bool trains = true) {
  run.steps(6, [&](int) {
    run.small.builder().add(MemoryEvent{run.now, run.thread, 1, 0, 0x1000, 512, allocated, reserved});
    const Nanoseconds begin = run.now;
    run.kernel("aten::mm", "gemm", 100 * us);
    if (trains) run.small.operation(run.thread, "autograd::engine::evaluate_function: MmBackward0", begin, run.now - begin);
  });
  run.finish();
}
Gpu with_80_gib() {
  Gpu gpu;
  gpu.memory_bytes = 80.0 * gib;
  return gpu;
}

TEST(MemFragmentation, SaysThatItCostsNoTime) {
  const Gpu gpu = with_80_gib();
  HostRun run;
  with_memory(run, 50 * gib, 72 * gib);
  EXPECT_TRUE(run.only("mem.fragmentation", &gpu).edits.empty());  // 22 of 72 unused: 30.6 %
  HostRun used, empty;
  with_memory(used, 70 * gib, 72 * gib);
  with_memory(empty, 5 * gib, 10 * gib);
  EXPECT_TRUE(used.detect("mem.fragmentation", &gpu).empty());
  EXPECT_TRUE(empty.detect("mem.fragmentation", &gpu).empty());
  EXPECT_TRUE(run.detect("mem.fragmentation").empty());  // a device of unknown size
}

TEST(MemHeadroom, SaysThatTheGainIsNotKnown) {
  const Gpu gpu = with_80_gib();
  HostRun run;
  with_memory(run, 38 * gib, 40 * gib);
  EXPECT_TRUE(run.only("mem.headroom_unused", &gpu).edits.empty());
  HostRun full, inference;
  with_memory(full, 65 * gib, 70 * gib);
  with_memory(inference, 38 * gib, 40 * gib, false);
  EXPECT_TRUE(full.detect("mem.headroom_unused", &gpu).empty());
  EXPECT_TRUE(inference.detect("mem.headroom_unused", &gpu).empty());
}

// Forward of 100; backward of 200, before which forward runs again. Autograd numbers that a second time, inside a node that has work of its own.
void recompute(HostRun& run, std::int64_t reserved) {
  run.steps(6, [&](int) {
    run.small.builder().add(MemoryEvent{run.now, run.thread, 1, 0, 0x1000, 512, reserved, reserved});
    run.small.numbered(run.thread, "checkpointed", run.now, 12 * us, 5, 0);
    run.python(1 * us);
    run.kernel("aten::mm", "gemm", 100 * us);
    run.python(1 * us);
    const Nanoseconds begin = run.now;
    run.python(1 * us);
    run.small.numbered(run.thread, "again", run.now, 12 * us, 9, 0);
    run.python(1 * us);
    run.kernel("aten::mm", "gemm", 100 * us);
    run.python(1 * us);
    run.kernel("aten::mm_backward", "gemm", 200 * us);
    run.small.numbered(run.thread, "CheckpointFunctionBackward", begin, run.now - begin, 5, 1);
  });
  run.finish();
}

TEST(MemRecomputeExcess, GainsTheForwardWorkThatRunsAgain) {
  const Gpu gpu = with_80_gib();
  HostRun run;
  recompute(run, 40 * gib);
  EXPECT_NEAR(run.step(), 400e3, 1);
  const Finding found = run.only("mem.recompute_excess", &gpu);
  EXPECT_NEAR(run.gain(found), 100e3, 1e3);
  EXPECT_EQ(found.confidence, Confidence::medium);
  EXPECT_EQ(run.only("mem.recompute_excess").confidence, Confidence::low);  // a device of unknown size
}

TEST(MemRecomputeExcess, IsQuietWhereMemoryIsFull) {
  const Gpu gpu = with_80_gib();
  HostRun run;
  recompute(run, 75 * gib);
  EXPECT_TRUE(run.detect("mem.recompute_excess", &gpu).empty());
}

// A copy of a layer on stream 9, for which the second kernel waits by an event.
void offload(HostRun& run, Nanoseconds copy) {
  const TrackId other = run.small.stream(9);
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    const SliceId id = run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now, "Memcpy HtoD (Pinned -> Device)", copy, other);
    run.small.builder().add(TransferFact{id, 4'000'000});
    run.python(5 * us);
    run.small.call(run.thread, "cudaEventRecord", run.now, 1 * us, ++run.correlation);
    const std::uint64_t record = run.correlation;
    run.python(2 * us);
    run.small.call(run.thread, "cudaStreamWaitEvent", run.now, 1 * us, ++run.correlation);
    const SliceId wait = run.small.slice(SliceKind::device_sync, run.stream, "Stream Wait Event", run.now, 1, run.correlation);
    run.small.builder().add(SyncFact{wait, 9, record});
    run.python(2 * us);
    run.device_free = std::max(run.device_free, run.other_free);
    run.kernel("aten::mm", "gemm", 100 * us);
  });
  run.finish();
}

TEST(MemOffloadBound, GainsWhatComputeWaits) {
  HostRun run;
  offload(run, 500 * us);
  // The copies follow one another, 500 each; the device's own work is 200.
  EXPECT_NEAR(run.step(), 500e3, 1e3);
  EXPECT_NEAR(run.gain(run.only("mem.offload_bound")), 300e3, 3e3);
}

TEST(MemOffloadBound, IsQuietWhereCopiesAreHidden) {
  HostRun run;
  offload(run, 50 * us);
  EXPECT_TRUE(run.detect("mem.offload_bound").empty());
}

void update(HostRun& run, std::string_view operation, int kernels) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.range("Optimizer.step#AdamW.step", [&] {
      for (int i = 0; i < kernels; ++i) run.kernel(operation, "multi_tensor_apply_kernel", 2 * us);
    });
  });
  run.finish();
}

TEST(MemOptimizerUnfused, GainsTheHostsPartWhereBytesAreNotKnown) {
  HostRun run;
  update(run, "aten::_foreach_add_", 60);
  // 610 per step on the host. Without the optimizer's host work 10 are left, and the device decides: 100 and 60 · 2.
  EXPECT_NEAR(run.step(), 610e3, 1);
  const Finding found = run.only("mem.optimizer_unfused");
  EXPECT_NEAR(run.gain(found), 390e3, 2e3);
  EXPECT_EQ(found.confidence, Confidence::high);
}

TEST(MemOptimizerUnfused, IsQuietOnFusedOnesAndFewKernels) {
  HostRun fused, few;
  update(fused, "aten::_fused_adamw_", 60);
  update(few, "aten::_foreach_add_", 20);
  EXPECT_TRUE(fused.detect("mem.optimizer_unfused").empty());
  EXPECT_TRUE(few.detect("mem.optimizer_unfused").empty());
}

void zero(HostRun& run, int fills) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.range("Optimizer.zero_grad#AdamW.zero_grad", [&] {
      for (int i = 0; i < fills; ++i) run.kernel("aten::zero_", "fill", 20 * us);
    });
  });
  run.finish();
}

TEST(MemZeroGrad, GainsTheFills) {
  HostRun run;
  zero(run, 10);
  EXPECT_NEAR(run.step(), 300e3, 1e3);  // 100 and ten times 20
  EXPECT_NEAR(run.gain(run.only("mem.zero_grad_memset")), 200e3, 2e3);
}

TEST(MemZeroGrad, IsQuietWhereGradientsAreLetGo) {
  HostRun run;
  zero(run, 0);
  EXPECT_TRUE(run.detect("mem.zero_grad_memset").empty());
}

void adam(HostRun& run, Nanoseconds kernel) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 900 * us);
    run.range("Optimizer.step#AdamW.step", [&] { run.kernel("aten::_fused_adamw_", "adam", kernel); });
  });
  run.finish();
}

TEST(MemMasterWeights, GainsTheBytesSpared) {
  HostRun run;
  adam(run, 280 * us);
  // 28 bytes per parameter to 18: 280 to 180.
  EXPECT_NEAR(run.gain(run.only("mem.master_weights_traffic")), 100e3, 1e3);
}

TEST(MemMasterWeights, IsQuietWhereTheUpdateIsShort) {
  HostRun run;
  adam(run, 50 * us);
  EXPECT_TRUE(run.detect("mem.master_weights_traffic").empty());
}

}  // namespace
}  // namespace stepscope
