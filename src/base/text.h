// Text on a terminal: how wide it is there, and how to make it fit. All text is UTF-8; what is not is shown as U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// The text with everything a terminal would obey or hide replaced by U+FFFD: control characters (also line breaks and escape sequences), directional
// overrides, invalid UTF-8. Names from a trace go through here before they are shown.
std::string printable(std::string_view text);

// Columns that printable text takes: 0 for combining marks, 2 for wide (East Asian, emoji) characters, else 1 per character.
int display_width(std::string_view text);

// At most `columns` wide: the middle replaced by "…", a little more kept of the beginning than of the end. Never cuts a character.
std::string shorten_middle(std::string_view text, int columns);
// At most `columns` wide, with "…" at the end where something is missing.
std::string shorten_end(std::string_view text, int columns);

// Filled with spaces to `columns`; unchanged where it is wider.
std::string pad_right(std::string_view text, int columns);
std::string pad_left(std::string_view text, int columns);

// Broken at spaces into lines of at most `columns` (a longer word is cut), each but the first begun with `indent` spaces, which count.
std::string wrap_text(std::string_view text, int columns, int indent);

}  // namespace stepscope
