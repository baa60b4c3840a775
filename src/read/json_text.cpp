#include "read/json_text.h"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stepscope {

namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Moves over what is plain in a string: printable ASCII but quotes and backslashes.
inline const char* skip_plain(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // As signed bytes, what lies below a space is control characters and everything beyond ASCII.
    const __m128i special = _mm_or_si128(_mm_cmplt_epi8(text, _mm_set1_epi8(' ')),
                                         _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')), _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'))));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (found != 0) return at + std::countr_zero(found);
    at += 16;
  }
#endif
  for (; at != end; ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80) break;
  }
  return at;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits of \uXXXX; -1 where they are none.
int hex4(const char* at) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(at[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// `at` stands on a backslash.
Lex lex_escape(const char*& at, const char* end) {
  if (end - at < 2) return Lex::more;
  if (at[1] != 'u') {
    if (std::string_view("\"\\/bfnrt").find(at[1]) == std::string_view::npos) return Lex::bad;
    at += 2;
    return Lex::ok;
  }
  if (end - at < 6) return Lex::more;
  const int unit = hex4(at + 2);
  if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return Lex::bad;
  at += 6;
  if (unit < 0xD800 || unit > 0xDBFF) return Lex::ok;
  if (end - at < 6) return Lex::more;
  if (at[0] != '\\' || at[1] != 'u') return Lex::bad;
  const int low = hex4(at + 2);
  if (low < 0xDC00 || low > 0xDFFF) return Lex::bad;
  at += 6;
  return Lex::ok;
}

// A whole number without a sign, which most are. Null where it is something else, or its end is not in sight.
inline const char* lex_whole(const char* at, const char* end) {
  const char* p = at;
  while (p != end && is_digit(*p)) ++p;
  if (p == end || p == at || (*at == '0' && p - at > 1) || *p == '.' || *p == 'e' || *p == 'E') return nullptr;
  return p;
}

Lex lex_number(const char*& at, const char* end) {
  if (const char* const whole = lex_whole(at, end); whole != nullptr) {
    at = whole;
    return Lex::ok;
  }
  const char* p = at;
  const auto digits = [&] {
    const char* first = p;
    while (p != end && is_digit(*p)) ++p;
    return p != first;
  };
  if (*p == '-') ++p;
  if (p == end) return Lex::more;
  if (*p == '0') {
    ++p;
  } else if (!digits()) {
    return Lex::bad;
  }
  if (p != end && *p == '.') {
    ++p;
    if (p == end) return Lex::more;
    if (!digits()) return Lex::bad;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    if (p == end) return Lex::more;
    if (!digits()) return Lex::bad;
  }
  if (p == end) return Lex::more;
  at = p;
  return Lex::ok;
}

Lex lex_word(const char*& at, const char* end) {
  for (const std::string_view word : {std::string_view("true"), std::string_view("false"), std::string_view("null")}) {
    if (*at != word[0]) continue;
    const auto there = static_cast<std::size_t>(end - at);
    if (there < word.size()) return word.substr(0, there) == std::string_view(at, there) ? Lex::more : Lex::bad;
    if (std::string_view(at, word.size()) != word) return Lex::bad;
    at += word.size();
    return Lex::ok;
  }
  return Lex::bad;
}

void append_utf8(unsigned code, std::string& to) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

int utf8_length(const char* at, const char* end) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  // Lead bytes and the range of the byte behind them: no overlong forms, no surrogates, nothing above U+10FFFF.
  int length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  for (int i = 1; i < length; ++i) {
    if (at + i == end) return -1;
    if (byte(i) < low || byte(i) > high) return 0;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

Lex lex_string(const char*& at, const char* end, JsonValue& value) {
  const char* p = at + 1;
  value.type = JsonValue::Type::string;
  value.escaped = false;
  for (;;) {
    p = skip_plain(p, end);
    if (p == end) return Lex::more;
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"') break;
    if (c == '\\') {
      value.escaped = true;
      if (const Lex escape = lex_escape(p, end); escape != Lex::ok) return escape;
    } else if (c < 0x20) {
      return Lex::bad;
    } else if (c < 0x80) {
      ++p;
    } else {
      const int length = utf8_length(p, end);
      if (length <= 0) return length < 0 ? Lex::more : Lex::bad;
      p += length;
    }
  }
  value.text = {at, static_cast<std::size_t>(p + 1 - at)};
  at = p + 1;
  return Lex::ok;
}

Lex lex_value(const char*& at, const char* end, JsonValue& value) {
  if (at == end) return Lex::more;
  if (*at == '"') return lex_string(at, end, value);
  value.escaped = false;
  const char* const begin = at;
  const auto finish = [&](JsonValue::Type type, Lex found) {
    value.type = type;
    value.text = {begin, static_cast<std::size_t>(at - begin)};
    return found;
  };
  if (*at == '-' || is_digit(*at)) {
    const Lex found = lex_number(at, end);
    return finish(JsonValue::Type::number, found);
  }
  if (*at != '{' && *at != '[') {
    const Lex found = lex_word(at, end);
    return finish(JsonValue::Type::word, found);
  }
  // Which of the open brackets are braces: the lowest bit is the innermost.
  std::uint64_t braces = 0;
  int depth = 0;
  const char* p = at;
  enum class Next { value, value_or_close, key, key_or_close, comma_or_close } next = Next::value;
  do {
    p = skip_space(p, end);
    if (p == end) return Lex::more;
    const bool closes = next == Next::comma_or_close || next == Next::value_or_close || next == Next::key_or_close;
    if (closes && (*p == '}' || *p == ']')) {
      if ((*p == '}') != ((braces & 1) != 0)) return Lex::bad;
      ++p;
      braces >>= 1;
      --depth;
      next = Next::comma_or_close;
      continue;
    }
    switch (next) {
      case Next::comma_or_close:
        if (*p != ',') return Lex::bad;
        ++p;
        next = (braces & 1) != 0 ? Next::key : Next::value;
        break;
      case Next::key:
      case Next::key_or_close: {
        if (*p != '"') return Lex::bad;
        JsonValue key;
        if (const Lex found = lex_string(p, end, key); found != Lex::ok) return found;
        p = skip_space(p, end);
        if (p == end) return Lex::more;
        if (*p != ':') return Lex::bad;
        ++p;
        next = Next::value;
        break;
      }
      case Next::value:
      case Next::value_or_close:
        if (const char* const whole = lex_whole(p, end); whole != nullptr) {
          p = whole;
          next = Next::comma_or_close;
          break;
        }
        if (*p == '{' || *p == '[') {
          if (depth == deepest_json) return Lex::bad;
          ++depth;
          braces = braces << 1 | (*p == '{' ? 1u : 0u);
          next = *p == '{' ? Next::key_or_close : Next::value_or_close;
          ++p;
          break;
        }
        JsonValue inner;
        Lex found;
        if (*p == '"') {
          found = lex_string(p, end, inner);
        } else if (*p == '-' || is_digit(*p)) {
          found = lex_number(p, end);
        } else {
          found = lex_word(p, end);
        }
        if (found != Lex::ok) return found;
        next = Next::comma_or_close;
        break;
    }
  } while (depth > 0);
  at = p;
  return finish(*begin == '{' ? JsonValue::Type::object : JsonValue::Type::array, Lex::ok);
}

void decode_string(std::string_view inside, std::string& to) {
  for (std::size_t i = 0; i < inside.size();) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      to += inside[i++];
      continue;
    }
    const char c = inside[i + 1];
    i += 2;
    switch (c) {
      case 'b':
        to += '\b';
        break;
      case 'f':
        to += '\f';
        break;
      case 'n':
        to += '\n';
        break;
      case 'r':
        to += '\r';
        break;
      case 't':
        to += '\t';
        break;
      case 'u': {
        auto code = static_cast<unsigned>(hex4(inside.data() + i));
        i += 4;
        if (code >= 0xD800 && code <= 0xDBFF) {
          code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<unsigned>(hex4(inside.data() + i + 2)) - 0xDC00);
          i += 6;
        }
        append_utf8(code, to);
        break;
      }
      default:
        to += c;
    }
  }
}

bool JsonMembers::next(std::string_view& key, JsonValue& value) {
  at_ = skip_space(at_, end_);
  if (at_ != end_ && *at_ == ',') at_ = skip_space(at_ + 1, end_);
  if (at_ == end_ || *at_ != '"') return false;
  member_begin_ = at_;
  JsonValue name;
  if (lex_string(at_, end_, name) != Lex::ok) return false;
  key = name.inside();
  at_ = skip_space(at_, end_);
  if (at_ == end_) return false;
  at_ = skip_space(at_ + 1, end_);
  return lex_value(at_, end_, value) == Lex::ok;
}

bool JsonElements::next(JsonValue& value) {
  at_ = skip_space(at_, end_);
  if (at_ != end_ && *at_ == ',') at_ = skip_space(at_ + 1, end_);
  if (at_ == end_ || *at_ == ']') return false;
  return lex_value(at_, end_, value) == Lex::ok;
}

}  // namespace stepscope
