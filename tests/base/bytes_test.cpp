#include "base/bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zstd.h>

#include <random>

#include "temporary_folder.h"

namespace stepscope {
namespace {

std::string gzip(std::string_view text) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string packed(text.size() + 1000, '\0');
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = static_cast<std::uint32_t>(packed.size());
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  packed.resize(stream.total_out);
  return packed;
}

std::string zstd(std::string_view text, bool checksum = true) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

// Lines that differ, so that nothing compresses to a few bytes: about 36 bytes each.
std::string some_text(std::size_t lines) {
  std::mt19937_64 random(7);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += "line " + std::to_string(i) + " says " + std::to_string(random()) + "\n";
  return text;
}

std::string read_all(ByteSource& source, std::size_t piece) {
  std::string all, buffer(piece, '\0');
  for (;;) {
    const Result<std::size_t> count = source.read(buffer);
    EXPECT_TRUE(count.has_value());
    if (!count || *count == 0) return all;
    EXPECT_LE(*count, piece);
    all.append(buffer, 0, *count);
  }
}

TEST(Files, PlainFileGivesItsBytesAndItsDescriptor) {
  const TemporaryFolder folder;
  const std::string text = some_text(5000), path = folder.write("plain.gz", text);  // the name lies: content decides
  auto source = open_bytes(path);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ((*source)->path(), path);
  EXPECT_EQ((*source)->raw_bytes_total(), text.size());
  EXPECT_EQ((*source)->peek().value(), text.substr(0, 64 << 10));
  EXPECT_EQ((*source)->peek().value(), text.substr(0, 64 << 10));
  ASSERT_TRUE((*source)->can_read_at());
  std::string part(300, ' ');
  EXPECT_EQ((*source)->read_at(1000, part), 300u);
  EXPECT_EQ(part, text.substr(1000, 300));
  EXPECT_EQ((*source)->read_at(text.size() - 7, part), 7u);
  EXPECT_EQ((*source)->read_at(text.size() + 7, part), 0u);
  (*source)->continue_at(2000);
  EXPECT_EQ(read_all(**source, 10'000), text.substr(2000));
  (*source)->continue_at(0);
  EXPECT_EQ(read_all(**source, 10'000), text);
  EXPECT_EQ((*source)->raw_bytes_read(), text.size());
  EXPECT_EQ((*source)->damage(), "");
}

TEST(Files, CompressedFilesAreRecognisedByContent) {
  const TemporaryFolder folder;
  const std::string text = some_text(100'000);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    auto source = open_bytes(folder.write("trace.json", packed));
    ASSERT_TRUE(source.has_value());
    EXPECT_FALSE((*source)->can_read_at());
    EXPECT_EQ((*source)->raw_bytes_total(), packed.size());
    EXPECT_EQ((*source)->peek().value(), text.substr(0, 64 << 10));
    EXPECT_EQ(read_all(**source, 1 << 20), text);
    EXPECT_EQ((*source)->damage(), "");
    EXPECT_EQ((*source)->raw_bytes_read(), packed.size());
  }
}

TEST(Files, EmptyFile) {
  const TemporaryFolder folder;
  auto source = open_bytes(folder.write("empty", ""));
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ((*source)->peek().value(), "");
  EXPECT_EQ(read_all(**source, 16), "");
  EXPECT_EQ((*source)->damage(), "");
}

TEST(Files, RefusalsSayWhatToDo) {
  const TemporaryFolder folder;
  const auto missing = open_bytes(folder / "missing.json");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().problem, "no such file");
  EXPECT_NE(missing.error().remedy, "");
  EXPECT_EQ(missing.error().file, folder / "missing.json");

  const auto directory = open_bytes(folder.path());
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error().problem, "is a directory");
  EXPECT_NE(directory.error().remedy, "");

  const std::string socket_path = folder / "socket";
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket_path.size(), sizeof address.sun_path);
  socket_path.copy(address.sun_path, socket_path.size());
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto socket = open_bytes(socket_path);
  ::close(descriptor);
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().problem, "is a socket, not a file");
  EXPECT_NE(socket.error().remedy, "");

  if (::geteuid() != 0) {  // root may read everything
    const std::string secret = folder.write("secret", "x");
    ::chmod(secret.c_str(), 0);
    const auto unreadable = open_bytes(secret);
    ASSERT_FALSE(unreadable.has_value());
    EXPECT_EQ(unreadable.error().problem, "may not be read by this user");
    EXPECT_NE(unreadable.error().remedy, "");
  }
}

TEST(Files, PipesAreReadToTheirEnd) {
  const TemporaryFolder folder;
  const std::string pipe_path = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe_path.c_str(), 0600), 0);
  const std::string text = "[" + std::string(1000, ' ') + "]", packed = gzip(text);
  // Opened for both ends, the pipe does not block here; its few bytes fit into the pipe's buffer.
  const int writer = ::open(pipe_path.c_str(), O_RDWR);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, packed.data(), packed.size()), static_cast<ssize_t>(packed.size()));
  auto source = open_bytes(pipe_path);
  ::close(writer);
  ASSERT_TRUE(source.has_value());
  EXPECT_FALSE((*source)->raw_bytes_total().has_value());
  EXPECT_EQ(read_all(**source, 77), text);
}

