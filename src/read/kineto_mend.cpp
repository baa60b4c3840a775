#include "read/kineto_mend.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "read/kineto_number.h"

namespace stepscope {

namespace {

constexpr std::ptrdiff_t longest_mended_string = 64 << 10;
constexpr std::ptrdiff_t longest_key = 64;
constexpr std::size_t longest_word = 64;
constexpr std::size_t deepest = deepest_json + 1;         // the event's own brace is not part of a value
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
constexpr bool ends_word(char c) {
  return is_space(c) || c == ',' || c == ':' || c == '}' || c == ']' || c == '{' || c == '[' || c == '"';
}

// Every member the trace event format defines for events.
bool is_event_key(std::string_view key) {
  constexpr std::string_view keys[] = {"ph",      "cat",     "name",     "pid",           "tid", "ts",  "dur",   "id",     "args",  "bp",
                                       "s",       "cname",   "tts",      "tdur",          "sf",  "esf", "stack", "estack", "scope", "id2",
                                       "bind_id", "flow_in", "flow_out", "use_async_tts", "v"};
  return std::ranges::find(keys, key) != std::end(keys);
}

// Whether a key and its colon stand at `at` (behind the comma and spaces). Quotes, backslashes and control characters are in no key.
Lex looks_like_key(const char* at, const char* end, bool of_event) {
  if (at == end) return Lex::more;
  if (*at != '"') return Lex::bad;
  const char* p = at + 1;
  for (; p != end && *p != '"'; ++p)
    if (p - at > longest_key || *p == '\\' || static_cast<unsigned char>(*p) < 0x20) return Lex::bad;
  if (p == end) return Lex::more;
  const std::string_view key(at + 1, static_cast<std::size_t>(p - at - 1));
  p = skip_space(p + 1, end);
  if (p == end) return Lex::more;
  if (*p != ':' || (of_event && !is_event_key(key))) return Lex::bad;
  return Lex::ok;
}

class Mender {
 public:
  Mender(const char* begin, const char* end, std::uint64_t offset, std::string& out) : begin_(begin), at_(begin), end_(end), offset_(offset), out_(out) {}

  Lex mend() {
    out_.clear();
    Lex found = open('{');
    while (found == Lex::ok && !open_.empty()) found = step();
    return found;
  }
  const char* at() const { return at_; }
  const Repairs& repairs() const { return repairs_; }

 private:
  enum class Next : std::uint8_t { key, value, comma };

  std::uint64_t place(const char* p) const { return offset_ + static_cast<std::uint64_t>(p - begin_); }
  void count(Repair repair, const char* p) { repairs_.add(repair, place(p)); }

  Lex open(char bracket) {
    open_.push_back(bracket);
    if (open_.size() > deepest) {
      // Its content is not written; null stands for the whole (and not for each of what is inside).
      if (open_.size() == deepest + 1) {
        count(Repair::deep_nesting, at_);
        out_ += "null";
      }
    } else {
      out_ += bracket;
    }
    ++at_;
    next_ = bracket == '{' ? Next::key : Next::value;
    fresh_ = true;
    return Lex::ok;
  }

  void write(std::string_view text) {
    if (open_.size() <= deepest) out_ += text;
  }

  Lex step() {
    at_ = skip_space(at_, end_);
    if (at_ == end_) return Lex::more;
    const bool in_object = open_.back() == '{';
    if ((*at_ == '}' || *at_ == ']') && next_ != Next::value) return close();
    if (*at_ == ']' && !in_object) return close();
    if (*at_ == ',') {
      if (next_ == Next::value && in_object) {
        write("null");  // a key without a value
        fresh_ = false;
      }
      ++at_;
      next_ = in_object ? Next::key : Next::value;
      return Lex::ok;
    }
    if (*at_ == '}' && in_object) {  // a key without a value at the end
      write("null");
      fresh_ = false;
      next_ = Next::comma;
      return Lex::ok;
    }
    switch (next_) {
      case Next::comma: {
        // Something follows without a comma: another member, where it looks like one.
        if (!in_object) return Lex::bad;
        if (const Lex key = looks_like_key(at_, end_, open_.size() == 1); key != Lex::ok) return key;
        count(Repair::missing_comma, at_);
        next_ = Next::key;
        return Lex::ok;
      }
      case Next::key:
        return mend_key();
      case Next::value:
        return mend_value();
    }
    return Lex::bad;
  }

  Lex close() {
    if ((*at_ == '}') != (open_.back() == '{')) return Lex::bad;
    if (open_.size() <= deepest) out_ += *at_;
    ++at_;
    open_.pop_back();
    next_ = Next::comma;
    fresh_ = false;
    return Lex::ok;
  }

