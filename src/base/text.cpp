#include "base/text.h"

#include <algorithm>
#include <cstdint>

namespace stepscope {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // U+2026
constexpr char32_t invalid = 0xFFFF'FFFF;

struct Character {
  char32_t code;
  std::size_t bytes;  // ≥ 1
};

// The character that begins at text[0]; an invalid byte stands for itself alone.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xC2 && lead < 0xE0 ? 2 : 0;
  if (length == 0 || text.size() < length) return {invalid, 1};
  char32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {invalid, 1};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {invalid, 1};
  return {code, length};
}

struct Range {
  char32_t first, last;
};

// Unicode 15, the blocks that matter: combining marks and characters without an advance.
constexpr Range no_advance[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},  {0x064B, 0x065F}, {0x06D6, 0x06DC},
                                {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x0E31, 0x0E31},  {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
                                {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x2060, 0x2060},  {0x20D0, 0x20FF}, {0x3099, 0x309A},
                                {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
// East Asian Width W and F, and emoji.
constexpr Range wide[] = {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},  {0x2614, 0x2615},
                          {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274C},   {0x2753, 0x2757},   {0x2795, 0x2797},  {0x2B1B, 0x2B1C},
                          {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},  {0xA960, 0xA97C},
                          {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x17000, 0x18AFF},
                          {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool within(const Range (&ranges)[N], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const Range& r) { return r.first <= code && code <= r.last; });
}

// Controls (C0, DEL, C1), line and paragraph separators, directional overrides and isolates.
bool is_obeyed(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0x200E || code == 0x200F ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

int width_of(char32_t code) {
  if (code < 0x300) return 1;
  if (code == invalid) return 1;
  if (within(no_advance, code)) return 0;
  return within(wide, code) ? 2 : 1;
}

// The longest beginning that is at most `columns` wide.
std::string_view beginning(std::string_view text, int columns) {
  std::size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    if (used + width_of(c.code) > columns) break;
    used += width_of(c.code);
    at += c.bytes;
  }
  return text.substr(0, at);
}

// The longest end that is at most `columns` wide.
std::string_view ending(std::string_view text, int columns) {
  int excess = display_width(text) - columns;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    const int width = width_of(c.code);
    if (excess <= 0 && width > 0) break;  // a combining mark belongs to what was cut
    excess -= width;
    at += c.bytes;
  }
  return text.substr(at);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.code == invalid || is_obeyed(c.code)) {
      result += replacement;
    } else {
      result += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return result;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    width += width_of(c.code);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string shorten_middle(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns <= 0) return {};
  const int kept = columns - 1;
  const int tail = kept * 2 / 5;
  std::string result(beginning(text, kept - tail));
  result += ellipsis;
  result += ending(text, tail);
  return result;
}

std::string shorten_end(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns <= 0) return {};
  return std::string(beginning(text, columns - 1)).append(ellipsis);
}

std::string pad_right(std::string_view text, int columns) {
  std::string result(text);
  result.append(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ');
  return result;
}

std::string pad_left(std::string_view text, int columns) {
  std::string result(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ');
  result += text;
  return result;
}

std::string wrap_text(std::string_view text, int columns, int indent) {
  std::string result;
  int used = 0;
  bool fresh = true;  // nothing of this line stands yet
  int room = columns;
  const auto break_line = [&] {
    result += '\n';
    result.append(static_cast<std::size_t>(indent), ' ');
    used = 0;
    room = std::max(1, columns - indent);
    fresh = true;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    int width = display_width(word);
    if (!fresh && used + 1 + width > room) break_line();
    while (width > room) {
      const std::string_view part = beginning(word, room);
      if (part.empty()) return result;  // not even one character fits
      result += part;
      word.remove_prefix(part.size());
      width = display_width(word);
      break_line();
    }
    if (!fresh) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    fresh = false;
  }
  return result;
}

}  // namespace stepscope