TEST(Memory, PiecesOfAnySizeGiveTheSameBytes) {
  const std::string text = some_text(300);
  for (const std::string& raw :
       {text, gzip(text), zstd(text), gzip(text.substr(0, 100)) + gzip("") + gzip(text.substr(100)), zstd(text.substr(0, 100)) + zstd(text.substr(100))})
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 100u, 5000u, 1u << 20})
      for (const bool peeked : {false, true}) {
        const auto source = open_memory(raw, "memory");
        if (peeked) {
          EXPECT_EQ(source->peek().value(), text);
        }
        ASSERT_EQ(read_all(*source, piece), text) << "pieces of " << piece;
        EXPECT_EQ(source->damage(), "");
      }
}

TEST(Memory, MembersAndFramesAcrossBlocksAreJoined) {
  const std::string text = some_text(20'000);  // compressed it is longer than one block of input
  std::string gzips, zstds, expected;
  for (int i = 0; i < 3; ++i) gzips += gzip(text), zstds += zstd(text), expected += text;
  for (const std::string& raw : {gzips, zstds}) {
    ASSERT_GT(raw.size(), 3u << 17);
    const auto source = open_memory(raw, "memory");
    EXPECT_TRUE(read_all(*source, 1 << 16) == expected);
    EXPECT_EQ(source->damage(), "");
  }
}

TEST(Memory, CompressedNothingIsNothing) {
  for (const std::string& raw : {gzip(""), zstd("")}) {
    const auto source = open_memory(raw, "memory");
    EXPECT_EQ(source->peek().value(), "");
    EXPECT_EQ(read_all(*source, 100), "");
    EXPECT_EQ(source->damage(), "");
  }
}

TEST(Memory, GzipCutAnywhereYieldsItsPrefixAndSaysSo) {
  const std::string text = some_text(200), raw = gzip(text);
  std::size_t before = 0;
  for (std::size_t cut = 3; cut < raw.size(); ++cut) {
    const std::string part = raw.substr(0, cut);
    const auto source = open_memory(part, "memory");
    const std::string content = read_all(*source, cut % 2 == 0 ? 13 : 1 << 16);
    ASSERT_EQ(content, text.substr(0, content.size())) << "cut at " << cut;
    ASSERT_GE(content.size(), before) << "cut at " << cut;  // more bytes never give less content
    before = content.size();
    ASSERT_EQ(source->damage(), "gzip: stream ends early at byte " + std::to_string(cut) + " of the compressed file, after " + std::to_string(content.size()) +
                                    " bytes of content");
  }
  // Each byte of input carries at most a few symbols: what is held back at the end is short.
  EXPECT_EQ(before, text.size());  // only the trailer was missing
}

TEST(Memory, ZstdCutAnywhereYieldsWholeBlocksAndSaysSo) {
  const std::string text = some_text(12'000), raw = zstd(text);  // three blocks of up to 128 KiB
  std::size_t most = 0;
  for (std::size_t cut = 4; cut < raw.size(); cut += cut < 100 || cut + 1100 > raw.size() ? 1 : 997) {
    const std::string part = raw.substr(0, cut);
    const auto source = open_memory(part, "memory");
    const std::string content = read_all(*source, 1 << 20);
    ASSERT_EQ(content, text.substr(0, content.size())) << "cut at " << cut;
    ASSERT_GE(content.size(), most) << "cut at " << cut;
    most = content.size();
    ASSERT_EQ(source->damage(), "zstd: stream ends early at byte " + std::to_string(cut) + " of the compressed file, after " + std::to_string(content.size()) +
                                    " bytes of content");
  }
  EXPECT_EQ(most, text.size());
}

TEST(Memory, EveryFlippedByteIsNoticedOrHarmless) {
  const std::string text = some_text(60);
  for (const std::string& raw : {gzip(text), zstd(text)})
    for (std::size_t place = 4; place < raw.size(); ++place) {
      std::string damaged = raw;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
      const auto source = open_memory(damaged, "memory");
      const std::string content = read_all(*source, 1 << 16);
      // A flip in the header's time or name fields changes nothing; any other one must be reported.
      EXPECT_TRUE(content == text || !source->damage().empty()) << "byte " << place;
      if (!source->damage().empty()) {
        EXPECT_NE(source->damage().find(" at byte "), std::string::npos);
      }
    }
}

TEST(Memory, ContentBeforeTheDamageIsKept) {
  const std::string text = some_text(12'000);
  std::string broken_zstd = zstd(text), broken_gzip = gzip(text);
  for (std::size_t i = broken_zstd.size() - 40'000; i < broken_zstd.size() - 30'000; ++i) broken_zstd[i] = '\x55';
  for (std::size_t i = broken_gzip.size() / 2; i < broken_gzip.size() / 2 + 200; ++i) broken_gzip[i] = '\xff';
  for (const std::string& raw : {broken_zstd, broken_gzip}) {
    const auto source = open_memory(raw, "memory");
    const std::string content = read_all(*source, 1 << 20);
    EXPECT_NE(source->damage(), "");
    const std::size_t same = static_cast<std::size_t>(std::mismatch(content.begin(), content.end(), text.begin()).first - content.begin());
    EXPECT_GT(same, text.size() / 3) << source->damage();
  }
}

// Found by fuzzing: ISA-L counts a match that refers back before the start as written, so that the content ended in bytes of whatever was in memory.
TEST(Memory, AMatchBeforeTheStartYieldsNothingThatWasNotDecoded) {
  std::string bits;
  const auto huffman = [&](unsigned code, int width) {
    for (int i = width - 1; i >= 0; --i) bits += static_cast<char>('0' + (code >> i & 1));
  };
  const auto number = [&](unsigned value, int width) {
    for (int i = 0; i < width; ++i) bits += static_cast<char>('0' + (value >> i & 1));
  };
  number(1, 1), number(1, 2);  // the last block, with fixed codes
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const char c = static_cast<char>('a' + i % 26);
    text += c;
    huffman(0x30 + static_cast<unsigned>(c), 8);
  }
  huffman(0b11000101, 8);            // a match of 258 bytes
  huffman(29, 5), number(8191, 13);  // 32768 back
  huffman(0, 7);                     // end of block
  std::string raw("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    unsigned byte = 0;
    for (std::size_t j = 0; j < 8 && i + j < bits.size(); ++j) byte |= static_cast<unsigned>(bits[i + j] - '0') << j;
    raw += static_cast<char>(byte);
  }
  raw += std::string(300, '\0');  // ISA-L's fast path wants more input ahead
  for (const std::size_t piece : {1u, 3u, 100u, 5000u}) {
    const auto source = open_memory(raw, "memory");
    const std::string content = read_all(*source, piece);
    EXPECT_TRUE(text.starts_with(content)) << piece;
    EXPECT_GE(content.size(), text.size() - 258) << piece;
    EXPECT_NE(source->damage().find("deflate refers back before the start"), std::string::npos) << source->damage();
  }
  // Cut at any byte behind that match: no more bytes are counted as read than there are.
  for (std::size_t cut = raw.size() - 320; cut < raw.size(); ++cut) {
    const std::string part = raw.substr(0, cut);
    const auto source = open_memory(part, "memory");
    EXPECT_TRUE(text.starts_with(read_all(*source, 5000)));
    EXPECT_LE(source->raw_bytes_read(), part.size()) << cut;
  }
}

// Found by fuzzing: libzstd forgets what it wrote in the call that meets the damage, so that content depended on the size of the pieces.
TEST(Memory, BlocksBeforeADamagedOneAreKeptInPiecesOfAnySize) {
  // A frame of two run-length blocks, 143 x 'a' and 5 x 'b', and one of a type that is not defined.
  const std::string raw("\x28\xb5\x2f\xfd\x00\x00\x7a\x04\x00\x61\x2a\x00\x00\x62\x06\x00\x00\x00\x00", 19);
  for (const std::size_t piece : {1u, 2u, 3u, 4u, 5u, 100u, 143u, 144u, 1000u}) {
    const auto source = open_memory(raw, "memory");
    EXPECT_EQ(read_all(*source, piece), std::string(143, 'a') + "bbbbb") << piece;
    EXPECT_TRUE(source->damage().starts_with("zstd: invalid block at byte 1")) << source->damage();
  }
}

TEST(Memory, WhatFollowsTheEnd) {
  const std::string text = some_text(20), zeros = gzip(text) + std::string(512, '\0');
  const auto padded = open_memory(zeros, "memory");
  EXPECT_EQ(read_all(*padded, 100), text);
  EXPECT_EQ(padded->damage(), "");

  const std::string gzip_end = gzip(text), zstd_end = zstd(text);
  const std::string gzip_then_text = gzip_end + "hello", zstd_then_text = zstd_end + "hello";
  const auto gzipped = open_memory(gzip_then_text, "memory");
  EXPECT_EQ(read_all(*gzipped, 100), text);
  EXPECT_EQ(gzipped->damage(), "gzip: bytes follow its end that are not gzip; they were ignored at byte " + std::to_string(gzip_end.size()) +
                                   " of the compressed file, after " + std::to_string(text.size()) + " bytes of content");
  const auto zstded = open_memory(zstd_then_text, "memory");
  EXPECT_EQ(read_all(*zstded, 100), text);
  EXPECT_EQ(zstded->damage(), "zstd: bytes follow its end that are not zstd; they were ignored at byte " + std::to_string(zstd_end.size()) +
                                  " of the compressed file, after " + std::to_string(text.size()) + " bytes of content");
}

}  // namespace
}  // namespace stepscope
