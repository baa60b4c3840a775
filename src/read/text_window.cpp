#include "read/text_window.h"

#include <cstring>
#include <utility>

namespace stepscope {

bool TextWindow::extend() {
  if (ended_) return false;
  const std::size_t kept = size();
  // A value longer than a block doubles the window, so that reading it again and again stays linear.
  const std::size_t wanted = kept + (kept > block_bytes_ ? kept : block_bytes_);
  if (begin_ != 0 && kept != 0) std::memmove(text_.data(), text_.data() + begin_, kept);
  base_ += begin_;
  begin_ = 0;
  end_ = kept;
  if (text_.size() < wanted + readable_behind) text_.append_uninitialised(wanted + readable_behind - text_.size());
  const auto count = source_.read({text_.data() + end_, wanted - end_});
  if (!count) {
    failure_ = count.error().message();
    ended_ = true;
    return false;
  }
  tell_progress(source_.raw_bytes_read());
  end_ += *count;
  ended_ = *count == 0;
  return !ended_;
}

void TextWindow::continue_at(std::uint64_t offset) {
  source_.continue_at(offset);
  base_ = offset;
  begin_ = end_ = 0;
  ended_ = false;
}

void TextWindow::tell_progress(std::uint64_t raw_bytes) {
  if (progress_ == nullptr || raw_bytes <= raw_bytes_told_) return;
  progress_->add(raw_bytes - raw_bytes_told_);
  raw_bytes_told_ = raw_bytes;
}

void TextWindow::hand_out(Piece& piece, const char* to) {
  std::swap(piece.memory, text_);
  piece.first = begin_;
  piece.last = static_cast<std::size_t>(to - piece.memory.data());
  piece.offset = base_ + begin_;
  const std::size_t kept = end_ - piece.last;
  if (text_.size() < kept + readable_behind) text_.append_uninitialised(kept + readable_behind - text_.size());
  if (kept != 0) std::memcpy(text_.data(), to, kept);
  base_ += piece.last;
  begin_ = 0;
  end_ = kept;
}

void TextWindow::put_back(const Piece& piece, const char* from) {
  Column<char> text;
  text.append({from, static_cast<std::size_t>(piece.end() - from)});
  base_ = piece.offset + static_cast<std::uint64_t>(from - piece.begin());
  text.append({begin(), size()});
  begin_ = 0;
  end_ = text.size();
  text.append_uninitialised(readable_behind);
  text_ = std::move(text);
}

}  // namespace stepscope
