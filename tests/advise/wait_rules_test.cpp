// Rules about the host waiting for the device: host.sync_item, host.device_sync, host.grad_clip_sync. Times in the comments are µs.
#include <gtest/gtest.h>

#include "host_run.h"

namespace stepscope {
namespace {

// A value is read behind the first of two kernels.
void read_value(HostRun& run, std::string_view operation, Nanoseconds behind) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.copy_and_wait(operation, "Memcpy DtoH (Device -> Pageable)", 4, 2 * us);
    run.python(behind);
    run.kernel("aten::mm", "gemm", 100 * us);
  });
  run.finish();
}

TEST(HostSyncItem, GainsTheIdleTimeBehindTheRead) {
  HostRun run;
  read_value(run, "aten::_local_scalar_dense", 50 * us);
  // The device: 100, the copy's 2, then idle until the host has returned (2), left the operator (1), been in Python (50) and launched (4 and 5): 62; 100.
  EXPECT_NEAR(run.step(), 264e3, 1e3);
  // Without the wait the host needs less than 100 per step: 202.
  EXPECT_NEAR(run.gain(run.only("host.sync_item")), 62e3, 2e3);
}

TEST(HostSyncItem, IsQuietBehindTheLastWorkAndOnCopiesToTheDevice) {
  HostRun run;
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 5'000 * us);
    run.copy_and_wait("aten::_local_scalar_dense", "Memcpy DtoH (Device -> Pageable)", 4, 2 * us);
  });
  run.finish();
  EXPECT_TRUE(run.detect("host.sync_item").empty());  // once per step, and little idle time behind
  HostRun to_device;
  to_device.steps(6, [&](int) {
    to_device.copy_and_wait("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 1'000'000, 100 * us);
    to_device.kernel("aten::mm", "gemm", 100 * us);
  });
  to_device.finish();
  EXPECT_TRUE(to_device.detect("host.sync_item").empty());
}

TEST(HostDeviceSync, GainsTheIdleTimeBehindTheWait) {
  HostRun run;
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.wait("cudaDeviceSynchronize");
    run.python(40 * us);
  });
  run.finish();
  // 100, then 2 to return, 40 of Python and 4 and 5 to the next launch; without the wait the host needs 50 per step and the device 100.
  EXPECT_NEAR(run.step(), 151e3, 1e3);
  const Finding found = run.only("host.device_sync");
  EXPECT_NEAR(run.gain(found), 51e3, 2e3);
  EXPECT_EQ(run.small.timeline.name_of(found.evidence.at(0)), "cudaDeviceSynchronize");
}

TEST(HostDeviceSync, IsQuietOnTheProfilersOwnAndInsideOperators) {
  HostRun run;
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.python(80 * us);
  });
  run.wait("cudaDeviceSynchronize");
  run.finish();
  EXPECT_TRUE(run.detect("host.device_sync").empty());
  HostRun inside;
  read_value(inside, "aten::_local_scalar_dense", 50 * us);
  EXPECT_TRUE(inside.detect("host.device_sync").empty());
}

// Forward, backward, a value read, the update.
void clip(HostRun& run, bool before_backward) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    if (before_backward) run.copy_and_wait("aten::_local_scalar_dense", "Memcpy DtoH (Device -> Pageable)", 4, 2 * us);
    const Nanoseconds begin = run.now;
    run.kernel("aten::mm", "gemm", 100 * us);
    run.small.operation(run.thread, "autograd::engine::evaluate_function: MmBackward0", begin, run.now - begin);
    if (!before_backward) run.copy_and_wait("aten::_local_scalar_dense", "Memcpy DtoH (Device -> Pageable)", 4, 2 * us);
    run.python(30 * us);
    run.range("Optimizer.step#AdamW.step", [&] { run.kernel("aten::_fused_adamw_", "adam", 50 * us); });
  });
  run.finish();
}

TEST(HostGradClipSync, GainsTheIdleTimeBeforeTheUpdate) {
  HostRun run;
  clip(run, false);
  // 200, the copy's 2, idle for 2 + 1 + 30 + 4 + 5 = 42, 50. Without the wait 252: the host needs 70.
  EXPECT_NEAR(run.gain(run.only("host.grad_clip_sync")), 42e3, 2e3);
  EXPECT_TRUE(run.detect("host.sync_item").empty());  // said once
}

TEST(HostGradClipSync, IsQuietOnReadsBeforeBackward) {
  HostRun run;
  clip(run, true);
  EXPECT_TRUE(run.detect("host.grad_clip_sync").empty());
}

}  // namespace
}  // namespace stepscope
