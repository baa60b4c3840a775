#include "write/json_members.h"

#include "base/text.h"

namespace stepscope {

namespace {

constexpr int most_levels = 64;

class Check {
 public:
  explicit Check(std::string_view text) : rest_(text) {}

  bool members() {
    skip_space();
    if (rest_.empty()) return true;
    return members_until_end(0) && rest_.empty();
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\r' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool members_until_end(int level) {
    do {
      if (!string() || !take(':') || !value(level)) return false;
    } while (take(','));
    skip_space();
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      const auto c = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c < 0x20) return false;
      if (c != '\\') continue;
      if (rest_.empty()) return false;
      const char escaped = rest_[0];
      rest_.remove_prefix(1);
      if (escaped == 'u') {
        for (int i = 0; i < 4; ++i, rest_.remove_prefix(1))
          if (rest_.empty() || std::string_view("0123456789abcdefABCDEF").find(rest_[0]) == std::string_view::npos) return false;
      } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
        return false;
      }
    }
    return false;
  }
  std::size_t digits() {
    std::size_t count = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) ++count;
    return count;
  }
  bool number() {
    if (!rest_.empty() && rest_[0] == '-') rest_.remove_prefix(1);
    const bool zero = !rest_.empty() && rest_[0] == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (!rest_.empty() && rest_[0] == '.') {
      rest_.remove_prefix(1);
      if (digits() == 0) return false;
    }
    if (!rest_.empty() && (rest_[0] == 'e' || rest_[0] == 'E')) {
      rest_.remove_prefix(1);
      if (!rest_.empty() && (rest_[0] == '+' || rest_[0] == '-')) rest_.remove_prefix(1);
      if (digits() == 0) return false;
    }
    return true;
  }
  bool value(int level) {
    skip_space();
    if (rest_.empty() || level > most_levels) return false;
    if (rest_[0] == '"') return string();
    if (take('{')) return take('}') || (members_until_end(level + 1) && take('}'));
    if (take('[')) {
      if (take(']')) return true;
      do {
        if (!value(level + 1)) return false;
      } while (take(','));
      return take(']');
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return true;
    }
    return number();
  }

  std::string_view rest_;
};

}  // namespace

bool are_json_members(std::string_view text) {
  if (!Check(text).members()) return false;
  // Strict JSON is UTF-8: text that is not would change on the way through printable(), which leaves everything else of a string as it is.
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return printable(text) == text;
  return true;
}

}  // namespace stepscope
