#include "base/names.h"

#include <cstring>

namespace stepscope {

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load64(const char* p) {
  std::uint64_t value;
  std::memcpy(&value, p, 8);
  return value;
}

constexpr std::uint64_t odd1 = 0x9E37'79B9'7F4A'7C15u, odd2 = 0xD6E8'FEB8'6659'FD93u;

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = odd1 ^ bytes.size();
  for (; left >= 16; left -= 16, p += 16) state = mix(state ^ load64(p), load64(p + 8) ^ odd2);
  char tail[16] = {};
  if (left != 0) std::memcpy(tail, p, left);
  return mix(mix(state ^ load64(tail), load64(tail + 8) ^ odd2), odd1);
}

NameTable::NameTable() {
  rehash(1024);
  intern("");
}

void NameTable::rehash(std::size_t count) {
  Column<std::uint32_t> fresh;
  fresh.resize(count, 0);
  for (std::size_t row = 0; row < entries_.size(); ++row) {
    std::size_t slot = entries_[row].hash & (count - 1);
    while (fresh[slot] != 0) slot = (slot + 1) & (count - 1);
    fresh[slot] = static_cast<std::uint32_t>(row + 1);
  }
  slots_ = std::move(fresh);
}

NameId NameTable::intern(std::string_view text, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.length == text.size() && (text.empty() || std::memcmp(bytes_.data() + entry.offset, text.data(), text.size()) == 0))
      return NameId{slots_[slot] - 1};
  }
  const auto row = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({bytes_.size(), hash, static_cast<std::uint32_t>(text.size())});
  if (!text.empty()) std::memcpy(bytes_.append_uninitialised(text.size()), text.data(), text.size());
  slots_[slot] = row + 1;
  if (entries_.size() * 2 > slots_.size()) rehash(slots_.size() * 2);
  return NameId{row};
}

NameId NameTable::find(std::string_view text) const {
  const std::uint64_t hash = hash_bytes(text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.length == text.size() && (text.empty() || std::memcmp(bytes_.data() + entry.offset, text.data(), text.size()) == 0))
      return NameId{slots_[slot] - 1};
  }
  return no_id<NameId>;
}

}  // namespace stepscope
