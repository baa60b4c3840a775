#include "base/json_writer.h"

#include <fmt/core.h>

#include <cmath>

namespace stepscope {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Bytes of the valid UTF-8 sequence that text begins with (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF); 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.empty) text_ += level.lines ? "," : ", ";
  if (level.lines) text_.append("\n").append(levels_.size(), ' ');
  level.empty = false;
}

void JsonWriter::begin(char bracket, bool lines) {
  before_value();
  text_ += bracket;
  levels_.push_back({lines});
}

void JsonWriter::end(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (level.lines && !level.empty) text_.append("\n").append(levels_.size(), ' ');
  text_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  before_value();
  quoted(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  before_value();
  quoted(text);
}

void JsonWriter::value(bool truth) {
  before_value();
  text_ += truth ? "true" : "false";
}

void JsonWriter::value(std::int64_t number) {
  before_value();
  text_ += std::to_string(number);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  text_ += fmt::format("{}", number);
}

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

void JsonWriter::quoted(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = utf8_length(text);
    if (length == 0) {
      text_ += replacement;
      length = 1;
    } else if (length > 1) {
      text_ += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c == '\t') {
      text_ += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      text_ += c;
    }
    text.remove_prefix(length);
  }
  text_ += '"';
}

}  // namespace stepscope
