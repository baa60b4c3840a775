// A small table from known keys to what they mean, laid out when the program is compiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope {

template <class Meaning>
struct KeyMeaning {
  std::string_view key;
  Meaning meaning;
};

template <class Meaning, std::size_t n>
class KeyTable {
 public:
  constexpr explicit KeyTable(const KeyMeaning<Meaning> (&entries)[n]) {
    for (const KeyMeaning<Meaning>& entry : entries) {
      std::size_t slot = hash(entry.key);
      while (!slots_[slot].key.empty()) slot = (slot + 1) % slot_count;
      slots_[slot] = entry;
    }
  }
  Meaning find(std::string_view key, Meaning otherwise) const {
    if (key.empty()) return otherwise;
    for (std::size_t slot = hash(key); !slots_[slot].key.empty(); slot = (slot + 1) % slot_count)
      if (same(slots_[slot].key, key)) return slots_[slot].meaning;
    return otherwise;
  }

 private:
  // Keys are short: a call of memcmp would cost more than comparing them.
  static bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    const char *p = a.data(), *q = b.data();
    std::size_t left = a.size();
    for (; left >= 8; left -= 8, p += 8, q += 8) {
      std::uint64_t x, y;
      std::memcpy(&x, p, 8);
      std::memcpy(&y, q, 8);
      if (x != y) return false;
    }
    for (; left > 0; --left, ++p, ++q)
      if (*p != *q) return false;
    return true;
  }

  static constexpr std::size_t slot_count = n <= 16 ? 64 : 256;  // sparse: few keys share a slot, and most of those that are not there meet none
  static constexpr std::size_t hash(std::string_view key) {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(key[i])); };
    return (key.size() * 31 + byte(0) * 7 + byte(key.size() / 2) * 13 + byte(key.size() - 1) * 3) % slot_count;
  }
  std::array<KeyMeaning<Meaning>, slot_count> slots_{};
};

}  // namespace stepscope
