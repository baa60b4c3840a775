// What reading is held against: simdjson On-Demand taking the same fields of the same events, without making anything of them.
#pragma once

#include <cstdint>
#include <string>

namespace stepscope {

// The number of events. text must have 64 spare bytes behind its end.
std::uint64_t extract_by_on_demand(const std::string& text, std::size_t length);

}  // namespace stepscope
