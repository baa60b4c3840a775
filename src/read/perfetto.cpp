// Perfetto's protobuf traces: Trace { TracePacket packet = 1 { … } }. Recognised and refused until their reader exists.
#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

// The first packets must consist of fields that TracePacket has: timestamp 8, trusted_packet_sequence_id 10, track_event 11, track_descriptor 60,
// sequence_flags 13, timestamp_clock_id 58, interned_data 12, clock_snapshot 6, trace_config 33, defaults 59, trusted_pid 79, …: all numbers up to 1000 are
// taken, 1 to 3 with their wire types, because XSpace begins alike.
int recognises(std::string_view head, std::string_view) {
  int packets = 0, known = 0;
  while (packets < 8) {
    const auto packet = next_field(head);
    if (!packet) break;
    if (packet->number != 1 || packet->type != 2 || packet->value == 0) return 0;
    if (packet->bytes.size() < packet->value && packets > 0) break;  // the head ends here
    std::string_view fields = packet->bytes;
    while (!fields.empty()) {
      const auto field = next_field(fields);
      if (!field || field->number > 1000) return 0;
      const bool number_like = field->number == 8 || field->number == 10 || field->number == 13 || field->number == 58 || field->number == 79;
      const bool message_like =
          field->number == 6 || field->number == 11 || field->number == 12 || field->number == 33 || field->number == 59 || field->number == 60;
      if ((number_like && field->type != 0) || (message_like && field->type != 2)) return 0;
      if (number_like || message_like) ++known;
    }
    ++packets;
  }
  return packets > 0 && known >= packets ? 80 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  return std::unexpected(
      Error{std::string(source.path()), 0, "Perfetto protobuf trace: not read yet",
            "Convert it to JSON with Perfetto's traceconv (traceconv json IN OUT.json), or record with torch.profiler (export_chrome_trace)."});
}

}  // namespace

extern const Reader perfetto_reader;
const Reader perfetto_reader{"perfetto", "Perfetto protobuf trace", "*.pftrace, *.perfetto-trace", recognises, read, false};

}  // namespace stepscope
