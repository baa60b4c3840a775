// Python pickles as data: decoded without executing anything, because opcodes that could call something are refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace stepscope {

// The pickle's value as JSON text. Only opcodes that build data are allowed (those that memory snapshots and flight recorder dumps use); any other one is an
// Error that names it and its byte. Values that refer to themselves or would grow out of proportion are Errors too.
Result<std::string> pickle_as_json(std::string_view pickle);

}  // namespace stepscope
