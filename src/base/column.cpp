#include "base/column.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace stepscope::detail {

namespace {
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = 2u << 20;
constexpr std::size_t least_in_huge_pages = huge_page_bytes / 2;
}  // namespace

std::size_t rounded_mapping_bytes(std::size_t bytes) {
  const std::size_t unit = bytes >= least_in_huge_pages ? huge_page_bytes : page_bytes;
  return (bytes + unit - 1) / unit * unit;
}

namespace {

void* new_mapping(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void* moved_mapping(void* address, std::size_t old_bytes, std::size_t new_bytes) {
#if defined(STEPSCOPE_SANITIZE_THREAD)
  // The thread sanitizer does not see what mremap moves: the next owner of the old addresses would seem to race with the last one.
  void* const moved = new_mapping(new_bytes);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, address, old_bytes);
  munmap(address, old_bytes);
  return moved;
#else
  return mremap(address, old_bytes, new_bytes, MREMAP_MAYMOVE);
#endif
}

}  // namespace

void* grow_mapping(void* address, std::size_t old_bytes, std::size_t new_bytes) {
  void* grown = address == nullptr ? new_mapping(new_bytes) : moved_mapping(address, old_bytes, new_bytes);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  if (new_bytes >= least_in_huge_pages) madvise(grown, new_bytes, MADV_HUGEPAGE);
  return grown;
}

void release_mapping(void* address, std::size_t bytes) {
  if (address != nullptr) munmap(address, bytes);
}

}  // namespace stepscope::detail
