// Which reader gets an input, from its first bytes alone; and what to say where none knows them.
#include <algorithm>

#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

// The first bytes for people: text as it is, other bytes as \x00.
std::string shown(std::string_view head) {
  constexpr std::size_t most = 24;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  for (const char c : head.substr(0, most)) {
    if (c == '\n')
      text += "\\n";
    else if (c == '"' || c == '\\')
      text += std::string{'\\', c};
    else if (c >= ' ' && c <= '~')
      text += c;
    else
      text += {'\\', 'x', hex[static_cast<unsigned char>(c) >> 4], hex[static_cast<unsigned char>(c) & 15]};
  }
  return head.size() > most ? text + "…" : text;
}

std::string formats_read() {
  std::string list;
  for (const Reader* reader : all_readers())
    if (reader->reads) list += (list.empty() ? "" : "; ") + std::string(reader->help) + " (" + std::string(reader->inputs) + ")";
  return "Stepscope reads " + list + ".";
}

}  // namespace

Result<const Reader*> choose_reader(ByteSource& source) {
  const Result<std::string_view> head = source.peek();
  if (!head) return std::unexpected(head.error());
  if (head->empty()) {
    // Only the bytes of a compressed stream can be there without any content.
    const std::string damage = source.damage();
    if (!damage.empty())
      return std::unexpected(Error{std::string(source.path()), {}, damage, "Nothing could be decompressed. Copy the file again, or record it anew."});
    return std::unexpected(Error{std::string(source.path()), 0, "is empty", "The job may have ended before its profiler wrote the trace; record it anew."});
  }
  const Reader* best = nullptr;
  int best_score = 0;
  for (const Reader* reader : all_readers()) {
    const int score = reader->recognises(*head, source.path());
    if (score > best_score) best = reader, best_score = score;
  }
  if (best != nullptr) return best;
  return std::unexpected(Error{std::string(source.path()), {}, "not a trace: first bytes \"" + shown(*head) + "\"", formats_read()});
}

}  // namespace stepscope
