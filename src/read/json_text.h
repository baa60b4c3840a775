// Strict JSON (RFC 8259) in a buffer that may end before the value does: values are found and checked, not built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

enum class Lex : std::uint8_t {
  ok,
  more,  // the buffer ends inside the value
  bad,   // not JSON, or nested deeper than deepest_json
};

inline constexpr int deepest_json = 64;

struct JsonValue {
  enum class Type : std::uint8_t { string, number, word /* true, false, null */, array, object };
  Type type = Type::word;
  bool escaped = false;                                                        // a string with backslashes
  std::string_view text;                                                       // as written; a string with its quotes
  std::string_view inside() const { return text.substr(1, text.size() - 2); }  // of a string, undecoded
  bool is_null() const { return type == Type::word && text == "null"; }
};

inline const char* skip_space(const char* at, const char* end) {
  if (at != end && static_cast<unsigned char>(*at) > ' ') return at;
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

// Each finds the value that begins at `at` and moves `at` behind it.
Lex lex_value(const char*& at, const char* end, JsonValue& value);
Lex lex_string(const char*& at, const char* end, JsonValue& value);  // *at is the opening quote

// Bytes of the UTF-8 sequence at `at`; 0 where it is none, -1 where the buffer ends inside what may be one.
int utf8_length(const char* at, const char* end);

// Appends what the escapes of a string's inside mean.
void decode_string(std::string_view inside, std::string& to);

// Finds the object that begins at `at` ('{') member by member and moves `at` behind it. use(key, member_begin, at, value): the key undecoded, member_begin its
// opening quote; use finds the value that begins at its `at` and moves that behind it. What it was told counts only where the result is ok.
template <class Use>
Lex lex_object(const char*& at, const char* end, Use&& use) {
  const char* p = at + 1;
  for (bool first = true;; first = false) {
    p = skip_space(p, end);
    if (p == end) return Lex::more;
    if (*p == '}') break;
    if (!first) {
      if (*p != ',') return Lex::bad;
      p = skip_space(p + 1, end);
      if (p == end) return Lex::more;
    }
    if (*p != '"') return Lex::bad;
    const char* const member_begin = p;
    JsonValue key, value;
    if (const Lex found = lex_string(p, end, key); found != Lex::ok) return found;
    p = skip_space(p, end);
    if (p == end) return Lex::more;
    if (*p != ':') return Lex::bad;
    p = skip_space(p + 1, end);
    if (const Lex found = use(key.inside(), member_begin, p, value); found != Lex::ok) return found;
  }
  at = p + 1;
  return Lex::ok;
}

// Walks the members of an object that lex_value found.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view object) : at_(object.data() + 1), end_(object.data() + object.size()) {}
  bool next(std::string_view& key, JsonValue& value);         // key: undecoded
  const char* member_begin() const { return member_begin_; }  // the key's opening quote

 private:
  const char* at_;
  const char* end_;
  const char* member_begin_ = nullptr;
};

// Walks the elements of an array that lex_value found.
class JsonElements {
 public:
  explicit JsonElements(std::string_view array) : at_(array.data() + 1), end_(array.data() + array.size()) {}
  bool next(JsonValue& value);

 private:
  const char* at_;
  const char* end_;
};

}  // namespace stepscope
