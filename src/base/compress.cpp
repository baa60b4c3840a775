#include "base/compress.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepscope {

struct GzipCompressor::State {
  isal_zstream stream{};
  std::vector<std::uint8_t> level_buffer = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::vector<std::uint8_t> output = std::vector<std::uint8_t>(256 * 1024);
};

GzipCompressor::GzipCompressor() : state_(std::make_unique<State>()) {
  isal_deflate_init(&state_->stream);
  state_->stream.level = 1;
  state_->stream.level_buf = state_->level_buffer.data();
  state_->stream.level_buf_size = static_cast<std::uint32_t>(state_->level_buffer.size());
  state_->stream.gzip_flag = IGZIP_GZIP;
}

GzipCompressor::~GzipCompressor() = default;

void GzipCompressor::run(std::string_view content, bool last, std::string& into) {
  isal_zstream& stream = state_->stream;
  // ISA-L reads its input through a pointer that is not to const, and does not write there.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.end_of_stream = last ? 1 : 0;
  do {
    stream.next_out = state_->output.data();
    stream.avail_out = static_cast<std::uint32_t>(state_->output.size());
    isal_deflate(&stream);
    into.append(reinterpret_cast<const char*>(state_->output.data()), state_->output.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

void GzipCompressor::add(std::string_view content, std::string& into) {
  constexpr std::size_t most = 1u << 30;  // lengths are 32 bits wide
  for (; !content.empty(); content.remove_prefix(std::min(most, content.size()))) run(content.substr(0, most), false, into);
}

void GzipCompressor::finish(std::string& into) {
  run({}, true, into);
}

}  // namespace stepscope