  void separate() {
    if (!fresh_) write(", ");
    fresh_ = false;
  }

  Lex mend_key() {
    const char* key_begin = at_;
    const char* p = at_;
    if (*at_ == '"') {
      ++key_begin;
      for (p = key_begin; p != end_ && *p != '"'; ++p)
        if (p - key_begin > longest_key) return Lex::bad;
      if (p == end_) return Lex::more;
    } else {
      while (p != end_ && !ends_word(*p))
        if (++p - key_begin > longest_key) return Lex::bad;
      if (p == end_) return Lex::more;
      if (p == key_begin) return Lex::bad;
    }
    const char* const key_end = p;
    if (*at_ == '"') ++p;
    p = skip_space(p, end_);
    if (p == end_) return Lex::more;
    if (*p != ':') return Lex::bad;
    if (*at_ != '"') count(Repair::unquoted_word, at_);
    separate();
    write_string(key_begin, key_end);
    write(": ");
    at_ = p + 1;
    next_ = Next::value;
    return Lex::ok;
  }

  Lex mend_value() {
    if (*at_ == '{' || *at_ == '[') {
      if (open_.back() == '[') separate();
      return open(*at_);
    }
    if (*at_ == '"') return mend_string();
    const char* p = at_;
    while (p != end_ && !ends_word(*p)) ++p;
    if (p == end_) return Lex::more;
    if (p == at_) return Lex::bad;
    if (open_.back() == '[') separate();
    write_word({at_, static_cast<std::size_t>(p - at_)});
    at_ = p;
    next_ = Next::comma;
    return Lex::ok;
  }

  void write_word(std::string_view word) {
    if (word == "true" || word == "false" || word == "null") return write(word);
    const char* p = word.data();
    const std::string padded = std::string(word) + ',';  // a number's end shows only behind it
    p = padded.data();
    JsonValue number;
    if ((word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) && lex_value(p, padded.data() + padded.size(), number) == Lex::ok &&
        number.text.size() == word.size())
      return write(word);
    if (is_not_a_number(word)) {
      count(Repair::not_a_number, at_);
      return write("null");
    }
    if (parse_real(word)) {  // ".5", "+1", "01", "5.": right but not JSON
      count(Repair::quoted_number, at_);
    } else {
      count(Repair::unquoted_word, at_);
    }
    write_string(word.data(), word.data() + std::min(word.size(), longest_word));
  }

  static bool is_not_a_number(std::string_view word) {
    std::string lower;
    for (const char c : word) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (!lower.empty() && (lower[0] == '-' || lower[0] == '+')) lower.erase(0, 1);
    return lower == "inf" || lower == "infinity" || lower == "none" || lower == "undefined" || lower.starts_with("nan") || lower.starts_with("1.#");
  }

  // Whether a string that is a value may end with the quote at p: what follows decides.
  Lex may_end(const char* p) const {
    const char* q = skip_space(p + 1, end_);
    if (q == end_) return Lex::more;
    const bool in_object = open_.back() == '{';
    if (*q == (in_object ? '}' : ']')) {
      q = skip_space(q + 1, end_);
      if (q == end_) return Lex::more;
      return *q == ',' || *q == '}' || *q == ']' || (open_.size() == 1 && *q == '{') ? Lex::ok : Lex::bad;
    }
    if (*q == '"' && open_.size() == 1) return looks_like_key(q, end_, true);  // the comma is missing
    if (*q != ',') return Lex::bad;
    q = skip_space(q + 1, end_);
    if (q == end_) return Lex::more;
    if (in_object) return looks_like_key(q, end_, open_.size() == 1);
    return *q == '"' || *q == '[' || *q == '{' || *q == '-' || (*q >= '0' && *q <= '9') || *q == 't' || *q == 'f' || *q == 'n' ? Lex::ok : Lex::bad;
  }

  Lex mend_string() {
    for (const char* p = at_ + 1;; ++p) {
      if (p == end_) return Lex::more;
      if (p - at_ > longest_mended_string) return Lex::bad;
      if (*p != '"') continue;
      const Lex ends = may_end(p);
      if (ends == Lex::more) return Lex::more;
      if (ends == Lex::bad) continue;
      if (open_.back() == '[') separate();
      write_string(at_ + 1, p);
      at_ = p + 1;
      next_ = Next::comma;
      return Lex::ok;
    }
  }

