// Timeline: what happened. Ranks, tracks (a device stream, a CPU thread), slices with start and duration, and facts recorded about them, in columns.
//
// Rows keep the order in which the reader met them; `order` gives each track's slices by start. Times are int64 ns on the clock of the rank's file, less
// `origin_ns`, so that they are small; origin_ns + time is the absolute time (Unix epoch, where the file says so).
// A Timeline is made by a TimelineBuilder (builder.h), checked by check() (check.h) and never changed afterwards.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/names.h"
#include "base/time.h"
#include "timeline/health.h"

namespace stepscope {

// What kind of record a slice came from. Only kernel, copy and fill are device activity (METRICS.md).
enum class SliceKind : std::uint8_t {
  kernel,             // a kernel that ran on a device
  copy,               // a memory copy that ran on a device
  fill,               // a memory set that ran on a device
  device_sync,        // a synchronisation record drawn on a device row: never activity
  device_annotation,  // an annotation drawn on a device row: never activity
  operation,          // a framework operator on a CPU thread (cpu_op)
  runtime_call,       // a runtime API call (cuda_runtime, hip*)
  driver_call,        // a driver API call (cuda_driver)
  python_function,    // a Python frame
  annotation,         // a user's range on a CPU thread (record_function, NVTX): also ProfilerStep
  overhead,           // the profiler's own overhead
  profiler,           // the profiler's span over the whole capture
  other,              // a row of a track that Stepscope has no meaning for (MTIA, unknown categories)
};
inline constexpr std::size_t slice_kind_count = 13;
std::string_view slice_kind_name(SliceKind kind);  // "kernel", "copy", …
constexpr bool is_device_activity(SliceKind kind) {
  return kind <= SliceKind::fill;
}
constexpr bool is_api_call(SliceKind kind) {
  return kind == SliceKind::runtime_call || kind == SliceKind::driver_call;
}

// Absent value of the 64-bit id columns (correlation, external). Kineto's ids are unsigned 64-bit and may exceed 2^63, up to 2^64 - 1, so "absent" is a number
// that no producer has a reason to write.
inline constexpr std::uint64_t no_number = 0xF1E2'D3C4'0B5A'6978u;

// One row per slice; all columns have the same size.
struct SliceColumns {
  Column<Nanoseconds> start;     // ns since Timeline::origin_ns
  Column<Nanoseconds> duration;  // ≥ 0
  Column<NameId> name;           // into Timeline::names
  Column<TrackId> track;
  Column<SliceKind> kind;
  Column<std::uint64_t> correlation;  // joins an API call with the device slices it launched, within (rank's file, process); no_number = none
  Column<std::uint64_t> external;     // "External id": the operator that was open when the row was recorded; no_number = none
  Column<NameId> detail;              // into Timeline::details: the row's remaining arguments; NameId{0} = none
  std::size_t size() const { return start.size(); }
  Nanoseconds end(SliceId id) const { return start[id] + duration[id]; }
};

// Facts that only some slices have, each list sorted by slice.
struct SequenceFact {  // an operator that autograd numbered
  SliceId slice;
  std::int64_t sequence;         // "Sequence number": equal in the forward operator and the backward one it caused
  std::uint64_t forward_thread;  // "Fwd thread id": 0 in forward operators, the forward thread's number in backward ones; no_number = not recorded
};
struct PythonFact {  // a Python frame
  SliceId slice;
  std::uint32_t id;      // "Python id"
  std::uint32_t parent;  // "Python parent id"; 0xFFFFFFFF = none
  std::uint32_t module;  // "Python module id" of an nn.Module call; 0xFFFFFFFF = no module
};
struct TransferFact {  // a copy or fill
  SliceId slice;
  std::int64_t bytes;
};
struct SyncFact {  // a device_sync row: what the waiting stream or thread waited for
  SliceId slice;
  std::int64_t wait_on_stream;               // -1 = not said
  std::uint64_t wait_on_record_correlation;  // correlation id of the cudaEventRecord call; no_number = not said
};

// An arrow's end. Both ends carry the same id and kind; starts is true at its tail.
enum class FlowKind : std::uint8_t { launch /* ac2g, async_cpu_to_gpu */, forward_backward /* fwdbwd */, other };
struct FlowEnd {
  std::uint64_t id;
  Nanoseconds time;
  TrackId track;
  FlowKind kind;
  bool starts;
};

// An allocation (bytes > 0) or a release (bytes < 0) as the allocator reported it ("[memory]" instants).
struct MemoryEvent {
  Nanoseconds time;
  TrackId track;             // the CPU thread on which it happened
  std::int32_t device_type;  // c10::DeviceType: 0 CPU, 1 CUDA/ROCm, …
  std::int32_t device;       // device number; -1 where it has none
  std::uint64_t address;
  std::int64_t bytes;
  std::int64_t total_allocated;  // after the event, as reported; -1 = not reported
  std::int64_t total_reserved;   // after the event, as reported; -1 = not reported
};

struct CounterSample {
  Nanoseconds time;
  TrackId track;
  NameId name;  // counter name, "." and the series where it has several
  double value;
};

struct Instant {
  Nanoseconds time;
  TrackId track;
  NameId name;
  NameId detail;
};

enum class TrackKind : std::uint8_t { thread, stream, other };

struct Track {
  RankId rank{};
  TrackKind kind = TrackKind::other;
  NameId process{};                   // the process as written ("3113936", "Spans"); correlation ids are unique within (rank, owner_process)
  NameId thread{};                    // the thread or row as written
  NameId owner_process{};             // of a stream: the process that launched into it; of a thread: its own process
  DeviceId device = no_id<DeviceId>;  // of a stream
  std::int64_t stream = -1;           // of a stream: its number
  std::string label;                  // as the trace names it ("thread 542 (python3)", "stream 7"); may be empty
  std::int64_t sort_index = 0;
};

// A device that ran at least one slice, or that the file describes.
struct Device {
  RankId rank{};
  std::string label;                   // as device slices name it: args.device, else their pid: "0"
  std::optional<std::int64_t> number;  // the label as a number, where it is one
  std::string gpu_name;                // deviceProperties.name: "NVIDIA H100 80GB HBM3"; "" = not said
  std::int64_t memory_bytes = 0;       // 0 = not said
  std::int32_t multiprocessors = 0;    // 0 = not said
  std::int32_t compute_major = 0, compute_minor = 0;
  bool has_slices = false;
};

struct ProcessGroup {
  std::string name;  // "pg_name"
  std::string description;
  std::vector<std::int64_t> ranks;  // global ranks; empty = not said
  std::int64_t size = 0;
};

// How the rank of a file was found.
enum class RankSource : std::uint8_t { distributed_info, file_name, position, given };

// One input file: one process of a training job, usually.
struct Rank {
  std::int64_t number = 0;
  RankSource number_from = RankSource::position;
  std::int64_t world_size = 0;                                         // 0 = not said
  std::string file;                                                    // path as given
  std::string backend;                                                 // "nccl"; "" = not said
  std::string producer;                                                // format and version as far as known: "Kineto schema 1"
  std::uint64_t bytes = 0;                                             // uncompressed size
  std::uint64_t events = 0;                                            // records read, of any kind
  std::optional<bool> records_shapes, records_stacks, records_memory;  // profiler options, where the file says so
  std::vector<ProcessGroup> groups;
  Nanoseconds base_time_ns = 0;  // baseTimeNanoseconds: added to the file's times gives Unix time; 0 = the file's times are used as they are
};

struct Timeline {
  NameTable names;    // names of slices, processes, threads, counters
  NameTable details;  // JSON object texts of remaining arguments, without the braces: `"grid": [864,1,1], "block": [256,1,1]`
  SliceColumns slices;
  std::vector<Track> tracks;
  std::vector<Device> devices;
  std::vector<Rank> ranks;
  Nanoseconds origin_ns = 0;

  // Each track's slices, by (start, longest first, row): slices of track t are order[first[t] .. first[t+1]).
  Column<SliceId> order;
  Column<std::uint32_t> first;  // tracks + 1 entries

  Column<SequenceFact> sequences;
  Column<PythonFact> python;
  Column<TransferFact> transfers;
  Column<SyncFact> syncs;
  Column<FlowEnd> flows;  // launch arrows are counted in the health notes, not kept: correlation ids say the same; the others are here
  Column<MemoryEvent> memory;
  Column<CounterSample> counters;
  Column<Instant> instants;
  CaptureHealth health;

  std::span<const SliceId> on_track(TrackId track) const { return order.span().subspan(first[index(track)], first[index(track) + 1] - first[index(track)]); }
  const Track& track_of(SliceId id) const { return tracks[index(slices.track[id])]; }
  std::string_view name_of(SliceId id) const { return names[slices.name[id]]; }
  std::string_view detail_of(SliceId id) const { return details[slices.detail[id]]; }
};

}  // namespace stepscope
