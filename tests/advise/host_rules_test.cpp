// Rules about what the host does between launches: host.*, ckpt.*. Times in the comments are µs.
#include <gtest/gtest.h>

#include "host_run.h"

namespace stepscope {
namespace {

void many_kernels(HostRun& run, int count, Nanoseconds kernel, Nanoseconds python, std::string_view operation = "aten::mm") {
  run.steps(6, [&](int) {
    for (int i = 0; i < count; ++i) {
      run.kernel(operation, "kernel", kernel);
      run.python(python);
    }
  });
  run.finish();
}

TEST(HostLaunchBound, GainsAllOfTheHostsTime) {
  HostRun run;
  many_kernels(run, 20, 4 * us, 5 * us);
  // 20 kernels, one every 15; the device needs 4 for each.
  EXPECT_NEAR(run.step(), 300e3, 1);
  EXPECT_NEAR(run.gain(run.only("host.launch_bound")), 220e3, 1e3);
}

TEST(HostLaunchBound, IsQuietWhereTheHostRunsAheadOrWaits) {
  HostRun ahead;
  many_kernels(ahead, 20, 40 * us, 5 * us);
  EXPECT_TRUE(ahead.detect("host.launch_bound").empty());
  HostRun pauses;  // a long pause is not the cost of launching
  many_kernels(pauses, 2, 4 * us, 3000 * us);
  EXPECT_TRUE(pauses.detect("host.launch_bound").empty());
}

TEST(HostPythonOverhead, GainsPythonsTime) {
  HostRun run;
  many_kernels(run, 20, 4 * us, 30 * us);
  // One kernel every 40, of which 30 are Python; without it one every 10.
  const Finding found = run.only("host.python_overhead");
  EXPECT_NEAR(run.gain(found), 600e3, 1e3);
  EXPECT_EQ(found.confidence, Confidence::low);  // no stacks
}

TEST(HostPythonOverhead, IsQuietWhereTheFrameworkTakesLonger) {
  HostRun run;
  many_kernels(run, 20, 4 * us, 2 * us);
  EXPECT_TRUE(run.detect("host.python_overhead").empty());
}

TEST(HostSmallKernels, GainsRunsThatBecomeOneKernel) {
  HostRun run;
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 20 * us);
    for (int i = 0; i < 10; ++i) run.kernel("aten::mul", "vectorized_elementwise_kernel", 3 * us);
  });
  run.finish();
  // Eleven operators of 10. Of the ten small ones nine vanish, with their operators: the host then takes 20, the device 20 and 3 (the longest of the fused).
  EXPECT_NEAR(run.step(), 110e3, 1);
  EXPECT_NEAR(run.gain(run.only("host.small_kernels")), 110e3 - 23e3, 1e3);
}

TEST(HostSmallKernels, IsQuietOnLongKernels) {
  HostRun run;
  many_kernels(run, 10, 30 * us, 0, "aten::mul");
  EXPECT_TRUE(run.detect("host.small_kernels").empty());
}

void slow_launches(HostRun& run, Nanoseconds kernel) {
  run.steps(6, [&](int) {
    for (int i = 0; i < 4; ++i) run.kernel("aten::mm", "gemm", kernel);
    run.launch(SliceKind::kernel, "cudaLaunchKernel", run.now, "gemm", kernel, run.stream, 300 * us);
    run.python(300 * us);
  });
  run.finish();
}

TEST(HostLaunchQueueFull, GainsWhatTheLongCallsLose) {
  HostRun run;
  slow_launches(run, 5 * us);
  // A step takes four operators of 10 and a call of 300, which usually takes 2.
  EXPECT_NEAR(run.gain(run.only("host.launch_queue_full")), 298e3, 1e3);
}

TEST(HostLaunchQueueFull, IsQuietWhereTheDeviceIsBusy) {
  HostRun run;
  slow_launches(run, 100 * us);  // a full queue holds the call up: healthy
  EXPECT_TRUE(run.detect("host.launch_queue_full").empty());
}