  // The string between two places, with what JSON does not allow in it replaced.
  void write_string(const char* from, const char* to) {
    bool literal = false;  // one escape that is none: then backslashes were never meant as escapes
    for (const char* p = from; p < to; ++p) {
      if (*p != '\\') continue;
      if (escape_length(p, to) == 0 && !is_lone_surrogate(p, to)) literal = true;
      ++p;
    }
    bool damaged = literal, replaced = false;
    std::string text = "\"";
    for (const char* p = from; p < to;) {
      const auto c = static_cast<unsigned char>(*p);
      if (c == '\\') {
        const int length = escape_length(p, to);
        if (length != 0 && (!literal || p[1] == '"' || p[1] == '\\')) {
          text.append(p, static_cast<std::size_t>(length));
          p += length;
        } else if (!literal && is_lone_surrogate(p, to)) {
          text += "\\ufffd";
          replaced = true;
          p += 6;
        } else {
          text += "\\\\";
          ++p;
        }
      } else if (c == '"') {
        text += "\\\"";
        damaged = true;
        ++p;
      } else if (c == '\n' || c == '\r' || c == '\t') {
        text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
        damaged = true;
        ++p;
      } else if (c < 0x20) {
        text += replacement;
        replaced = true;
        ++p;
      } else if (const int length = utf8_length(p, to); length <= 0) {
        text += replacement;
        replaced = true;
        ++p;
      } else {
        text.append(p, static_cast<std::size_t>(length));
        p += length;
      }
    }
    text += '"';
    if (damaged) count(Repair::damaged_string, from);
    if (replaced) count(Repair::invalid_utf8, from);
    write(text);
  }

  static bool is_hex4(const char* p, const char* to) {
    if (to - p < 4) return false;
    return std::all_of(p, p + 4, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
  }
  static bool is_lone_surrogate(const char* p, const char* to) {
    return to - p >= 6 && p[1] == 'u' && is_hex4(p + 2, to) && (p[2] == 'd' || p[2] == 'D') && p[3] >= '8';
  }

  // Bytes of the escape at p, 0 where it is none that JSON knows.
  static int escape_length(const char* p, const char* to) {
    const char* q = p;
    JsonValue ignored;
    // A copy in quotes, so that the strict reader decides.
    std::string quoted = "\"";
    const bool unicode = to - p >= 2 && p[1] == 'u';
    const std::ptrdiff_t lengths[] = {2, 6, 12};
    for (const std::ptrdiff_t length : lengths) {
      if ((length == 2) == unicode || to - p < length) continue;
      quoted.assign(1, '"').append(p, static_cast<std::size_t>(length)).append(1, '"');
      q = quoted.data();
      if (lex_string(q, quoted.data() + quoted.size(), ignored) == Lex::ok && q == quoted.data() + quoted.size()) return static_cast<int>(length);
    }
    return 0;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const std::uint64_t offset_;
  std::string& out_;
  std::vector<char> open_;
  Next next_ = Next::key;
  bool fresh_ = true;  // nothing was written yet into the innermost bracket
  Repairs repairs_;
};

}  // namespace

Lex mend_event(const char*& at, const char* end, std::uint64_t offset, std::string& mended, Repairs& repairs) {
  Mender mender(at, end, offset, mended);
  const Lex found = mender.mend();
  if (found != Lex::ok) return found;
  at = mender.at();
  repairs.add(mender.repairs());
  return Lex::ok;
}

const char* find_event(const char*& at, const char* end, char& before) {
  const char* from = at;  // the first byte that `before` does not know yet
  while (at != end) {
    const char* brace = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(end - at)));
    const char* const seen_to = brace == nullptr ? end : brace;
    for (const char* p = seen_to; p != from; --p) {
      if (is_space(p[-1])) continue;
      before = p[-1];
      break;
    }
    from = seen_to;
    at = seen_to;
    if (brace == nullptr) return nullptr;
    if (before == 0 || before == ',' || before == '[' || before == '}') {
      const Lex found = looks_like_key(skip_space(brace + 1, end), end, true);
      if (found == Lex::ok) return brace;
      if (found == Lex::more) return nullptr;
    }
    ++at;
  }
  return nullptr;
}

const char* find_last_event(const char* begin, const char* end) {
  for (const char* at = end; at != begin;) {
    const char* const brace = static_cast<const char*>(memrchr(begin, '{', static_cast<std::size_t>(at - begin)));
    if (brace == nullptr) return nullptr;
    at = brace;
    const char* before = brace;
    while (before != begin && is_space(before[-1])) --before;
    if (before == begin) return nullptr;
    if ((before[-1] == ',' || before[-1] == '}') && looks_like_key(skip_space(brace + 1, end), end, true) == Lex::ok) return brace;
  }
  return nullptr;
}

}  // namespace stepscope
