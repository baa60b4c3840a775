#include "base/column.h"

#include <sys/mman.h>

#include <new>

namespace stepscope::detail {

namespace {
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = 2u << 20;
}  // namespace

std::size_t rounded_mapping_bytes(std::size_t bytes) {
  const std::size_t unit = bytes >= 2 * huge_page_bytes ? huge_page_bytes : page_bytes;
  return (bytes + unit - 1) / unit * unit;
}

void* grow_mapping(void* address, std::size_t old_bytes, std::size_t new_bytes) {
  void* grown = address == nullptr ? mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                   : mremap(address, old_bytes, new_bytes, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  if (new_bytes >= 2 * huge_page_bytes) madvise(grown, new_bytes, MADV_HUGEPAGE);
  return grown;
}

void release_mapping(void* address, std::size_t bytes) {
  if (address != nullptr) munmap(address, bytes);
}

}  // namespace stepscope::detail
