// What events become, column by column, on small traces whose figures can be told by hand.
#include <algorithm>

#include "kineto_reading.h"

namespace stepscope {
namespace {

using test::as_trace;
using test::read_text;

const Track& track_named(const Timeline& timeline, std::string_view process, std::string_view thread) {
  for (const Track& track : timeline.tracks)
    if (timeline.names[track.process] == process && timeline.names[track.thread] == thread) return track;
  ADD_FAILURE() << process << " " << thread;
  static const Track none;
  return none;
}

TEST(KinetoColumns, AnOperatorItsLaunchAndItsKernel) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 17, "tid": 18, "ts": 100.5, "dur": 40.25,
     "args": {"External id": 7, "Record function id": 3, "Input Dims": [[128, 256], [256, 512]], "Input type": ["float", "float"], "Ev Idx": 9, "Sequence number": 12, "Fwd thread id": 1, "Call stack": "", "Module Hierarchy": "net"}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 17, "tid": 18, "ts": 110, "dur": 5, "args": {"External id": 7, "cbid": 211, "correlation": 55}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 2, "tid": 7, "ts": 120.001, "dur": 3,
     "args": {"External id": 7, "queued": 0, "device": 3, "context": 1, "stream": 21, "correlation": 55, "grid": [4, 1, 1], "block": [128, 1, 1], "bytes": 9}})~"));
  const SliceColumns& s = timeline.slices;
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(timeline.origin_ns, 100'500);
  EXPECT_EQ(std::vector(s.start.begin(), s.start.end()), (std::vector<Nanoseconds>{0, 9'500, 19'501}));
  EXPECT_EQ(std::vector(s.duration.begin(), s.duration.end()), (std::vector<Nanoseconds>{40'250, 5'000, 3'000}));
  EXPECT_EQ(std::vector(s.kind.begin(), s.kind.end()), (std::vector{SliceKind::operation, SliceKind::runtime_call, SliceKind::kernel}));
  EXPECT_EQ(timeline.name_of(SliceId{0}), "aten::mm");
  EXPECT_EQ(timeline.name_of(SliceId{2}), "gemm");
  EXPECT_EQ(std::vector(s.correlation.begin(), s.correlation.end()), (std::vector<std::uint64_t>{no_number, 55, 55}));
  EXPECT_EQ(std::vector(s.external.begin(), s.external.end()), (std::vector<std::uint64_t>{7, 7, 7}));
  // What stood next to each other stays as written; what was taken out between leaves a comma.
  EXPECT_EQ(timeline.detail_of(SliceId{0}), R"~("Input Dims": [[128, 256], [256, 512]], "Input type": ["float", "float"], "Module Hierarchy": "net")~");
  EXPECT_EQ(timeline.detail_of(SliceId{1}), "");
  EXPECT_EQ(timeline.detail_of(SliceId{2}), R"~("grid": [4, 1, 1], "block": [128, 1, 1], "bytes": 9)~");
  ASSERT_EQ(timeline.sequences.size(), 1u);
  EXPECT_EQ(timeline.sequences[0].slice, SliceId{0});
  EXPECT_EQ(timeline.sequences[0].sequence, 12);
  EXPECT_EQ(timeline.sequences[0].forward_thread, 1u);
  EXPECT_EQ(timeline.transfers.size(), 0u);

  ASSERT_EQ(timeline.tracks.size(), 2u);
  const Track& thread = timeline.tracks[0];
  EXPECT_EQ(thread.kind, TrackKind::thread);
  EXPECT_EQ(timeline.names[thread.process], "17");
  EXPECT_EQ(timeline.names[thread.thread], "18");
  const Track& stream = timeline.tracks[1];
  EXPECT_EQ(stream.kind, TrackKind::stream);
  EXPECT_EQ(stream.stream, 21);
  EXPECT_EQ(timeline.names[stream.owner_process], "17");
  ASSERT_NE(stream.device, no_id<DeviceId>);
  EXPECT_EQ(timeline.devices[index(stream.device)].label, "3");
  EXPECT_EQ(timeline.devices[index(stream.device)].number, 3);
  EXPECT_TRUE(timeline.devices[index(stream.device)].has_slices);
}

TEST(KinetoColumns, CategoriesOfAllAges) {
  const std::pair<const char*, SliceKind> kinds[] = {
      {"kernel", SliceKind::kernel},
      {"Kernel", SliceKind::kernel},
      {"gpu_memcpy", SliceKind::copy},
      {"Memcpy", SliceKind::copy},
      {"gpu_memset", SliceKind::fill},
      {"Memset", SliceKind::fill},
      {"cuda_sync", SliceKind::device_sync},
      {"gpu_user_annotation", SliceKind::device_annotation},
      {"cpu_op", SliceKind::operation},
      {"Operator", SliceKind::operation},
      {"cuda_runtime", SliceKind::runtime_call},
      {"Runtime", SliceKind::runtime_call},
      {"cuda_driver", SliceKind::driver_call},
      {"python_function", SliceKind::python_function},
      {"user_annotation", SliceKind::annotation},
      {"overhead", SliceKind::overhead},
      {"Trace", SliceKind::profiler},
      {"mtia_ccp_events", SliceKind::other},
      {"mtia_runtime", SliceKind::other},
      {"something new", SliceKind::other},
  };
  for (const auto& [category, kind] : kinds) {
    const Timeline timeline = read_text(as_trace(fmt::format(R"~({{"ph": "X", "cat": "{}", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1}})~", category)));
    ASSERT_EQ(timeline.slices.size(), 1u) << category;
    EXPECT_EQ(timeline.slices.kind[0], kind) << category;
    EXPECT_EQ(timeline.tracks[0].device != no_id<DeviceId>, kind <= SliceKind::device_annotation) << category;
  }
}

// Triton's operators carry a stream, also under cpu_op: they ran on a thread all the same.
TEST(KinetoColumns, AnOperatorWithAStreamIsAnOperator) {
  const Timeline timeline = read_text(
      as_trace(R"~({"ph": "X", "cat": "cpu_op", "name": "triton_red_0", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "args": {"stream": 0, "num_warps": 8}})~"));
  EXPECT_EQ(timeline.slices.kind[0], SliceKind::operation);
  EXPECT_EQ(timeline.tracks[0].kind, TrackKind::thread);
  EXPECT_EQ(timeline.detail_of(SliceId{0}), R"~("num_warps": 8)~");
}

TEST(KinetoColumns, CopiesFillsAndSynchronisations) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 10, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1, "bytes": 92928, "memory bandwidth (GB/s)": 7.744}},
    {"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 7, "ts": 13, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": "16"}},
    {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 14, "dur": 1, "args": {"cuda_sync_kind": "Context Sync", "stream": 4294967295, "correlation": 3, "device": 0}},
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 15, "dur": 1,
     "args": {"cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 5169, "wait_on_cuda_event_id": 1, "stream": 20, "correlation": 4, "device": 0}},
    {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": -1, "ts": 16, "dur": 1,
     "args": {"cuda_sync_kind": "Event Sync", "wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1, "stream": -1, "correlation": 5, "device": 0}})~"));
  ASSERT_EQ(timeline.transfers.size(), 2u);
  EXPECT_EQ(timeline.transfers[0].bytes, 92928);
  EXPECT_EQ(timeline.transfers[1].bytes, 16);
  ASSERT_EQ(timeline.syncs.size(), 3u);
  EXPECT_EQ(timeline.syncs[0].wait_on_stream, -1);
  EXPECT_EQ(timeline.syncs[0].wait_on_record_correlation, no_number);
  EXPECT_EQ(timeline.syncs[1].wait_on_stream, 7);
  EXPECT_EQ(timeline.syncs[1].wait_on_record_correlation, 5169u);
  EXPECT_EQ(timeline.syncs[2].wait_on_record_correlation, no_number);
  EXPECT_EQ(timeline.track_of(SliceId{2}).stream, -1);
  EXPECT_EQ(timeline.track_of(SliceId{2}).device, timeline.track_of(SliceId{0}).device);
  EXPECT_EQ(timeline.detail_of(SliceId{3}), R"~("cuda_sync_kind": "Stream Wait Event")~");
}

