// Rules about the input: data.*. Times in the comments are µs.
#include <gtest/gtest.h>

#include "host_run.h"

namespace stepscope {
namespace {

constexpr std::string_view workers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr std::string_view single = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

// Loading, then one kernel.
void train(HostRun& run, std::string_view loader, Nanoseconds loading, Nanoseconds kernel) {
  run.steps(6, [&](int) {
    run.range(loader, [&] { run.python(loading); });
    run.kernel("aten::mm", "gemm", kernel);
  });
  run.finish();
}

TEST(DataLoaderStall, GainsWhatTheDeviceWaited) {
  HostRun run;
  train(run, workers, 1000 * us, 200 * us);
  // A step is 1000 of loading and an operator of 10; without loading the device decides: 200.
  EXPECT_NEAR(run.step(), 1010e3, 1);
  const Finding found = run.only("data.loader_stall");
  EXPECT_NEAR(run.gain(found), 810e3, 1e3);
  EXPECT_EQ(run.small.timeline.name_of(found.evidence.at(0)), workers);
  EXPECT_EQ(found.confidence, Confidence::high);
}

TEST(DataLoaderStall, IsQuietWhereTheQueueHidesLoading) {
  HostRun run;
  train(run, workers, 150 * us, 200 * us);  // the device is never without work
  EXPECT_TRUE(run.detect("data.loader_stall").empty());
  HostRun in_process;
  train(in_process, single, 1000 * us, 200 * us);  // another rule's
  EXPECT_TRUE(in_process.detect("data.loader_stall").empty());
}

TEST(DataSingleProcessLoader, GainsWhatFourWorkersHide) {
  HostRun run;
  train(run, single, 1000 * us, 200 * us);
  // Four workers make a batch every 250, of which the operator's 10 hide as much: 240 are left to wait for. A step then takes 250 on the host.
  const Finding found = run.only("data.single_process_loader");
  EXPECT_NEAR(run.gain(found), 760e3, 1e3);
}

TEST(DataSingleProcessLoader, IsQuietWithWorkersAndWhereLoadingCostsNothing) {
  HostRun run;
  train(run, workers, 1000 * us, 200 * us);
  EXPECT_TRUE(run.detect("data.single_process_loader").empty());
  HostRun cheap;
  train(cheap, single, 1 * us, 200 * us);
  EXPECT_TRUE(cheap.detect("data.single_process_loader").empty());
}

TEST(DataPageable, GainsTheWaitAndTheLinksRate) {
  HostRun run;
  run.steps(6, [&](int) {
    run.copy_and_wait("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 1'000'000, 500 * us);  // 2 GB/s
    run.kernel("aten::mm", "gemm", 300 * us);
  });
  run.finish();
  Gpu gpu;
  gpu.host_link_bytes_per_second_each_way = 25e9;  // 80 % of it: 20 GB/s, ten times as fast
  // As it is, the copy begins when the kernel before it has ended: 500 and 300, and what the host needs from the end of the copy to the kernel: 2 until the
  // call has returned, 1 of the operator, 4 to the launch, 5 to the device. With the edits the host runs ahead: 50 and 300.
  EXPECT_NEAR(run.step(), 812e3, 1);
  const Finding found = run.only("data.h2d_pageable", &gpu);
  EXPECT_NEAR(run.gain(found, &gpu), 812e3 - 350e3, 2e3);
  // Without a GPU's name the copies take as long as they did, and only the wait goes.
  EXPECT_NEAR(run.gain(run.only("data.h2d_pageable")), 12e3, 2e3);
}

TEST(DataPageable, IsQuietOnSmallCopies) {
  HostRun run;
  run.steps(6, [&](int) {
    run.copy_and_wait("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 4096, 10 * us);
    run.kernel("aten::mm", "gemm", 300 * us);
  });
  run.finish();
  EXPECT_TRUE(run.detect("data.h2d_pageable").empty());
}

void copy_before_work(HostRun& run, TrackId on) {
  run.steps(6, [&](int) {
    const SliceId copy = run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now, "Memcpy HtoD (Pinned -> Device)", 100 * us, on);
    run.small.builder().add(TransferFact{copy, 2'000'000});
    run.python(5 * us);
    run.kernel("aten::mm", "gemm", 300 * us);
  });
  run.finish();
}

TEST(DataNotOverlapped, GainsTheCopy) {
  HostRun run;
  copy_before_work(run, run.stream);
  // 100 of copy, then 300 of kernel. The copies beside the kernels: 300.
  EXPECT_NEAR(run.step(), 400e3, 1);
  EXPECT_NEAR(run.gain(run.only("data.h2d_not_overlapped")), 100e3, 1e3);
}

TEST(DataNotOverlapped, IsQuietOnAStreamOfItsOwn) {
  HostRun run;
  copy_before_work(run, run.small.stream(9));
  EXPECT_TRUE(run.detect("data.h2d_not_overlapped").empty());
}

void changing_shapes(HostRun& run, bool change, bool allocate) {
  run.steps(6, [&](int i) {
    if (allocate) {
      run.small.call(run.thread, "cudaMalloc", run.now, 300 * us);
      run.python(300 * us);
    }
    const std::string shape = change ? std::to_string(100 + i) : "100";
    TimelineBuilder& builder = run.small.builder();
    builder.add_slice(SliceKind::operation, run.thread, run.now, 10 * us, builder.names().intern("aten::mm"), no_number, no_number,
                      builder.details().intern("\"Input Dims\": [[" + shape + ",8],[8,8]]"));
    run.launch(SliceKind::kernel, "cudaLaunchKernel", run.now + 4 * us, "gemm", 50 * us, run.stream);
    run.python(10 * us);
  });
  run.finish();
}

TEST(DataShapeVariability, GainsTheAllocations) {
  HostRun run;
  changing_shapes(run, true, true);
  // 300 of allocation and 10 of the operator; without the first the kernel of 50 decides.
  EXPECT_NEAR(run.gain(run.only("data.shape_variability")), 260e3, 1e3);
}

TEST(DataShapeVariability, IsQuietWhereShapesStayOrCostNothing) {
  HostRun same, free;
  changing_shapes(same, false, true);
  changing_shapes(free, true, false);
  EXPECT_TRUE(same.detect("data.shape_variability").empty());
  EXPECT_TRUE(free.detect("data.shape_variability").empty());
}

}  // namespace
}  // namespace stepscope
