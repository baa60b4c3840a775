#include "read/text_window.h"

#include <cstring>

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
  if (progress_ != nullptr) {
    const std::uint64_t raw_bytes = source_.raw_bytes_read();
    progress_->add(raw_bytes - raw_bytes_told_);
    raw_bytes_told_ = raw_bytes;
  }
  end_ += *count;
  ended_ = *count == 0;
  return !ended_;
}

}  // namespace stepscope
