// One event of the Chrome trace event format as Kineto writes it: what its JSON text says, in the terms of a Timeline.
//
// Of an event's members, name, cat, ph, pid, tid, ts, dur, id and args are read; the others of the format (bp, s, cname, tts, tdur, sf, …) say nothing that a
// figure needs. Of the arguments of a slice,
//   - to columns and facts go: correlation, External id, device, stream, bytes (of copies and fills), Sequence number, Fwd thread id, Python id,
//     Python parent id, Python module id, wait_on_stream, wait_on_cuda_event_record_corr_id;
//   - left out because they differ in every event or repeat another column: Ev Idx, Profiler Event Index, Record function id, Trace name, Trace iteration,
//     queued, context, cbid, cid, memory bandwidth (GB/s), wait_on_cuda_event_id, src, dst, ptr, packet_ptr, k_work_ptr, sqid, "finished": true, an empty
//     Call stack or Module Hierarchy;
//   - all others are the slice's detail, as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/json_text.h"
#include "read/kineto_repairs.h"
#include "timeline/timeline.h"

namespace stepscope {

enum class KinetoCategory : std::uint8_t {
  kernel,
  copy,
  fill,
  device_sync,
  device_annotation,
  operation,
  runtime_call,
  driver_call,
  python_function,
  annotation,
  overhead,
  profiler,
  other,             // the first thirteen are SliceKind's, in its order
  launch_flow,       // ac2g, async_cpu_to_gpu, async
  forward_backward,  // fwdbwd
  derived,           // what `stepscope export` drew (the critical path): no record
};
KinetoCategory kineto_category(std::string_view category);  // also the names of 2021 ("Kernel", "Operator", "Runtime", …)
constexpr bool lies_on_device(KinetoCategory category) {
  return category <= KinetoCategory::device_annotation;
}

struct KinetoEvent {
  char phase = 0;  // "ph"; 0 where it is missing or no single letter
  KinetoCategory category = KinetoCategory::other;
  std::string_view name, pid, tid;  // decoded; pid and tid as written, whether number or string
  bool has_time = false, has_duration = false;
  Nanoseconds time = 0, duration = 0;
  std::uint64_t id = 0;  // of flows: a number, or the hash of a string

  // Arguments of slices.
  std::uint64_t correlation = no_number, external = no_number;
  std::string_view device;  // "" = not said
  bool has_stream = false, has_bytes = false, has_sequence = false, has_python_id = false;
  std::int64_t stream = -1;
  std::int64_t bytes = 0;
  std::int64_t sequence = 0;
  std::uint64_t forward_thread = no_number;
  std::uint32_t python_id = 0, python_parent = 0xFFFF'FFFFu, python_module = 0xFFFF'FFFFu;
  std::int64_t wait_on_stream = -1;
  std::uint64_t wait_on_record_correlation = no_number;
  std::string_view detail;  // members of a JSON object, without the braces

  // "[memory]" instants.
  bool is_memory = false;
  std::uint64_t address = 0;
  std::int32_t device_type = 0, device_number = -1;
  std::int64_t total_allocated = -1, total_reserved = -1;

  // Metadata.
  std::string_view label;  // args.name or args.labels
  bool has_sort_index = false;
  std::int64_t sort_index = 0;

  // Counters: series and value.
  std::vector<std::pair<std::string_view, double>> series;
};

// A stretch of an event's text that differs from one event to the next like it: a number, mostly.
enum class KinetoField : std::uint8_t {
  time,
  duration,
  id,
  correlation,
  external,
  sequence,
  forward_thread,
  python_id,
  python_parent,
  python_module,
  bytes,
  wait_on_record,
  address,
  total_allocated,
  total_reserved,
  left_out_number,
  left_out_text,  // a string
};
inline constexpr std::size_t kineto_field_count = 17;
struct KinetoFieldText {
  KinetoField field;
  std::string_view text;  // as written, without the quotes of a string
};

// Reads events one after the other; what an event's views point to lives until the next one is read, and as long as its text.
class KinetoEventParser {
 public:
  // Reads the event that begins at `at` ('{') and moves `at` behind it. `bad` where it is not JSON: mend it (kineto_mend.h) and read that.
  // offset: of `at` in the content, for the places of repairs.
  Lex parse(const char*& at, const char* end, std::uint64_t offset, Repairs& repairs);
  const KinetoEvent& event() const { return event_; }
  std::string_view category_text() const { return category_text_; }  // where the event's text names its category; empty where it does not
  // Of the event: its fields in the order of the text, where all of them are written the plain way (no quoted numbers).
  const std::vector<KinetoFieldText>& fields() const { return fields_; }

 private:
  void add_field(KinetoField field, const JsonValue& value);
  std::string_view decoded(const JsonValue& value, std::string& scratch);
  Lex read(const char*& at, const char* end, bool arguments_last, std::uint64_t offset, Repairs& repairs, bool& read_again);
  void begin_slice_arguments();
  void read_slice_argument(std::string_view key, const char* member_begin, const JsonValue& value, std::uint64_t offset, Repairs& repairs);
  void end_slice_arguments();
  void read_slice_arguments(std::string_view arguments, std::uint64_t offset, Repairs& repairs);
  void read_instant_arguments(std::string_view arguments, std::uint64_t offset, Repairs& repairs);
  void read_metadata_arguments(std::string_view arguments);
  void read_series(std::string_view arguments);

  KinetoEvent event_;
  std::string name_, pid_, tid_, category_, device_, label_, detail_, number_;
  std::string_view category_text_;
  std::vector<KinetoFieldText> fields_;
  std::vector<std::pair<const char*, const char*>> kept_;  // stretches of adjacent kept members
  bool last_kept_ = false;
};

}  // namespace stepscope
