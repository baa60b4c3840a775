#include <gtest/gtest.h>

#include "facts/collective_call.h"
#include "hand_built.h"

namespace stepscope {

extern const Question collectives_question;

namespace {

constexpr std::string_view all_reduce_arguments =
    R"x("Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 1000000, "Out msg nelems": 1000000, "Group size": 8, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]")x";
constexpr std::string_view all_gather_arguments =
    R"x("Collective name": "_allgather_base", "dtype": "Float", "In msg nelems": 1000, "Out msg nelems": 4000, "Group size": 4, "Process Group Name": "1", "Process Group Ranks": "[0, 1, 2, 3]")x";

const std::vector<Value>& only_row(const Section& section) {
  const Table& table = *section.table("by_kind");
  EXPECT_EQ(table.rows.size(), 1u);
  return table.rows.at(0);
}
const Value& in(const Section& section, std::string_view column) {
  return only_row(section)[column_of(*section.table("by_kind"), column)];
}

// Two all-reduces of 2 MB in bf16 over 8 ranks, 100 and 300 µs: 4 MB / 400 µs = 10 GB/s; bus 10 · 2·7/8 = 17.5 GB/s.
TEST(Collectives, ArgumentsOnTheKernel) {
  HandBuilt run;
  const TrackId stream = run.stream(9);
  run.kernel(stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0, 100, 1, all_reduce_arguments);
  run.kernel(stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 200, 300, 2, all_reduce_arguments);
  run.kernel(stream, "gemm", 600, 300);
  run.finish();
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(text_of(in(section, "function")), "all-reduce");
  EXPECT_EQ(text_of(in(section, "type")), "bf16");
  EXPECT_EQ(text_of(in(section, "size")), "1 – 16 MB");
  EXPECT_EQ(text_of(in(section, "group")), "0");
  EXPECT_EQ(whole_of(in(section, "group_size")), 8);
  EXPECT_EQ(whole_of(in(section, "count")), 2);
  EXPECT_EQ(whole_of(in(section, "bytes")), 4'000'000);
  EXPECT_EQ(whole_of(in(section, "total_ns")), 400'000);
  EXPECT_DOUBLE_EQ(real_of(in(section, "algorithm_bandwidth_bytes_per_s")), 10e9);
  EXPECT_DOUBLE_EQ(real_of(in(section, "bus_bandwidth_bytes_per_s")), 17.5e9);
  EXPECT_EQ(section.summary, "2 collectives take 400 µs, summed; all-reduce 400 µs.");
  EXPECT_EQ(section.caveats.size(), 1u);
}

// An all-gather's size is its output's: 16 kB in 40 µs = 0.4 GB/s; bus 0.4 · 3/4. Two kernels of one operator are one collective.
TEST(Collectives, ArgumentsOnTheOperator) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(9);
  run.operation(thread, "c10d::_allgather_base_", 0, 100);
  run.operation(thread, "record_param_comms", 5, 90, all_gather_arguments);
  run.slice(SliceKind::annotation, thread, "nccl:_all_gather_base", 10, 80);
  run.call(thread, "cudaLaunchKernelExC", 20, 5, 1);
  run.call(thread, "cudaLaunchKernelExC", 30, 5, 2);
  run.kernel(stream, "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 50, 30, 1);
  run.kernel(stream, "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 80, 10, 2);
  run.finish();
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(text_of(in(section, "function")), "all-gather");
  EXPECT_EQ(whole_of(in(section, "count")), 1);
  EXPECT_EQ(whole_of(in(section, "kernels")), 2);
  EXPECT_EQ(whole_of(in(section, "bytes")), 16'000);
  EXPECT_DOUBLE_EQ(real_of(in(section, "algorithm_bandwidth_bytes_per_s")), 0.4e9);
  EXPECT_DOUBLE_EQ(real_of(in(section, "bus_bandwidth_bytes_per_s")), 0.3e9);
}

// Old traces: the annotation has the input's shape, nothing names the group. NCCL runs an all-to-all as SendRecv.
TEST(Collectives, ShapesOfAnAnnotation) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(9);
  run.operation(thread, "c10d::alltoall_base_", 0, 100,
                R"("Input Dims": [[6144], [6144], [], [], [], []], "Input type": ["float", "float", "", "", "", "Scalar"])");
  run.operation(thread, "record_param_comms", 5, 90, R"("Input Dims": [[], []], "Input type": ["TensorList", "Scalar"])");
  run.slice(SliceKind::annotation, thread, "nccl:all_to_all", 10, 80, no_number, R"("Input Dims": [[6144]], "Input type": ["float"])");
  run.call(thread, "cudaLaunchKernel", 20, 5, 1);
  run.kernel(stream, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 50, 20, 1);
  run.finish();
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(text_of(in(section, "function")), "all-to-all");
  EXPECT_EQ(text_of(in(section, "type")), "fp32");
  EXPECT_EQ(whole_of(in(section, "bytes")), 24'576);
  EXPECT_DOUBLE_EQ(real_of(in(section, "algorithm_bandwidth_bytes_per_s")), 24'576 / 20e-6);
  EXPECT_EQ(in(section, "bus_bandwidth_bytes_per_s"), Value{}) << "the group's size is unknown";
  EXPECT_EQ(section.caveats.size(), 2u);
}

// The buffers of c10d operators without any other record: output first.
TEST(Collectives, ShapesOfAnOperator) {
  HandBuilt run;
  const TrackId thread = run.thread("1"), stream = run.stream(9);
  run.operation(thread, "c10d::_reduce_scatter_base_", 0, 50, R"("Input Dims": [[100], [400], [], []], "Input type": ["c10::Half", "c10::Half", "", ""])");
  run.call(thread, "cudaLaunchKernel", 20, 5, 1);
  run.kernel(stream, "ncclDevKernel_ReduceScatter_Sum_f16_RING_LL(x)", 60, 20, 1);
  run.finish();
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(text_of(in(section, "function")), "reduce-scatter");
  EXPECT_EQ(whole_of(in(section, "bytes")), 800);
}

TEST(Collectives, WithoutAnyRecordTheKernelsNameMustDo) {
  HandBuilt run;
  const TrackId stream = run.stream(9);
  run.kernel(stream, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", 0, 20);
  run.finish();
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  EXPECT_EQ(text_of(in(section, "function")), "all-reduce");
  EXPECT_EQ(text_of(in(section, "type")), "fp32");
  for (const std::string_view column : {"size", "group", "group_size", "bytes", "algorithm_bandwidth_bytes_per_s", "bus_bandwidth_bytes_per_s"})
    EXPECT_EQ(in(section, column), Value{}) << column;
  EXPECT_EQ(section.figure("bytes")->value, Value{});
  EXPECT_EQ(section.caveats.size(), 2u);
}

TEST(Collectives, ProfilerStartIsARowOfItsOwn) {
  HandBuilt run;
  const TrackId stream = run.stream(9);
  const SliceId first = run.kernel(stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 0, 15'700'000, 1, all_reduce_arguments);
  run.kernel(stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 15'800'000, 120, 2, all_reduce_arguments);
  run.finish();
  run.facts.start_transients.push_back(first);
  const Section section = collectives_question.answer(run.device_scene()).at(0);
  const Table& table = *section.table("by_kind");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][column_of(table, "profiler_start")], Value{true});
  EXPECT_EQ(whole_of(table.rows[1][column_of(table, "median_ns")]), 120'000);
  EXPECT_EQ(section.caveats.size(), 2u);
}

TEST(CollectiveFunctions, OfOperators) {
  const std::pair<std::string_view, CollectiveFunction> cases[] = {
      {"allreduce", CollectiveFunction::all_reduce},
      {"allreduce_coalesced", CollectiveFunction::all_reduce},
      {"nccl:all_reduce", CollectiveFunction::all_reduce},
      {"_allgather_base", CollectiveFunction::all_gather},
      {"nccl:_all_gather_base", CollectiveFunction::all_gather},
      {"all_gather_into_tensor_coalesced", CollectiveFunction::all_gather},
      {"c10d::_reduce_scatter_base_", CollectiveFunction::reduce_scatter},
      {"reduce_scatter_tensor_coalesced", CollectiveFunction::reduce_scatter},
      {"all_to_allv", CollectiveFunction::all_to_all},
      {"c10d::alltoall_base_", CollectiveFunction::all_to_all},
      {"c10d::broadcast_", CollectiveFunction::broadcast},
      {"nccl:reduce", CollectiveFunction::reduce},
      {"nccl:send 0->1", CollectiveFunction::send},
      {"nccl:recv 0<-1", CollectiveFunction::receive},
      {"c10d::barrier", CollectiveFunction::barrier},
      {"wait", CollectiveFunction::unknown},
  };
  for (const auto& [name, function] : cases) EXPECT_EQ(collective_function_of_operator(name), function) << name;
}

TEST(CollectiveFunctions, OfKernels) {
  const std::pair<std::string_view, CollectiveFunction> cases[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CollectiveFunction::all_reduce},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CollectiveFunction::all_gather},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CollectiveFunction::reduce_scatter},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", CollectiveFunction::send_receive},
      {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CollectiveFunction::broadcast},
      {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", CollectiveFunction::unknown},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)", CollectiveFunction::custom_all_reduce},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)", CollectiveFunction::custom_all_reduce},
      {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)", CollectiveFunction::expert_dispatch},
      {"void deep_ep::internode::combine<__nv_bfloat16, true>(int4*)", CollectiveFunction::expert_combine},
      {"void deep_ep::internode::cached_notify<false>(int)", CollectiveFunction::expert_notify},
      {"void deep_ep::intranode::notify_dispatch<8>(int const*)", CollectiveFunction::expert_notify},
  };
  for (const auto& [name, function] : cases) EXPECT_EQ(collective_function_of_kernel(name), function) << name;
}

TEST(BusFactor, AsInTheDefinition) {
  using enum CollectiveFunction;
  EXPECT_DOUBLE_EQ(*bus_factor(all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(*bus_factor(all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(*bus_factor(reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(*bus_factor(all_to_all, 2), 0.5);
  EXPECT_DOUBLE_EQ(*bus_factor(broadcast, std::nullopt), 1.0);
  EXPECT_EQ(bus_factor(all_reduce, std::nullopt), std::nullopt);
  EXPECT_EQ(bus_factor(barrier, 8), std::nullopt);
  EXPECT_EQ(bus_factor(expert_dispatch, 8), std::nullopt);
}

}  // namespace
}  // namespace stepscope
