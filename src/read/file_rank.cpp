#include "read/file_rank.h"

#include <algorithm>
#include <string>

namespace stepscope {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_separator(char c) {
  return std::string_view("-_.=:").contains(c);
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether a word may begin at place: after no letter, or a capital after a small letter (traceRank3).
bool word_begins(std::string_view name, std::size_t place) {
  if (place == 0 || !is_letter(name[place - 1])) return true;
  return name[place] != lower(name[place]) && name[place - 1] == lower(name[place - 1]);
}

bool follows_local(std::string_view lowered, std::size_t place) {
  while (place > 0 && is_separator(lowered[place - 1])) --place;
  return lowered.substr(0, place).ends_with("local");
}

std::optional<std::int64_t> number_after(std::string_view word, std::string_view name) {
  std::string lowered(name);
  std::ranges::transform(lowered, lowered.begin(), lower);
  for (std::size_t place = lowered.find(word); place != std::string::npos; place = lowered.find(word, place + 1)) {
    if (!word_begins(name, place) && !lowered.substr(0, place).ends_with("global")) continue;
    if (follows_local(lowered, place)) continue;
    std::size_t digit = place + word.size();
    if (digit < name.size() && is_separator(name[digit])) ++digit;
    std::int64_t number = 0;
    std::size_t end = digit;
    while (end < name.size() && is_digit(name[end]) && end - digit < 9) number = number * 10 + (name[end++] - '0');
    if (end == digit || (end < name.size() && is_digit(name[end]))) continue;  // no number, or one too long to be a rank
    return number;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> rank_in_path(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::string_view folder = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
  folder = folder.substr(std::min(folder.size(), folder.find_last_of('/') + 1));
  for (const std::string_view part : {name, folder})
    for (const std::string_view word : {"rank", "worker"})
      if (const auto number = number_after(word, part)) return number;
  return {};
}

}  // namespace stepscope
