// A stream of bytes from a file, standard input, or what gzip or zstd makes of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stepscope {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills target from the current place; returns the bytes written, 0 at the end. A damaged compressed stream yields what could be decoded, then ends
  // with damage() saying so. An Error is for the operating system's refusals only.
  virtual Result<std::size_t> read(std::span<char> target) = 0;
  // Decoded bytes that peek() may look at without consuming them: up to 64 KiB from the start, before the first read().
  virtual Result<std::string_view> peek() = 0;
  // What was wrong with the compressed stream, after the end was reached: "gzip: stream ends early at byte 565 of the
  // compressed file, after 3813 bytes of content". Empty = nothing.
  virtual std::string damage() const { return {}; }
  virtual std::string_view path() const = 0;
  virtual std::uint64_t raw_bytes_read() const = 0;                  // of the file itself, for progress
  virtual std::optional<std::uint64_t> raw_bytes_total() const = 0;  // absent for standard input
  // Whether the content can be read at any place: plain, uncompressed content of a regular file or of memory.
  virtual bool can_read_at() const { return false; }
  // Fills target with the content from offset on, wherever read() is; by several threads at a time. Less than asked only at the end, or where the operating
  // system refuses (then read() says why). Only where can_read_at().
  virtual std::size_t read_at(std::uint64_t /*offset*/, std::span<char> /*target*/) const { return 0; }
  // Where read() goes on. Only where can_read_at().
  virtual void continue_at(std::uint64_t /*offset*/) {}
};

// Opens path ("-" = standard input): a regular file or a pipe; gzip (all its members) and zstd (all its frames) are recognised by content, not by name.
// Errors: missing, unreadable, a directory, a socket.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);
// Bytes in memory (they must outlive the source), also compressed ones: for tests and fuzzers.
std::unique_ptr<ByteSource> open_memory(std::string_view bytes, std::string path);

}  // namespace stepscope
