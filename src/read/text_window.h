// A window that moves over a byte source: the text from a place that the reader has not left yet to as far as has been read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/column.h"
#include "base/progress.h"

namespace stepscope {

class TextWindow {
 public:
  // block_bytes: how much is read at a time. progress may be null.
  TextWindow(ByteSource& source, std::size_t block_bytes, Progress* progress) : source_(source), block_bytes_(block_bytes), progress_(progress) {}

  // So many bytes behind end() can be read; what they are is not said.
  static constexpr std::size_t readable_behind = 128;
  const char* begin() const { return text_.data() + begin_; }
  const char* end() const { return text_.data() + end_; }
  std::size_t size() const { return end_ - begin_; }
  bool at_end_of_source() const { return ended_; }
  std::uint64_t offset(const char* at) const { return base_ + static_cast<std::uint64_t>(at - text_.data()); }  // in the content

  // Leaves the text before `at` behind.
  void leave(const char* at) { begin_ = static_cast<std::size_t>(at - text_.data()); }
  // Reads on; what begin() points to moves. False where nothing follows (also after a refusal of the operating system: failure() says it).
  bool extend();
  const std::string& failure() const { return failure_; }
  // Where source.can_read_at(): leaves everything before offset behind, whatever has been read.
  void continue_at(std::uint64_t offset);
  const ByteSource& source() const { return source_; }
  // Others read the source and are at this byte of it now.
  void tell_progress(std::uint64_t raw_bytes);

  // Text that has left the window with the memory it lies in.
  struct Piece {
    Column<char> memory;
    std::size_t first = 0, last = 0;
    std::uint64_t offset = 0;  // of its first byte in the content
    const char* begin() const { return memory.data() + first; }
    const char* end() const { return memory.data() + last; }
  };
  // Hands out the text before `to`; what lies behind stays and moves. The piece's own memory is used again.
  void hand_out(Piece& piece, const char* to);
  // Puts the text of a piece from `from` on back in front of the window's.
  void put_back(const Piece& piece, const char* from);

 private:
  ByteSource& source_;
  const std::size_t block_bytes_;
  Progress* progress_;
  Column<char> text_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t raw_bytes_told_ = 0;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace stepscope
