#include "write/chrome_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/json_writer.h"

namespace stepscope {

std::string decimal_microseconds(Nanoseconds time) {
  const bool negative = time < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
}

std::string quoted_json(std::string_view text) {
  JsonWriter json;
  json.value(text);
  return json.take();
}

std::string number_or_string(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool number = !digits.empty() && digits.size() <= 15 && (digits.size() == 1 || digits[0] != '0') &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::string(text) : quoted_json(text);
}

void ChromeEvents::begin() {
  constexpr std::size_t piece = 1u << 20;
  if (text_.size() >= piece) flush();
  text_ += first_ ? "\n" : ",\n";
  first_ = false;
}

void ChromeEvents::flush() {
  if (result_ && !text_.empty()) result_ = sink_(text_);
  text_.clear();
}

void ChromeEvents::slice(std::string_view category, std::string_view name, const ChromeRow& row, Nanoseconds start, Nanoseconds duration,
                         std::string_view arguments) {
  begin();
  fmt::format_to(std::back_inserter(text_), R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})", category,
                 name, row.process, row.thread, decimal_microseconds(start), decimal_microseconds(duration), arguments);
}

void ChromeEvents::flow(std::string_view category, std::string_view name, const ChromeRow& row, bool starts, std::uint64_t id, Nanoseconds time) {
  begin();
  fmt::format_to(std::back_inserter(text_), R"({{"ph": "{}", "cat": "{}", "name": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}{}}})", starts ? "s" : "f",
                 category, name, id, row.process, row.thread, decimal_microseconds(time), starts ? "" : R"(, "bp": "e")");
}

void ChromeEvents::instant(std::string_view name, const ChromeRow& row, Nanoseconds time, std::string_view arguments) {
  begin();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": {}, "pid": {}, "tid": {}, "ts": {}, "args": {{{}}}}})", name, row.process,
                 row.thread, decimal_microseconds(time), arguments);
}

void ChromeEvents::counter(std::string_view name, const ChromeRow& row, Nanoseconds time, std::string_view arguments) {
  begin();
  fmt::format_to(std::back_inserter(text_), R"({{"ph": "C", "name": {}, "pid": {}, "tid": {}, "ts": {}, "args": {{{}}}}})", name, row.process, row.thread,
                 decimal_microseconds(time), arguments);
}

void ChromeEvents::metadata(std::string_view kind, const ChromeRow& row, std::string_view arguments) {
  begin();
  fmt::format_to(std::back_inserter(text_), R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": 0, "args": {{{}}}}})", kind, row.process, row.thread,
                 arguments);
}

Result<void> ChromeEvents::finish() {
  text_ += "\n]}\n";
  flush();
  return result_;
}

}  // namespace stepscope