TEST(KinetoColumns, PythonFrames) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"Python parent id": null, "Python id": 1, "Ev Idx": 2002}},
    {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"Python parent id": 1, "Python id": 2, "Python module id": 0}})~"));
  ASSERT_EQ(timeline.python.size(), 2u);
  EXPECT_EQ(timeline.python[0].id, 1u);
  EXPECT_EQ(timeline.python[0].parent, 0xFFFF'FFFFu);
  EXPECT_EQ(timeline.python[0].module, 0xFFFF'FFFFu);
  EXPECT_EQ(timeline.python[1].parent, 1u);
  EXPECT_EQ(timeline.python[1].module, 0u);
}

TEST(KinetoColumns, ArrowsInstantsMemoryAndCounters) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 2, "ts": 10, "dur": 90},
    {"ph": "s", "id": 4, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": 11},
    {"ph": "f", "id": 4, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 12, "bp": "e"},
    {"ph": "s", "id": 9, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 2, "ts": 13},
    {"ph": "f", "id": 9, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 3, "ts": 14, "bp": "e"},
    {"ph": "s", "id": "x", "cat": "mine", "name": "mine", "pid": 1, "tid": 2, "ts": 15},
    {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 16.5,
     "args": {"Total Reserved": 400, "Total Allocated": 300, "Bytes": -100, "Addr": 140046054457344, "Device Id": 1, "Device Type": 6, "Ev Idx": 5}},
    {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 17, "args": { "x": 1 } },
    {"ph": "C", "name": "power", "pid": 1, "ts": 18, "args": {"watts": 412.5}},
    {"ph": "C", "name": "memory", "pid": 1, "ts": 19, "args": {"used": 1, "free": 2}},
    {"ph": "P", "name": "sample", "pid": 1, "tid": 2, "ts": 20})~"));
  ASSERT_EQ(timeline.flows.size(), 3u);
  EXPECT_EQ(timeline.flows[0].kind, FlowKind::forward_backward);
  EXPECT_EQ(timeline.flows[0].id, 9u);
  EXPECT_EQ(timeline.flows[0].time, 3'000);
  EXPECT_TRUE(timeline.flows[0].starts);
  EXPECT_FALSE(timeline.flows[1].starts);
  EXPECT_EQ(timeline.names[timeline.tracks[index(timeline.flows[1].track)].thread], "3");
  EXPECT_EQ(timeline.flows[2].kind, FlowKind::other);
  EXPECT_EQ(timeline.health.notes.count("launch_arrows"), 2u);
  ASSERT_EQ(timeline.memory.size(), 1u);
  const MemoryEvent& memory = timeline.memory[0];
  EXPECT_EQ(memory.time, 6'500);
  EXPECT_EQ(memory.bytes, -100);
  EXPECT_EQ(memory.address, 140046054457344u);
  EXPECT_EQ(memory.device_type, 6);
  EXPECT_EQ(memory.device, 1);
  EXPECT_EQ(memory.total_allocated, 300);
  EXPECT_EQ(memory.total_reserved, 400);
  EXPECT_EQ(timeline.names[timeline.tracks[index(memory.track)].thread], "2");
  ASSERT_EQ(timeline.instants.size(), 1u);
  EXPECT_EQ(timeline.names[timeline.instants[0].name], "Record Window End");
  EXPECT_EQ(timeline.details[timeline.instants[0].detail], "\"x\": 1");
  ASSERT_EQ(timeline.counters.size(), 3u);
  EXPECT_EQ(timeline.names[timeline.counters[0].name], "power");
  EXPECT_EQ(timeline.counters[0].value, 412.5);
  EXPECT_EQ(timeline.names[timeline.counters[2].name], "memory.free");
  EXPECT_EQ(timeline.health.notes.count("unread_events"), 1u);
  EXPECT_EQ(timeline.ranks[0].events, 11u);
  EXPECT_TRUE(timeline.health.repairs.empty());
}

TEST(KinetoColumns, BeginAndEndEventsNestPerThread) {
  const Timeline timeline = read_text(R"~([
    {"ph": "B", "name": "outer", "cat": "c", "pid": 1, "tid": 1, "ts": 10},
    {"ph": "B", "name": "inner", "cat": "c", "pid": 1, "tid": 1, "ts": 12},
    {"ph": "B", "name": "elsewhere", "cat": "c", "pid": 1, "tid": 2, "ts": 13},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 15, "args": {"result": 3}},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 20},
    {"ph": "E", "pid": 1, "tid": 9, "ts": 21},
    {"ph": "X", "name": "later", "cat": "c", "pid": 1, "tid": 2, "ts": 30, "dur": 5}])~");
  ASSERT_EQ(timeline.slices.size(), 4u);
  EXPECT_EQ(std::vector(timeline.slices.duration.begin(), timeline.slices.duration.end()), (std::vector<Nanoseconds>{10'000, 3'000, 22'000, 5'000}));
  EXPECT_EQ(timeline.detail_of(SliceId{1}), "\"result\": 3");
  EXPECT_EQ(timeline.health.repairs.count("unfinished_begin"), 1u);   // "elsewhere" ends with its thread, at 35
  EXPECT_EQ(timeline.health.repairs.count("end_without_begin"), 1u);  // on thread 9
}

