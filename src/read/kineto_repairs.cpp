#include "read/kineto_repairs.h"

#include <fmt/core.h>

namespace stepscope {

namespace {

struct Text {
  const char* kind;
  const char* explanation;
};

// In the order of enum Repair.
constexpr Text texts[repair_count] = {
    {"truncated", "The file ends inside the trace; every complete event before that place was read, so totals are partial."},
    {"damaged_string", "A string held unescaped quotes, line breaks or backslashes; it was closed where the next member begins and its event was kept."},
    {"invalid_utf8", "A string held bytes that are no UTF-8, or control characters; they were replaced by U+FFFD."},
    {"not_a_number", "NaN, Infinity or the like stood where a number belongs; the value counts as missing."},
    {"quoted_number", "A number was written as a string; its digits were used."},
    {"unquoted_word", "A name or a word stood without its quotes; it was read as a string."},
    {"missing_comma", "A comma was missing between two members or events; it was taken as written."},
    {"duplicate_key", "An event had one key twice; the last value was used."},
    {"deep_nesting", "Arguments were nested more than 64 deep; that argument was left out."},
    {"damaged_event", "An event could not be made out; it was left out and reading went on at the next one."},
    {"not_an_event", "Something that is no event stood in the list of events; it was left out."},
    {"number_out_of_range", "A time or a number lay beyond what 64 bits hold; the nearest possible value was used; an event at such a time was left out."},
    {"missing_time", "An event had no readable time; it was left out."},
    {"missing_duration", "A complete event had no readable duration; it was taken as 0."},
    {"negative_duration", "A duration was negative (the event never finished); it was ended with the last event of its thread, on a device taken as 0."},
    {"unfinished_begin", "A begin event had no end; it was ended with the last event of its thread."},
    {"end_without_begin", "An end event had no begin; it was left out."},
    {"zero_timestamp", "A slice lay at time 0, far from all others (its record was never filled in); it was left out."},
    {"damaged_header", "Something outside the list of events could not be read; it was passed over."},
    {"second_document", "The file holds a further JSON document behind the first one; only the first was read."},
    {"trailing_bytes", "Bytes follow the end of the document; they were left out."},
    {"too_many_slices", "The file holds more slices than one timeline can (2^32 - 2); the rest was left out."},
};

}  // namespace

void Repairs::add(const Repairs& other) {
  if (!other.any_) return;
  for (std::size_t i = 0; i < repair_count; ++i)
    if (other.items_[i].count != 0) add(static_cast<Repair>(i), other.items_[i].first_offset, other.items_[i].count);
}

void Repairs::report(HealthList& list) const {
  for (std::size_t i = 0; i < repair_count; ++i)
    if (items_[i].count != 0) list.add(texts[i].kind, items_[i].count, fmt::format("byte {}", items_[i].first_offset), texts[i].explanation);
}

}  // namespace stepscope
