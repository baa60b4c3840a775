// gzip in base64: what the page's DecompressionStream is given.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "report/packed.h"

namespace stepscope {
namespace {

std::string from_base64(std::string_view text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((have += 6) >= 8) bytes += static_cast<char>(bits >> (have -= 8) & 0xFF);
  }
  return bytes;
}

std::string unpacked(std::string_view text) {
  const std::string packed = from_base64(text);
  auto source = open_memory(packed, "memory.gz");
  std::string all, part(1 << 16, '\0');
  while (true) {
    const auto read = source->read(part);
    if (!read || *read == 0) break;
    all.append(part, 0, *read);
  }
  EXPECT_EQ(source->damage(), "");
  return all;
}

TEST(Packed, ComesBackWhole) {
  EXPECT_EQ(unpacked(gzip_base64("")), "");
  EXPECT_EQ(unpacked(gzip_base64("a")), "a");
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 10'007) + ",";
  EXPECT_TRUE(unpacked(gzip_base64(text)) == text);
}

TEST(Packed, OfAllLengthsIsPaddedAndHasNoForeignCharacter) {
  for (int length = 0; length < 40; ++length) {
    const std::string packed = gzip_base64(std::string(static_cast<std::size_t>(length), 'x'));
    EXPECT_EQ(packed.size() % 4, 0u);
    EXPECT_EQ(packed.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="), std::string::npos);
  }
}

TEST(Packed, LargeAndHardToCompressComesBackWhole) {
  std::string noise(9u << 20, '\0');
  std::uint64_t state = 1;
  for (char& c : noise) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  EXPECT_TRUE(unpacked(gzip_base64(noise)) == noise);
}

}  // namespace
}  // namespace stepscope
