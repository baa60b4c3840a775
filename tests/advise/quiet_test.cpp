// No rule finds anything in a well-tuned step: batches come from workers, copies from pinned memory run beside compute, kernels are long, launched ahead and
// near their GPU's limits, communication is hidden and near its link's, the optimizer is one kernel, memory is in use. Everything is recorded that a rule may
// look at, of one rank and of two.
#include <gtest/gtest.h>

#include "advise/advise.h"
#include "advise/evidence_device.h"
#include "cost/recorded_call.h"
#include "host_run.h"

namespace stepscope {
namespace {

// An A100 with 80 GB: 312 TFLOP/s in bf16, 2,039 GB/s, 300 GB/s over NVLink each way.
Gpu a100() {
  Gpu gpu;
  gpu.name = gpu.title = "A100";
  gpu.vendor = "NVIDIA";
  gpu.confidence = "verified";
  gpu.multiprocessors = 108;
  gpu.matrix_bf16 = gpu.matrix_fp16 = 312e12;
  gpu.matrix_tf32 = 156e12;
  gpu.vector_fp32 = 19.5e12;
  gpu.memory_bytes = 80.0 * static_cast<double>(std::int64_t{1} << 30);
  gpu.memory_bytes_per_second = 2.039e12;
  gpu.link_bytes_per_second_each_way = 300e9;
  gpu.host_link_bytes_per_second_each_way = 32e9;
  gpu.scale_up_gpus = 8;
  return gpu;
}

struct WellTuned : testing::Test {
  HostRun run;
  TrackId copies{}, links{};
  static constexpr std::int64_t gib = std::int64_t{1} << 30;
  static constexpr double matrix_share = 0.8;  // of the rate

