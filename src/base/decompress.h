// Streaming decompressors behind base/bytes.h: each turns pieces of a compressed stream into pieces of content, and says why it cannot go on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;  // bytes of input that are done with
    std::size_t produced = 0;  // bytes written to output
    bool stopped = false;      // nothing more will come: problem() says why
  };
  virtual ~Decompressor() = default;
  // Goes on until the input is consumed, the output is full, or the stream is damaged. May produce without input (content that was held back).
  virtual Step decompress(std::span<const char> input, std::span<char> output) = 0;
  // Whether the stream may rightly end here: before its first byte, and after each member (gzip) or frame (zstd).
  virtual bool may_end() const = 0;
  virtual std::string_view format() const = 0;   // "gzip"
  virtual std::string_view problem() const = 0;  // "invalid deflate block"; "" while all is well
};

// Whether raw bytes begin as these formats do (three and four bytes decide).
bool starts_as_gzip(std::string_view raw);
bool starts_as_zstd(std::string_view raw);

std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

}  // namespace stepscope
