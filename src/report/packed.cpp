#include "report/packed.h"

#include <isa-l/igzip_lib.h>

#include <cassert>
#include <cstdint>
#include <vector>

namespace stepscope {

namespace {

std::string gzip(std::string_view bytes) {
  // Large columns are mostly noise that a slow search does not find more in; small documents are repetitive text.
  const bool large = bytes.size() > (std::size_t{8} << 20);
  std::vector<std::uint8_t> working(large ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.level = large ? 1 : 3;
  stream.level_buf = working.data();
  stream.level_buf_size = static_cast<std::uint32_t>(working.size());
  stream.gzip_flag = IGZIP_GZIP;

  std::string packed;
  std::size_t taken = 0, written = 0;
  do {
    // 32-bit counts: longer input goes in pieces.
    const std::size_t piece = std::min<std::size_t>(bytes.size() - taken, std::size_t{1} << 30);
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data() + taken));
    stream.avail_in = static_cast<std::uint32_t>(piece);
    taken += piece;
    stream.end_of_stream = taken == bytes.size() ? 1 : 0;
    do {
      if (packed.size() - written < 4096) packed.resize(packed.size() + std::max<std::size_t>(packed.size() / 2, bytes.size() / 4 + 4096));
      const std::size_t room = std::min<std::size_t>(packed.size() - written, std::size_t{1} << 30);
      stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data() + written);
      stream.avail_out = static_cast<std::uint32_t>(room);
      [[maybe_unused]] const int status = isal_deflate(&stream);
      assert(status == COMP_OK);
      written += room - stream.avail_out;
    } while (stream.avail_in != 0 || (stream.end_of_stream != 0 && stream.internal_state.state != ZSTATE_END));
  } while (taken < bytes.size());
  packed.resize(written);
  return packed;
}

}  // namespace

std::string gzip_base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string packed = gzip(bytes);
  std::string text((packed.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(packed[i])); };
  std::size_t i = 0;
  for (; i + 3 <= packed.size(); i += 3) {
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    *out++ = digits[three >> 18];
    *out++ = digits[three >> 12 & 63];
    *out++ = digits[three >> 6 & 63];
    *out++ = digits[three & 63];
  }
  if (i < packed.size()) {
    const bool two = i + 2 == packed.size();
    const unsigned three = byte(i) << 16 | (two ? byte(i + 1) << 8 : 0u);
    *out++ = digits[three >> 18];
    *out++ = digits[three >> 12 & 63];
    if (two) *out++ = digits[three >> 6 & 63];
  }
  return text;
}

}  // namespace stepscope
