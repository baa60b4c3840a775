// What recognisers look at: the shape of a JSON head or of a protobuf message, without parsing the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace stepscope {

// The keys of the first JSON object of head, as far as head goes (as written, escapes and all). Empty where head does not begin with an object.
std::vector<std::string_view> top_level_keys(std::string_view head);
bool has_key(const std::vector<std::string_view>& keys, std::string_view key);

// One field of a protobuf message: number, wire type, and for type 2 (length-delimited) its bytes, as far as the head goes.
struct WireField {
  std::uint32_t number = 0;
  std::uint32_t type = 0;
  std::uint64_t value = 0;  // of types 0, 1 and 5; of type 2 the stated length
  std::string_view bytes;   // of type 2: shorter than value where the head ends
};
// Takes the next varint or field off message. Absent at its end, or where no field can begin so.
std::optional<std::uint64_t> next_varint(std::string_view& message);
std::optional<WireField> next_field(std::string_view& message);

// The whole content, which must not be longer than most bytes: for small formats that are parsed as one text.
Result<std::string> read_whole(ByteSource& source, std::size_t most);

}  // namespace stepscope