TEST(KinetoColumns, NegativeDurationsEndWithTheirThreadOnADeviceTheyAreNothing) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "cpu_op", "name": "unfinished", "pid": 1, "tid": 1, "ts": 10, "dur": -1},
    {"ph": "X", "cat": "cpu_op", "name": "last", "pid": 1, "tid": 1, "ts": 20, "dur": 4},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": -3},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 40, "dur": 3})~"));
  EXPECT_EQ(std::vector(timeline.slices.duration.begin(), timeline.slices.duration.end()), (std::vector<Nanoseconds>{14'000, 4'000, 0, 3'000}));
  EXPECT_EQ(timeline.health.repairs.count("negative_duration"), 2u);
}

TEST(KinetoColumns, ASliceAtTimeZeroIsLeftOutOnlyWhereAllOthersAreFarAway) {
  const std::string zero = R"~({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0, "dur": 0, "args": {"correlation": 1, "bytes": 1}},)~";
  const std::string far = R"~({"ph": "X", "cat": "gpu_memcpy", "name": "m", "pid": 0, "tid": 7, "ts": 1700000000000000, "dur": 1, "args": {"bytes": 5}})~";
  Timeline timeline = read_text(as_trace(zero + far));
  ASSERT_EQ(timeline.slices.size(), 1u);
  EXPECT_EQ(timeline.name_of(SliceId{0}), "m");
  ASSERT_EQ(timeline.transfers.size(), 1u);
  EXPECT_EQ(timeline.transfers[0].slice, SliceId{0});
  EXPECT_EQ(timeline.health.repairs.count("zero_timestamp"), 1u);
  timeline = read_text(as_trace(zero + R"~({"ph": "X", "cat": "kernel", "name": "m", "pid": 0, "tid": 7, "ts": 300, "dur": 1})~"));
  EXPECT_EQ(timeline.slices.size(), 2u);
  EXPECT_TRUE(timeline.health.repairs.empty());
}

TEST(KinetoColumns, ATimeOutOfRangeDoesNotStretchTheCapture) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 2},
    {"ph": "X", "cat": "kernel", "name": "far", "pid": 0, "tid": 7, "ts": 1e308, "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "early", "pid": 0, "tid": 7, "ts": -99999999999999999999, "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "l", "pid": 0, "tid": 7, "ts": 105, "dur": 1})~"));
  ASSERT_EQ(timeline.slices.size(), 2u);
  EXPECT_EQ(timeline.origin_ns, 100'000);
  EXPECT_EQ(timeline.slices.end(SliceId{1}), 6'000);
  EXPECT_EQ(timeline.health.repairs.count("number_out_of_range"), 2u);
  EXPECT_EQ(timeline.health.repairs.count("missing_time"), 2u);
}

TEST(KinetoColumns, OddNumbersAreReadAndCounted) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "cpu_op", "name": "quoted", "pid": "main", "tid": "worker 1", "ts": "123.4", "dur": "5", "args": {"External id": "8"}},
    {"ph": "X", "cat": "cpu_op", "name": "exponent", "pid": "main", "tid": "worker 1", "ts": 1.5e2, "dur": 1e-3},
    {"ph": "X", "cat": "cpu_op", "name": "huge", "pid": "main", "tid": "worker 1", "ts": 200, "dur": 1e300},
    {"ph": "X", "cat": "cpu_op", "name": "no time", "pid": "main", "tid": "worker 1", "dur": 1},
    {"ph": "X", "cat": "cpu_op", "name": "no duration", "pid": "main", "tid": "worker 1", "ts": 201},
    {"ph": "X", "cat": "cpu_op", "name": "twice", "pid": "main", "tid": "worker 1", "ts": 7, "dur": 1, "ts": 202, "name": "last counts"},
    {"ph": "X", "cat": "cuda_runtime", "name": "ids", "pid": "main", "tid": "worker 1", "ts": 203, "dur": 1, "args": {"correlation": 18446744073709551615, "External id": 18446744073709551614}})~"));
  const SliceColumns& s = timeline.slices;
  ASSERT_EQ(s.size(), 6u);
  EXPECT_EQ(timeline.origin_ns, 123'400);
  EXPECT_EQ(s.duration[0], 5'000);
  EXPECT_EQ(s.external[0], 8u);
  EXPECT_EQ(s.start[1], 150'000 - 123'400);
  EXPECT_EQ(s.duration[1], 1);
  EXPECT_EQ(s.duration[2], (Nanoseconds{1} << 62) - 1 - 200'000);
  EXPECT_EQ(s.duration[3], 0);
  EXPECT_EQ(timeline.name_of(SliceId{4}), "last counts");
  EXPECT_EQ(s.start[4], 202'000 - 123'400);
  EXPECT_EQ(s.correlation[5], 18446744073709551615u);
  EXPECT_EQ(s.external[5], 18446744073709551614u);
  EXPECT_EQ(timeline.names[timeline.tracks[0].thread], "worker 1");
  const HealthList& repairs = timeline.health.repairs;
  EXPECT_EQ(repairs.count("quoted_number"), 2u);
  EXPECT_EQ(repairs.count("number_out_of_range"), 2u);  // the duration, and the end that it would have
  EXPECT_EQ(repairs.count("missing_time"), 1u);
  EXPECT_EQ(repairs.count("missing_duration"), 1u);
  EXPECT_EQ(repairs.count("duplicate_key"), 1u);
}

TEST(KinetoColumns, TheHeaderSaysWhatTheJobIs) {
  const Timeline timeline = read_text(R"~({
    "schemaVersion": 1, "record_shapes": 1, "with_stack": 0, "baseTimeNanoseconds": 1735632360000000000, "displayTimeUnit": "ns", "host_name": "secret",
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85899345920, "computeMajor": 9, "computeMinor": 0, "numSms": 132}, {"id": 1, "name": "NVIDIA H100"}],
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 2, "pg_config": [
      {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 8, "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}, {"pg_name": "1", "pg_desc": "tp", "ranks": [2, 3]}]},
    "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 1, "stream": 7}},
                    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "stream 7 "}},
                    {"ph": "M", "name": "thread_sort_index", "pid": 1, "tid": 7, "args": {"sort_index": 42}}],
    "profile_memory": true})~");
  ASSERT_EQ(timeline.ranks.size(), 1u);
  const Rank& rank = timeline.ranks[0];
  EXPECT_EQ(rank.number, 3);
  EXPECT_EQ(rank.number_from, RankSource::distributed_info);
  EXPECT_EQ(rank.world_size, 8);
  EXPECT_EQ(rank.backend, "nccl");
  EXPECT_EQ(rank.producer, "Kineto schema 1");
  EXPECT_EQ(rank.base_time_ns, 1735632360000000000);
  EXPECT_EQ(rank.records_shapes, true);
  EXPECT_EQ(rank.records_stacks, false);
  EXPECT_EQ(rank.records_memory, true);
  ASSERT_EQ(rank.groups.size(), 2u);
  EXPECT_EQ(rank.groups[1].name, "1");
  EXPECT_EQ(rank.groups[1].description, "tp");
  EXPECT_EQ(rank.groups[1].ranks, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(rank.groups[1].size, 2);
  ASSERT_EQ(timeline.devices.size(), 2u);
  const auto described = std::ranges::find(timeline.devices, "0", &Device::label), used = std::ranges::find(timeline.devices, "1", &Device::label);
  ASSERT_NE(described, timeline.devices.end());
  ASSERT_NE(used, timeline.devices.end());
  EXPECT_EQ(described->gpu_name, "NVIDIA H100");
  EXPECT_EQ(described->memory_bytes, 85899345920);
  EXPECT_EQ(described->multiprocessors, 132);
  EXPECT_EQ(described->compute_major, 9);
  EXPECT_FALSE(described->has_slices);
  EXPECT_TRUE(used->has_slices);
  EXPECT_EQ(timeline.origin_ns, 1'000);  // the base time is not added
  const Track& stream = track_named(timeline, "1", "7");
  EXPECT_EQ(stream.label, "stream 7");
  EXPECT_EQ(stream.sort_index, 42);
}

TEST(KinetoColumns, AnnotationsOnADeviceRowShareItsTrack) {
  const Timeline timeline = read_text(as_trace(R"~(
    {"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 9, "dur": 5, "args": {"External id": 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 1, "args": {"device": 0, "stream": 7}},
    {"ph": "i", "s": "t", "name": "mark", "pid": 0, "tid": 7, "ts": 11})~"));
  ASSERT_EQ(timeline.tracks.size(), 1u);
  EXPECT_EQ(timeline.on_track(TrackId{0}).size(), 2u);
  EXPECT_EQ(timeline.instants[0].track, TrackId{0});
  EXPECT_EQ(timeline.devices.size(), 1u);
}

TEST(KinetoColumns, EscapesAreDecodedInNamesAndKeptInDetails) {
  const Timeline timeline =
      read_text(as_trace(R"~({"ph": "X", "cat": "cpu_op", "name": "a\"b\u00e9\n", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"f": "x\"y"}})~"));
  EXPECT_EQ(timeline.name_of(SliceId{0}), "a\"b\xC3\xA9\n");
  EXPECT_EQ(timeline.detail_of(SliceId{0}), R"~("f": "x\"y")~");
}

TEST(KinetoColumns, WhatCannotBeMadeOutIsLeftOutAndReadingGoesOn) {
  const std::string good = R"({"ph": "X", "cat": "cpu_op", "name": "good", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
  const std::string broken = R"({"ph": "X", "cat" "cpu_op", "name": "broken", "pid": 1})";
  const Timeline timeline = read_text(as_trace(good + ", null, 12, " + broken + ", " + good + ", ]]], " + good));
  EXPECT_EQ(timeline.slices.size(), 2u);
  EXPECT_EQ(timeline.health.repairs.count("damaged_event"), 1u);
  EXPECT_EQ(timeline.health.repairs.count("not_an_event"), 2u);
  EXPECT_EQ(timeline.health.repairs.count("damaged_header"), 1u);  // the list ended at the first bracket
}

TEST(KinetoColumns, RefusesWhatIsNoTrace) {
  for (const char* text : {"", "  \n ", "\xEF\xBB\xBF", "hello", "{\"a\": 1}", "12"}) {
    const auto timeline = test::try_read(text);
    ASSERT_FALSE(timeline.has_value()) << text;
    EXPECT_FALSE(timeline.error().problem.empty());
    EXPECT_FALSE(timeline.error().remedy.empty());
  }
}

// Layouts must not grow with what never repeats: details that differ in every event.
TEST(KinetoColumns, ManyDifferentDetailsAndNames) {
  std::string events;
  constexpr int count = 60'000;
  for (int i = 0; i < count; ++i)
    events +=
        fmt::format(R"~({}{{"ph": "X", "cat": "cpu_op", "name": "op{}", "pid": 1, "tid": 1, "ts": {}, "dur": 1, "args": {{"Seq": {}, "text": "{:0200}"}}}})~",
                    i == 0 ? "" : ",\n", i % 20'000, i + 1, i, i);
  const std::string trace = as_trace(events);
  const Timeline timeline = read_text(trace);
  ASSERT_EQ(timeline.slices.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(timeline.name_of(SliceId{59'999}), "op19999");
  EXPECT_TRUE(timeline.detail_of(SliceId{59'999}).starts_with("\"Seq\": 59999, "));
  const Timeline by_threads = read_text(trace, KinetoTuning{.thread_block_bytes = 1 << 16, .threads_from_bytes = 1 << 16, .alone_bytes = 1 << 16}, 3);
  EXPECT_EQ(test::difference(timeline, by_threads), "");
}

}  // namespace
}  // namespace stepscope
