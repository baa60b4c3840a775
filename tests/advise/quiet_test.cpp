// No rule finds anything in a well-tuned step: batches come from workers, copies from pinned memory run beside compute, kernels are long and launched ahead,
// communication is hidden, the optimizer is one kernel, memory is in use.
#include <gtest/gtest.h>

#include "advise/advise.h"
#include "host_run.h"

namespace stepscope {
namespace {

void well_tuned(HostRun& run) {
  const TrackId copies = run.small.stream(9), links = run.small.stream(11);
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  run.steps(8, [&](int) {
    run.small.builder().add(MemoryEvent{run.now, run.thread, 1, 0, 0x1000, 512, 68 * gib, 70 * gib});
    run.range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", [&] { run.python(30 * us); });
    run.other_free = std::max(run.other_free, run.now);
    const SliceId copy = run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now, "Memcpy HtoD (Pinned -> Device)", 100 * us, copies);
    run.small.builder().add(TransferFact{copy, 2'000'000});
    run.python(5 * us);
    for (int layer = 0; layer < 12; ++layer) {
      run.kernel("aten::_flash_attention_forward", "flash_fwd_kernel", 150 * us);
      run.kernel("aten::mm", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", 400 * us);
    }
    for (int layer = 0; layer < 12; ++layer) {
      const Nanoseconds begin = run.now;
      run.kernel("aten::_flash_attention_backward", "flash_bwd_kernel", 300 * us);
      run.kernel("aten::mm", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 800 * us);
      run.small.operation(run.thread, "autograd::engine::evaluate_function: MmBackward0", begin, run.now - begin);
      run.launch(SliceKind::kernel, "cudaLaunchKernel", run.now, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE(ncclDevKernelArgsStorage<4096ul>)", 500 * us,
                 links);
      run.python(5 * us);
    }
    run.range("Optimizer.step#AdamW.step", [&] { run.kernel("aten::_fused_adamw_", "FusedAdamMathFunctor", 700 * us); });
    run.range("Optimizer.zero_grad#AdamW.zero_grad", [&] { run.python(10 * us); });
    // The host stays a step ahead at most: it waits for the step before by an event.
    run.now = std::max(run.now, run.device_free - 10'000 * us);
  });
  run.finish();
}

TEST(WellTunedStep, HasNoAdvice) {
  HostRun run;
  well_tuned(run);
  Gpu gpu;
  gpu.memory_bytes = 80.0 * static_cast<double>(std::int64_t{1} << 30);
  gpu.memory_bytes_per_second = 3.35e12;
  gpu.host_link_bytes_per_second_each_way = 64e9;
  EXPECT_GT(run.step(), 20e6);
  for (const Rule* rule : all_rules())
    for (const Finding& finding : rule->detect(run.scene(&gpu))) ADD_FAILURE() << rule->name << ": " << finding.observation;
  EXPECT_TRUE(advise(run.scene(&gpu)).advice.empty());
}

}  // namespace
}  // namespace stepscope
