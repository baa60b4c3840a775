// Interned text: every distinct string once, referred to by a 32-bit NameId. Not thread-safe; threads intern into tables of their own and merge.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/column.h"
#include "base/ids.h"

namespace stepscope {

// A fast hash of bytes for hash tables (not cryptographic, not stable between versions).
std::uint64_t hash_bytes(std::string_view bytes);

class NameTable {
 public:
  NameTable();  // row 0 is the empty string
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId intern(std::string_view text) { return intern(text, hash_bytes(text)); }
  NameId intern(std::string_view text, std::uint64_t hash);
  // The row of text, or no_id<NameId> where it was never interned.
  NameId find(std::string_view text) const;

  std::string_view operator[](NameId id) const {
    const Entry& entry = entries_[id];
    return {bytes_.data() + entry.offset, entry.length};
  }
  std::size_t size() const { return entries_.size(); }
  std::size_t text_bytes() const { return bytes_.size(); }

 private:
  struct Entry {
    std::uint64_t offset;
    std::uint64_t hash;
    std::uint32_t length;
  };
  void rehash(std::size_t slots);
  Column<char> bytes_;
  Column<Entry> entries_;
  Column<std::uint32_t> slots_;  // row + 1; 0 = free; a power of two of them
};

}  // namespace stepscope
