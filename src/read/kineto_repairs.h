// What had to be mended while a trace was read: counted by kind, with the first place of each, until it is told to the capture health.
#pragma once

#include <array>
#include <cstdint>

#include "timeline/health.h"

namespace stepscope {

enum class Repair : std::uint8_t {
  truncated,            // the file ends inside the trace
  damaged_string,       // unescaped quotes, line breaks or backslashes in a string
  invalid_utf8,         // bytes that are no UTF-8, or control characters, in a string
  not_a_number,         // NaN, Infinity, … where a number belongs
  quoted_number,        // a number written as a string
  unquoted_word,        // a name or a word without its quotes
  missing_comma,        // members or events without a comma between them
  duplicate_key,        // one key twice in an event: the last one counts
  deep_nesting,         // arguments nested more than 64 deep, left out
  damaged_event,        // an event that could not be made out, left out
  not_an_event,         // something else in the list of events, left out
  number_out_of_range,  // a time or a number beyond what 64 bits hold
  missing_time,         // an event without a readable time, left out
  missing_duration,     // a complete event ("X") without a readable duration: taken as 0
  negative_duration,    // unfinished: ends with its thread; device slices: taken as 0
  unfinished_begin,     // a begin event ("B") without its end: ends with its thread
  end_without_begin,    // an end event ("E") without its begin, left out
  zero_timestamp,       // a slice at time 0 far from all others, left out
  damaged_header,       // something unreadable outside the list of events
  second_document,      // a further JSON document in the file, left out
  trailing_bytes,       // bytes after the end of the document, left out
  too_many_slices,      // more slices than a Timeline can hold, left out
};
inline constexpr std::size_t repair_count = 22;

class Repairs {
 public:
  // offset: of the damage in the (decompressed) content.
  void add(Repair repair, std::uint64_t offset, std::uint64_t count = 1) {
    Item& item = items_[static_cast<std::size_t>(repair)];
    if (item.count == 0 || offset < item.first_offset) item.first_offset = offset;
    item.count += count;
    any_ = true;
  }
  void add(const Repairs& other);
  void clear() {
    if (any_) *this = Repairs{};
  }
  bool any() const { return any_; }
  std::uint64_t count(Repair repair) const { return items_[static_cast<std::size_t>(repair)].count; }
  void report(HealthList& list) const;

 private:
  struct Item {
    std::uint64_t count = 0;
    std::uint64_t first_offset = 0;
  };
  std::array<Item, repair_count> items_{};
  bool any_ = false;
};

}  // namespace stepscope
