// Chrome trace events as text: what chrome.cpp puts into them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "write/writer.h"

namespace stepscope {

// The process and thread of a row, as JSON values.
struct ChromeRow {
  std::string process, thread;
};

// "12.345": nanoseconds as microseconds with three decimals, exactly.
std::string decimal_microseconds(Nanoseconds time);
// With quotes; broken UTF-8 becomes U+FFFD.
std::string quoted_json(std::string_view text);
// A number where the text is one as JSON writes it (of at most 15 digits: trace viewers hold ids in doubles), else a string.
std::string number_or_string(std::string_view text);

// Collects events and hands them to the sink in pieces.
class ChromeEvents {
 public:
  explicit ChromeEvents(const ByteSink& sink) : sink_(sink) {}

  // Text that stands before the first event.
  void head(std::string_view text) { text_ += text; }
  // category and phase are plain words; name is JSON; arguments are JSON members, or nothing.
  void slice(std::string_view category, std::string_view name, const ChromeRow& row, Nanoseconds start, Nanoseconds duration, std::string_view arguments);
  void flow(std::string_view category, std::string_view name, const ChromeRow& row, bool starts, std::uint64_t id, Nanoseconds time);
  void instant(std::string_view name, const ChromeRow& row, Nanoseconds time, std::string_view arguments);
  void counter(std::string_view name, const ChromeRow& row, Nanoseconds time, std::string_view arguments);
  void metadata(std::string_view kind, const ChromeRow& row, std::string_view arguments);
  // The end of the file: what is left goes to the sink. The first Error of the sink, where there was one; nothing was written after it.
  Result<void> finish();
  bool failed() const { return !result_.has_value(); }

 private:
  void begin();
  void flush();
  const ByteSink& sink_;
  std::string text_;
  bool first_ = true;
  Result<void> result_;
};

}  // namespace stepscope
