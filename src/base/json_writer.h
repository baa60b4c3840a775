// Writes JSON: always valid, always UTF-8 (broken bytes become U+FFFD), numbers that JSON cannot hold become null. Commas and quotes are its own care.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

class JsonWriter {
 public:
  // Containers; each begin_… is closed by its end_…. `lines`: every member on a line of its own.
  void begin_object(bool lines = false) { begin('{', lines); }
  void end_object() { end('}'); }
  void begin_array(bool lines = false) { begin('[', lines); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(std::int64_t number);
  void value(double number);  // shortest digits that read back as the same number
  void null();

  // The text so far; whole once every container is closed.
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  struct Level {
    bool lines;
    bool empty = true;
  };
  void begin(char bracket, bool lines);
  void end(char bracket);
  void before_value();
  void quoted(std::string_view text);

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace stepscope
