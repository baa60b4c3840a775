// An edit from one line of text: "scale name=gemm* by=0.5".
#include <fmt/core.h>

#include "edit/words.h"

namespace stepscope {

namespace {

constexpr bool separates(char c) {
  return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

// The next word: up to a separator, except within double quotes, which are taken off (\" and \\ stand for themselves in them).
Result<std::string> next_word(std::string_view& rest) {
  std::string word;
  bool quoted = false;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (quoted && c == '\\' && at + 1 < rest.size() && (rest[at + 1] == '"' || rest[at + 1] == '\\')) {
      word += rest[++at];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && separates(c)) {
      break;
    } else {
      word += c;
    }
  }
  if (quoted) return edit_error("a double quote is not closed in '" + std::string(rest) + "'");
  rest.remove_prefix(at);
  while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
  return word;
}

bool needs_quotes(std::string_view value) {
  for (const char c : value)
    if (separates(c) || c == '"') return true;
  return value.empty();
}

}  // namespace

Result<Edit> parse_edit(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
  const Result<std::string> kind = next_word(rest);
  if (!kind) return std::unexpected(kind.error());
  if (kind->empty()) return edit_error("an edit is empty", "say what to change, for example: scale name=gemm* by=0.5");
  Edit edit{.kind = *kind, .parameters = {}, .operations = std::nullopt};
  while (!rest.empty()) {
    const Result<std::string> word = next_word(rest);
    if (!word) return std::unexpected(word.error());
    const std::size_t equals = word->find('=');
    if (equals == std::string::npos || equals == 0)
      return edit_error(fmt::format("'{}' in the edit '{}' is not KEY=VALUE", *word, text), "a value with spaces or commas stands in double quotes");
    if (!edit.parameters.try_emplace(word->substr(0, equals), word->substr(equals + 1)).second)
      return edit_error(fmt::format("{}= is given twice in the edit '{}'", word->substr(0, equals), text), "alternatives are written a|b");
  }
  if (const Result<void> checked = check_edit(edit); !checked) return std::unexpected(checked.error());
  return edit;
}

std::string edit_text(const Edit& edit) {
  std::string text = edit.kind;
  for (const auto& [name, value] : edit.parameters) {
    text += " " + name + "=";
    if (!needs_quotes(value)) {
      text += value;
      continue;
    }
    text += '"';
    for (const char c : value) text += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    text += '"';
  }
  return text;
}

}  // namespace stepscope
