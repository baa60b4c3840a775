#include "report/page_text.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

namespace stepscope {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the well-formed UTF-8 character at the start of text (Unicode 15, table 3-7); 0 = not well formed.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  if (lead >= 0xF0 && lead <= 0xF4) return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether a path may begin after this character: inside a word, a number or another path it does not ("a/b", "1/2", "https://").
bool may_precede_path(char c) {
  return std::string_view(" \t\n\"'`([{<=,;|>").find(c) != std::string_view::npos;
}
bool ends_path(char c) {
  return std::string_view("\"'`<>|\n\t;,)]}").find(c) != std::string_view::npos;
}

// Length of the root of an absolute path that starts here: "/", "~/", "C:\", "\\"; 0 = none.
std::size_t root_length(std::string_view text) {
  if (text.starts_with("~/")) return 2;
  if (text.starts_with("\\\\")) return 2;
  if (text.starts_with("/")) return 1;
  if (text.size() >= 3 && is_letter(text[0]) && text[1] == ':' && (text[2] == '\\' || text[2] == '/')) return 3;
  return 0;
}

}  // namespace

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto code = static_cast<unsigned char>(c);
    std::size_t length = 1;
    if (code >= 0x20 && code < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    if (code >= 0x80) {
      length = character_bytes(text.substr(i));
      if (length != 0) {
        i += length;
        continue;
      }
      length = 1;
    }
    json.append(text.substr(plain, i - plain));
    if (code >= 0x80) {
      json += replacement;
    } else if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (c == '\t') {
      json += "\\t";
    } else {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    }
    i += length;
    plain = i;
  }
  json.append(text.substr(plain));
  json += '"';
}

void append_json_number(std::string& json, double value) {
  if (!std::isfinite(value)) {
    json += "null";
  } else {
    const std::string exact = fmt::format("{}", value);
    json += exact.size() <= 12 ? exact : fmt::format("{:.10g}", value);
  }
}

std::string shortened(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  constexpr std::string_view ellipsis = "…";
  std::size_t length = most_bytes > ellipsis.size() ? most_bytes - ellipsis.size() : 0;
  while (length != 0 && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) --length;
  return std::string(text.substr(0, length)) + std::string(ellipsis);
}

std::string without_directories(std::string_view text) {
  if (text.find_first_of("/\\") == std::string_view::npos) return std::string(text);
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t root =
        i == 0 || may_precede_path(text[i - 1]) || (text[i - 1] == ':' && i >= 2 && !is_letter(text[i - 2])) || text.substr(0, i).ends_with("file://")
            ? root_length(text.substr(i))
            : 0;
    if (root == 0) {
      result += text[i++];
      continue;
    }
    // The path reaches as far as its last separator that still has a name behind it; spaces belong to it only before a later separator, as in
    // "/data/my runs/trace.json", and only when the part between reads like a name.
    std::size_t name = i + root, end = name;
    bool separated = root > 1;
    for (; end < text.size() && !ends_path(text[end]); ++end) {
      if (text[end] == '/' || text[end] == '\\') {
        name = end + 1;
        separated = true;
      } else if (text[end] == ' ' || text[end] == ':' || text[end] == '(') {
        const std::size_t next = text.find_first_of("/\\", end);
        const std::size_t stop = text.find_first_of(" \"'`<>|\n\t;,)]}(:", end + 1);
        if (text[end] != ' ' || next == std::string_view::npos || (stop != std::string_view::npos && stop < next) || text[next - 1] == ' ') break;
      }
    }
    const std::string_view path = text.substr(i, end - i);
    const std::string_view last = text.substr(name, end - name);
    const std::string_view directory = text.substr(i, name - i);
    const bool in_home = directory == "/home/" || directory == "/Users/" || directory == "C:\\Users\\" || directory == "/export/home/" || directory == "~/";
    if (!separated || last.empty()) {
      // "/" alone, or a name at the root: nothing above it to hide. A trailing separator hides the whole.
      result += last.empty() && path.find_first_not_of("/\\") != std::string_view::npos ? std::string_view("…") : path;
    } else if (in_home && last.find('.') == std::string_view::npos) {
      result += "~";
    } else {
      result += last;
    }
    i = end;
  }
  return result;
}

}  // namespace stepscope
