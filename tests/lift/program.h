// A training program as its author would write it down: what each CPU thread does, what each launch puts on which stream, who waits for whom. It knows no
// Graph and no trace: engine.h runs it, engine_timeline.h writes the run as Kineto would, and edits of it are made here, on the program itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "timeline/timeline.h"

namespace stepscope {

// What the author of an operator knows of its arithmetic, with `flops` on the matrix units or not.
struct Arithmetic {
  double flops = 0;
  double read = 0, written = 0;  // bytes; both 0 = the author wrote no shapes down
  double element = 4;            // bytes of one number: 4 = fp32, 2 = bf16
  bool matrix = false;
  double bytes() const { return read + written; }
};

// Device work: one kernel, copy or fill. Of a CUDA graph, several belong to one launch.
struct DeviceWork {
  std::string name = {};
  SliceKind kind = SliceKind::kernel;
  Nanoseconds duration = 0;
  Nanoseconds gap = 0;                    // of the device between the work before it on its stream, or in its graph, and this one
  std::uint32_t stream = 0;               // row of RankProgram::streams
  std::vector<std::uint32_t> after = {};  // in a graph: works of the same graph that must have ended; empty = starts with the graph
  std::int32_t collective = -1;           // of all ranks: a member of this one; its duration is then the transfer's
  std::int64_t message = 0;               // bytes of a collective
  Arithmetic arithmetic = {};
};

enum class Do : std::uint8_t {
  enter,          // an operator begins
  leave,          // it ends
  work,           // the CPU is busy by itself: own time of the innermost operator, or Python outside of all
  launch,         // of `works` works: more than one = a CUDA graph
  record,         // an event on a stream
  wait,           // a stream waits for an event
  sync_stream,    // the thread waits for a stream,
  sync_event,     // … for an event,
  sync_device,    // … for everything
  blocking_copy,  // a copy that returns when it is done
  signal,         // to another thread: no trace shows it
  await,          // for a signal
  begin_step,
  end_step,
};

struct Action {
  Do what = Do::work;
  std::string name = {};     // of an operator
  std::string shapes = {};   // of its arguments, as the trace writes them
  Nanoseconds duration = 0;  // of work; of a call: what it takes by itself
  Nanoseconds latency = 0;   // of a launch: from the call's start until the device may start. Of a wait: from the event until the stream goes on
  Nanoseconds back = 0;      // of what the thread waits for: from its end until the thread goes on
  std::uint32_t stream = 0;  // row of RankProgram::streams
  std::uint32_t number = 0;  // of an event, a signal or a step
  std::uint32_t first_work = 0, works = 0;
  std::int64_t sequence = -1;  // of an operator: autograd's number
  bool backward = false;       // of an operator with a number
  bool annotation = false;     // the operator is a range of the user's
  bool waits = true;           // of a sync: false = an edit took the waiting away
  bool removed = false;        // does not happen
};

struct RankProgram {
  std::vector<std::int64_t> streams = {};         // their numbers
  std::vector<std::vector<Action>> threads = {};  // the first one marks steps
  std::vector<DeviceWork> works = {};
};

struct Program {
  std::vector<RankProgram> ranks;
  std::uint32_t collectives = 0;
  double message_alpha = 0, message_beta = 0;  // a collective lasts alpha + bytes · beta, in ns
};

}  // namespace stepscope
