// One argument of a slice, looked up in its detail text (Timeline::details: the members of a JSON object, without the braces).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

// The value written after "key": as it stands in the text, a string without its quotes (escapes untouched). Absent where the key is not there, has an empty
// string, or the text before it is malformed.
std::optional<std::string_view> recorded_argument(std::string_view detail, std::string_view key);

// The same as a whole number ("128", 128, 8.0); absent where it is not one or does not fit.
std::optional<std::int64_t> recorded_number(std::string_view detail, std::string_view key);

}  // namespace stepscope
