// Makes valid JSON of an event whose text is not: unescaped quotes, line breaks and backslashes in strings, bytes that are no UTF-8, NaN and its like, words
// without quotes, missing commas, too deep nesting. What it changes it counts.
//
// How a string's end is told from a quote inside it: behind the end stands what JSON wants there, a brace or bracket that closes something, or a comma and the
// next member. At the level of the event itself the next member's key must be one of the trace event format.
#pragma once

#include <cstdint>
#include <string>

#include "read/json_text.h"
#include "read/kineto_repairs.h"

namespace stepscope {

// Writes the event that begins at `at` ('{') into mended and moves `at` behind it. `bad` where it cannot be made out, `more` where the buffer ends first.
// offset: of `at` in the content. repairs is changed only where the result is ok.
Lex mend_event(const char*& at, const char* end, std::uint64_t offset, std::string& mended, Repairs& repairs);

// Where the next event probably begins: a '{' behind a comma, a bracket or a brace, whose first key is one of the trace event format. Null where there is none
// before end: then `at` was moved to the place from which more text could show one. before: the last byte in front of `at` that is no space, 0 = none; kept up.
const char* find_event(const char*& at, const char* end, char& before);
// The last such place, behind begin; null where there is none.
const char* find_last_event(const char* begin, const char* end);

}  // namespace stepscope
