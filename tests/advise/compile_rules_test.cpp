// Rules about compiled models and CUDA graphs: compile.*, graph.*. Times in the comments are µs.
#include <gtest/gtest.h>

#include "host_run.h"

namespace stepscope {
namespace {

void regions(HostRun& run, int count, Nanoseconds between, Nanoseconds kernel) {
  run.steps(6, [&](int) {
    for (int i = 0; i < count; ++i) {
      run.range("Torch-Compiled Region: " + std::to_string(i) + "/0", [&] { run.kernel("CompiledFunction", "triton_poi_fused", kernel); });
      run.small.operation(run.thread, "aten::item", run.now, between);
      run.python(between);
    }
  });
  run.finish();
}

TEST(CompileGraphBreaks, GainsTheHostsTimeBetweenRegions) {
  HostRun run;
  regions(run, 5, 40 * us, 20 * us);
  // Five times 10 and 40 on the host; four breaks lie within the step, the fifth on its border. Without them 50 and 40 per step, the device needs 100.
  EXPECT_NEAR(run.step(), 250e3, 1);
  EXPECT_NEAR(run.gain(run.only("compile.graph_breaks")), 150e3, 6e3);
}

TEST(CompileGraphBreaks, IsQuietWhereBreaksAreHiddenOrThereAreNone) {
  HostRun hidden, whole;
  regions(hidden, 5, 10 * us, 100 * us);
  regions(whole, 1, 40 * us, 20 * us);
  EXPECT_TRUE(hidden.detect("compile.graph_breaks").empty());
  EXPECT_TRUE(whole.detect("compile.graph_breaks").empty());
}

void compile_in(HostRun& run, const std::function<bool(int)>& in_step, Nanoseconds duration) {
  run.steps(6, [&](int i) {
    run.kernel("aten::mm", "gemm", 500 * us);
    run.python(490 * us);
    run.small.call(run.thread, "cudaGetDevice", run.now, 0);
    if (in_step(i)) run.range("_compile.compile_inner (dynamo_timed)", [&] { run.python(duration); });
    run.small.call(run.thread, "cudaGetDevice", run.now, 0);
  });
  run.finish();
}

TEST(CompileRecompiles, GainsCompilationOfSteadySteps) {
  HostRun run;
  compile_in(run, [](int) { return true; }, 100 * us);
  EXPECT_NEAR(run.gain(run.only("compile.recompiles")), 100e3, 1e3);
}

TEST(CompileRecompiles, SaysWhereItIsLeftOutOfMeans) {
  HostRun run;
  compile_in(run, [](int i) { return i == 3; }, 50'000 * us);
  EXPECT_TRUE(run.only("compile.recompiles").edits.empty());
}

TEST(CompileRecompiles, IsQuietOnTheFirstStep) {
  HostRun run;
  compile_in(run, [](int i) { return i == 0; }, 50'000 * us);
  EXPECT_TRUE(run.detect("compile.recompiles").empty());
}

// A CUDA graph of `kernels` kernels, launched by one call.
void launch_graph(HostRun& run, int kernels, Nanoseconds kernel) {
  run.small.call(run.thread, "cudaGraphLaunch", run.now, 8 * us, ++run.correlation);
  Nanoseconds start = std::max(run.now + HostRun::launch_lag, run.device_free);
  for (int i = 0; i < kernels; ++i) {
    run.small.kernel(run.stream, "gemm", start, kernel, run.correlation);
    start += kernel + 1 * us;
  }
  run.device_free = start - 1 * us;
  run.python(10 * us);
}

void mixed(HostRun& run, const std::function<bool(int)>& as_graph) {
  run.steps(8, [&](int i) {
    if (as_graph(i)) {
      launch_graph(run, 10, 10 * us);
      run.python(90 * us);
    } else {
      for (int k = 0; k < 10; ++k) run.kernel("aten::mm", "gemm", 10 * us);
    }
    run.python(110 * us);
  });
  run.finish();
}

TEST(GraphCaptureBroken, GainsTheHostsTimeOfEagerSteps) {
  HostRun run;
  mixed(run, [](int i) { return i % 2 == 0; });
  const Finding found = run.only("graph.capture_broken");
  // All steps take the host 210. The eager ones among the steady steps 1 to 6 then take none: their kernels run at once, 100, and those of the next step's
  // graph behind them, launched at the same time, 109. The next eager step begins when the host is done with the graph's step: windows of 100 and 110 in turn,
  // the last of 119, because step 7 is no steady one and keeps the 9 until its first kernel. On average 639 / 6.
  EXPECT_NEAR(run.gain(found), 103.5e3, 10);
}

TEST(GraphCaptureBroken, IsQuietWhereAllStepsAreAlike) {
  HostRun graphs, eager;
  mixed(graphs, [](int) { return true; });
  mixed(eager, [](int) { return false; });
  EXPECT_TRUE(graphs.detect("graph.capture_broken").empty());
  EXPECT_TRUE(eager.detect("graph.capture_broken").empty());
}

void copies_before_graph(HostRun& run, int copies) {
  run.steps(6, [&](int) {
    for (int i = 0; i < copies; ++i) {
      const Nanoseconds begin = run.now;
      run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now + 2 * us, "Memcpy DtoD (Device -> Device)", 20 * us, run.stream);
      run.python(6 * us);
      run.small.operation(run.thread, "aten::copy_", begin, run.now - begin);
    }
    launch_graph(run, 10, 10 * us);
  });
  run.finish();
}

TEST(GraphCopyIn, GainsTheCopies) {
  HostRun run;
  copies_before_graph(run, 3);
  // Ten kernels of 10 with 1 between them, and three copies of 20.
  EXPECT_NEAR(run.step(), 169e3, 1e3);
  EXPECT_NEAR(run.gain(run.only("graph.copy_in")), 60e3, 2e3);
}

TEST(GraphCopyIn, IsQuietWithoutCopies) {
  HostRun run;
  copies_before_graph(run, 0);
  EXPECT_TRUE(run.detect("graph.copy_in").empty());
}

}  // namespace
}  // namespace stepscope