void pauses(HostRun& run, const std::function<bool(int)>& in_step) {
  run.steps(9, [&](int i) {
    run.python(20 * us);
    run.kernel("aten::mm", "gemm", 18'000 * us);
    run.python(18'000 * us);
    if (in_step(i)) run.python(6'000 * us);
    run.kernel("aten::mm", "gemm", 2'000 * us);
    run.python(1'990 * us);
  });
  run.finish();
}

// Steps of 120,000 and, in turn, as much more as said; two of seven steady ones have a pause of 6,000.
void few_pauses(HostRun& run, Nanoseconds more, Nanoseconds pause = 6'000 * us) {
  run.steps(9, [&](int i) {
    run.python(more * (i % 3));
    for (int k = 0; k < 60; ++k) {
      run.kernel("aten::mm", "gemm", 2'000 * us);
      run.python(1'990 * us);
      if (k == 10 && (i == 3 || i == 5)) {
        run.small.call(run.thread, "cudaGetDevice", run.now, 0);  // between the two stretches of Python
        run.python(pause);
      }
    }
  });
  run.finish();
}

TEST(HostGcPause, GainsPausesOfFewSteps) {
  HostRun run;
  few_pauses(run, 2'000 * us);  // so that no step is far from the others
  // The pauses leave the device idle for as long: on average 12,000 / 7.
  const Finding found = run.only("host.gc_pause");
  EXPECT_NEAR(run.gain(found), 12'000e3 / 7, 20e3);
  EXPECT_EQ(found.confidence, Confidence::low);
}

TEST(HostGcPause, SaysWhereItIsLeftOutOfMeans) {
  HostRun run;
  few_pauses(run, 0, 40'000 * us);  // what pauses is far from the other steps
  EXPECT_TRUE(run.only("host.gc_pause").edits.empty());
}

TEST(HostGcPause, SaysSoWhereCollectionsAreRecorded) {
  HostRun run;
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 1'000 * us);
    run.python(990 * us);
    run.small.call(run.thread, "cudaGetDevice", run.now, 0);
    run.range("Python GC", [&] { run.python(500 * us); });
    run.small.call(run.thread, "cudaGetDevice", run.now, 0);
  });
  run.finish();
  const Finding found = run.only("host.gc_pause");
  EXPECT_EQ(found.confidence, Confidence::high);
  EXPECT_NEAR(run.gain(found), 500e3, 1e3);
}

TEST(HostGcPause, IsQuietWhereEveryStepPauses) {
  HostRun run;
  pauses(run, [](int) { return true; });
  EXPECT_TRUE(run.detect("host.gc_pause").empty());
}

TEST(HostNumaAffinity, GainsTheBestRanksRate) {
  HostRun run;
  for (const Nanoseconds copy : {100 * us, 400 * us}) {
    if (copy == 400 * us) {
      run.small.add_rank();
      run.now = run.device_free = 0;
      run.thread = run.small.thread("1");
      run.stream = run.small.stream(7);
    }
    run.steps(6, [&](int) {
      const SliceId id = run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now, "Memcpy HtoD (Pinned -> Device)", copy, run.stream);
      run.small.builder().add(TransferFact{id, 2'000'000});
      run.python(5 * us);
      run.kernel("aten::mm", "gemm", 200 * us);
    });
  }
  run.finish();
  // The slow rank's step is 400 and 200; with the other's rate 100 and 200. Both ranks' steps are as long as the longer one's.
  EXPECT_NEAR(run.step(), 600e3, 1);
  EXPECT_NEAR(run.gain(run.only("host.numa_affinity")), 300e3, 1e3);
}

TEST(HostNumaAffinity, IsQuietOnOneRank) {
  HostRun run;
  many_kernels(run, 2, 40 * us, 0);
  EXPECT_TRUE(run.detect("host.numa_affinity").empty());
}

TEST(HostLoggingBetweenSteps, GainsTheGaps) {
  HostRun run;
  for (int i = 0; i < 6; ++i) {
    const Nanoseconds begin = run.now;
    run.kernel("aten::mm", "gemm", 500 * us);
    run.python(490 * us);
    run.small.annotation(run.thread, "ProfilerStep#" + std::to_string(i), begin, run.now - begin);
    run.small.operation(run.thread, "write_log", run.now, 100 * us);
    run.python(100 * us);
  }
  run.finish();
  // Steps of 500 and 100 between them.
  EXPECT_NEAR(run.step(), 600e3, 1);
  const Finding found = run.only("host.logging_ckpt_eval");
  EXPECT_NEAR(run.gain(found), 100e3, 1e3);
  EXPECT_EQ(run.small.timeline.name_of(found.evidence.at(0)), "write_log");
}

TEST(HostLoggingBetweenSteps, IsQuietWhereStepsFollowOneAnother) {
  HostRun run;
  many_kernels(run, 4, 50 * us, 0);
  EXPECT_TRUE(run.detect("host.logging_ckpt_eval").empty());
}

void save(HostRun& run, std::string_view name) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 500 * us);
    run.python(490 * us);
    run.range(name, [&] {
      run.copy_and_wait("aten::copy_", "Memcpy DtoH (Device -> Pageable)", 5'000'000, 400 * us);
      run.small.operation(run.thread, "write", run.now, 2'000 * us);
      run.python(2'000 * us);
    });
  });
  run.finish();
}

TEST(CkptSyncSave, GainsWritingButNotTheCopy) {
  HostRun run;
  save(run, "save_checkpoint");
  const Finding found = run.only("ckpt.sync_save");
  EXPECT_NEAR(run.gain(found), 2'000e3, 10e3);
}

TEST(CkptSyncSave, IsQuietOnAsynchronousSaves) {
  HostRun run;
  save(run, "async_save_checkpoint");
  EXPECT_TRUE(run.detect("ckpt.sync_save").empty());
}

void profiled(HostRun& run, Nanoseconds overhead) {
  run.steps(6, [&](int) {
    run.kernel("aten::mm", "gemm", 100 * us);
    run.small.slice(SliceKind::overhead, run.thread, "CUPTI activity buffer flush", run.now, overhead);
    run.python(overhead + 90 * us);
  });
  run.finish();
}

TEST(HostProfilerOverhead, GainsItsTime) {
  HostRun run;
  profiled(run, 200 * us);
  // 300 per step; without the flush the device's 100.
  EXPECT_NEAR(run.gain(run.only("host.profiler_overhead")), 200e3, 1e3);
}

TEST(HostProfilerOverhead, IsQuietWhereItIsSmall) {
  HostRun run;
  profiled(run, 1 * us);
  EXPECT_TRUE(run.detect("host.profiler_overhead").empty());
}

}  // namespace
}  // namespace stepscope
