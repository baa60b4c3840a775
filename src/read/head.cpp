#include "read/head.h"

#include <algorithm>

namespace stepscope {

std::vector<std::string_view> top_level_keys(std::string_view head) {
  std::vector<std::string_view> keys;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \t\r\n")));
  if (!head.starts_with('{')) return keys;
  int depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const char c = head[i];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
    if (c != '"') continue;
    const std::size_t begin = ++i;
    while (i < head.size() && head[i] != '"') i += head[i] == '\\' ? 2u : 1u;
    if (i >= head.size()) break;
    const std::size_t next = head.find_first_not_of(" \t\r\n", i + 1);
    if (depth == 1 && next != std::string_view::npos && head[next] == ':') keys.push_back(head.substr(begin, i - begin));
  }
  return keys;
}

bool has_key(const std::vector<std::string_view>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

std::optional<std::uint64_t> next_varint(std::string_view& message) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < message.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(message[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      message.remove_prefix(i + 1);
      return value;
    }
  }
  return {};
}

std::optional<WireField> next_field(std::string_view& message) {
  const auto tag = next_varint(message);
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return {};
  WireField field{static_cast<std::uint32_t>(*tag >> 3), static_cast<std::uint32_t>(*tag & 7), 0, {}};
  if (field.type == 0 || field.type == 2) {
    const auto value = next_varint(message);
    if (!value) return {};
    field.value = *value;
    if (field.type == 2) {
      field.bytes = message.substr(0, field.value);
      message.remove_prefix(field.bytes.size());
    }
    return field;
  }
  const std::size_t width = field.type == 1 ? 8 : field.type == 5 ? 4 : 0;
  if (width == 0 || message.size() < width) return {};
  for (std::size_t i = 0; i < width; ++i) field.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(message[i])) << (8 * i);
  message.remove_prefix(width);
  return field;
}

Result<std::string> read_whole(ByteSource& source, std::size_t most) {
  std::string text;
  constexpr std::size_t piece = 1 << 20;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    const Result<std::size_t> count = source.read(std::span(text).subspan(before));
    if (!count) return std::unexpected(count.error());
    text.resize(before + *count);
    if (*count == 0) return text;
    if (text.size() > most)
      return std::unexpected(Error{std::string(source.path()), most,
                                   "is larger than the " + std::to_string(most >> 20) + " MiB that files of this kind may have", "Record fewer entries."});
  }
}

}  // namespace stepscope
