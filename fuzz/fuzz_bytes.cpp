// base/bytes: any bytes, also as gzip and zstd. What peek() shows is how the content begins; the content does not depend on the size of the pieces it is read
// in; the end comes, or 8 MiB do (a small file may hold a very long content: readers take it piece by piece).
#include <cstdint>

#include "base/bytes.h"
#include "expect.h"

namespace {

constexpr std::size_t enough = 8u << 20;

std::string content(std::string_view bytes, std::size_t piece, std::size_t most) {
  const auto source = stepscope::open_memory(bytes, "fuzz");
  std::string all, buffer(piece, '\0');
  while (all.size() < most) {
    const auto count = source->read(buffer);
    stepscope::expect(count.has_value(), "memory cannot fail to be read");
    stepscope::expect(*count <= piece, "more bytes than asked for");
    if (*count == 0) break;
    all.append(buffer, 0, *count);
  }
  if (all.size() < most) {
    stepscope::expect(source->raw_bytes_read() <= bytes.size(), "more raw bytes than there are");
    stepscope::expect(source->read(buffer).value() == 0, "bytes after the end");
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = content(bytes, 1 << 16, enough);
  const auto source = stepscope::open_memory(bytes, "fuzz");
  const std::string_view head = source->peek().value();
  stepscope::expect(whole.starts_with(head) && (head.size() == 64 << 10 || head.size() == whole.size()), "peek() is not how the content begins");
  if (whole.size() < 1 << 16) stepscope::expect(content(bytes, 1 + size % 7, enough) == whole, "content depends on the size of the pieces");
  return 0;
}
