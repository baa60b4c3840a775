// Whether text that a trace carried is strict JSON, so that it may be written as it is.
#pragma once

#include <string_view>

namespace stepscope {

// Members of an object without its braces: `"grid": [864,1,1], "block": [256,1,1]` (RFC 8259; UTF-8, at most 64 levels deep). Empty text holds none, and is.
bool are_json_members(std::string_view text);

}  // namespace stepscope
