// Text made fit for the page: JSON strings that are valid UTF-8 whatever a trace wrote, and names without the directories of the machine they came from.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// Appends text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD; control characters are escaped.
void append_json_string(std::string& json, std::string_view text);
// Appends the number with at most ten significant digits (whole numbers of up to twelve are exact); null for NaN and infinities.
void append_json_number(std::string& json, double value);

// At most most_bytes of text, cut between characters and ended by "…" where something was cut.
std::string shortened(std::string_view text, std::size_t most_bytes);

// Absolute paths reduced to their last part, wherever they stand in the text: "/home/ann/job/train.py(12): main" -> "train.py(12): main". Drive letters
// and "~/" count as absolute. The home directory itself becomes "~". Relative paths stay: they do not name a machine or a user.
std::string without_directories(std::string_view text);

}  // namespace stepscope
