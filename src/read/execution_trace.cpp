// PyTorch execution traces (JSON: {"schema": …, "nodes": […]}) and Chakra ones (length-prefixed protobuf, first a GlobalMetadata). They hold what was executed
// but no times on devices. Recognised and refused until their reader exists.
#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

bool is_json(std::string_view head) {
  const auto keys = top_level_keys(head);
  return has_key(keys, "schema") && (has_key(keys, "nodes") || has_key(keys, "start_ts")) && !has_key(keys, "traceEvents");
}

// GlobalMetadata { string version = 1; repeated AttributeProto attr = 2 { string name = 1 } }
bool is_chakra(std::string_view head) {
  const auto length = next_varint(head);
  if (!length || *length == 0 || *length > head.size()) return false;
  std::string_view message = head.substr(0, *length);
  bool told = false;
  while (!message.empty()) {
    const auto field = next_field(message);
    if (!field || field->type != 2 || field->bytes.size() < field->value) return false;
    std::string_view attribute = field->bytes;
    if (field->number == 2) {
      const auto name = next_field(attribute);
      if (!name || name->number != 1 || name->type != 2) return false;
      told = told || name->bytes == "schema";
    } else if (field->number == 1) {
      told = told || (!field->bytes.empty() && field->bytes.find_first_not_of("0123456789.") == std::string_view::npos && field->bytes.contains('.'));
    } else {
      return false;
    }
  }
  return told;
}

int recognises(std::string_view head, std::string_view) {
  return is_json(head) ? 95 : is_chakra(head) ? 90 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  const Result<std::string_view> head = source.peek();
  if (!head) return std::unexpected(head.error());
  return std::unexpected(Error{std::string(source.path()), 0, is_json(*head) ? "PyTorch execution trace: not read yet" : "Chakra execution trace: not read yet",
                               "It says what ran, not when on which device: analyse the Kineto trace (torch.profiler's export_chrome_trace) of the same run."});
}

}  // namespace

extern const Reader execution_trace_reader;
const Reader execution_trace_reader{"execution_trace", "PyTorch or Chakra execution trace", "*.json, *.et", recognises, read, false};

}  // namespace stepscope