  NameId detail(std::string_view text) { return run.small.builder().details().intern(text); }
  // As HostRun::kernel, with shapes on the operator and the grid on the kernel.
  void kernel(std::string_view operation, const std::string& shapes, std::string_view name, Nanoseconds duration, int blocks) {
    TimelineBuilder& b = run.small.builder();
    b.add_slice(SliceKind::operation, run.thread, run.now, 10 * us, b.names().intern(operation), no_number, no_number, detail(shapes));
    launch(run.stream, name, run.now + 4 * us, duration, "\"grid\": [" + std::to_string(blocks) + ",1,1], \"block\": [384,1,1]");
    run.now += 10 * us;
  }
  void launch(TrackId on, std::string_view name, Nanoseconds at, Nanoseconds duration, std::string_view recorded) {
    TimelineBuilder& b = run.small.builder();
    run.small.call(run.thread, "cudaLaunchKernel", at, HostRun::launch_call, ++run.correlation);
    Nanoseconds& free = on == run.stream ? run.device_free : run.other_free;
    const Nanoseconds start = std::max(at + HostRun::launch_lag, free);
    free = start + duration;
    b.add_slice(SliceKind::kernel, on, start, duration, b.names().intern(name), run.correlation, no_number, detail(recorded));
  }
  // 8192 · 8192 · 4096: multiples of every tile, 2,048 tiles of 256 · 128.
  void product(std::string_view name) {
    const double flops = 2.0 * 8192 * 8192 * 4096;
    kernel("aten::mm", recorded_detail("[[8192,4096],[4096,8192]]", R"(["c10::BFloat16","c10::BFloat16"])"), name,
           static_cast<Nanoseconds>(flops / (matrix_share * 312e12) * 1e9), 108);
  }
  // 4 sequences of 4,096 tokens, 32 heads of 128, causal: 2 · 2 · 4 · 32 · 4096² / 2 · 128 operations forward, 2.5 times as many backward.
  void attention(bool backward) {
    const double flops = 2.0 * 4 * 32 * 4096 * 4096 * 128 * (backward ? 2.5 : 1);
    const std::string one = "[4,32,4096,128]";
    const auto time = static_cast<Nanoseconds>(flops / (0.65 * 312e12) * 1e9);
    if (backward)
      kernel("aten::_scaled_dot_product_flash_attention_backward",
             recorded_detail("[" + one + "," + one + "," + one + "," + one + "," + one + ",[4,32,4096],[],[],[],[],[],[],[],[],[]]",
                             R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","","","Scalar","Scalar",)"
                             R"("Scalar","Scalar","long","long","Scalar"])",
                             R"(["","","","","","","","","4096","4096","0.","True","","","0.088"])"),
             "flash_bwd_kernel", time, 4096);
    else
      kernel("aten::_scaled_dot_product_flash_attention",
             recorded_detail("[" + one + "," + one + "," + one + ",[],[],[],[]]",
                             R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar","Scalar"])",
                             R"(["","","","0.","True","False","0.088"])"),
             "flash_fwd_kernel", time, 4096);
  }
  // 128 Mi elements in bf16 over 8 ranks at 80 % of the links' rate: 256 MiB · 7/8 / 240 GB/s.
  void reduce_scatter(int sequence) {
    const std::int64_t elements = std::int64_t{128} << 20;
    const auto time = static_cast<Nanoseconds>(static_cast<double>(2 * elements) * 7 / 8 / 240e9 * 1e9);
    launch(links, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE(ncclDevKernelArgsStorage<4096ul>)", run.now, time,
           "\"grid\": [24,1,1], \"block\": [544,1,1], \"Collective name\": \"_reduce_scatter_base\", \"In msg nelems\": " + std::to_string(elements) +
               ", \"Out msg nelems\": " + std::to_string(elements / 8) +
               ", \"Group size\": 8, \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7]\", \"Seq\": " +
               std::to_string(sequence));
  }
  void one_rank() {
    copies = run.small.stream(9);
    links = run.small.stream(11);
    run.steps(8, [&](int step) {
      run.small.builder().add(MemoryEvent{run.now, run.thread, 1, 0, 0x1000, 512, 68 * gib, 70 * gib});
      run.range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", [&] { run.python(30 * us); });
      run.other_free = std::max(run.other_free, run.now);
      const SliceId copy = run.launch(SliceKind::copy, "cudaMemcpyAsync", run.now, "Memcpy HtoD (Pinned -> Device)", 100 * us, copies);
      run.small.builder().add(TransferFact{copy, 2'000'000});
      run.python(5 * us);
      for (int layer = 0; layer < 12; ++layer) {
        attention(false);
        product("ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_nn");
      }
      for (int layer = 0; layer < 12; ++layer) {
        const Nanoseconds begin = run.now;
        attention(true);
        product("ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_nt");
        product("ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn");
        run.small.operation(run.thread, "autograd::engine::evaluate_function: MmBackward0", begin, run.now - begin);
        reduce_scatter(step * 12 + layer);
        run.python(5 * us);
      }
      run.range("Optimizer.step#AdamW.step", [&] { run.kernel("aten::_fused_adamw_", "FusedAdamMathFunctor", 700 * us); });
      run.range("Optimizer.zero_grad#AdamW.zero_grad", [&] { run.python(10 * us); });
      // The host stays a step ahead at most: it waits for the step before by an event.
      run.now = std::max(run.now, run.device_free - 50'000 * us);
    });
  }
  void expect_quiet() {
    const Gpu gpu = a100();
    EXPECT_GT(run.step(), 90e6);
    const AdviceScene scene = run.scene(&gpu);
    on_device::DeviceEvidence evidence(scene);
    EXPECT_GE(evidence.calls().size(), 8u * 12 * 5);  // products and attention, whose work the rules know
    for (const Rule* rule : all_rules())
      for (const Finding& finding : rule->detect(scene)) ADD_FAILURE() << rule->name << ": " << finding.observation;
    EXPECT_TRUE(advise(scene).advice.empty());
  }
};

TEST_F(WellTuned, StepHasNoAdvice) {
  one_rank();
  run.finish();
  expect_quiet();
}

TEST_F(WellTuned, StepOfTwoRanksHasNoAdvice) {
  one_rank();
  run.small.add_rank();
  run.small.in_process("2000");
  run.thread = run.small.thread("2");
  run.stream = run.small.stream(7);
  run.now = run.device_free = run.other_free = 0;
  one_rank();
  run.finish();
  ASSERT_EQ(run.small.timeline.ranks.size(), 2u);
  expect_quiet();
}

}  // namespace
}  // namespace stepscope
