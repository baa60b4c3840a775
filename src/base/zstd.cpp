// zstd, with all its frames one after another. A frame whose window is larger than 128 MiB is refused (libzstd's limit), so that no file can ask for
// more memory than that.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "base/decompress.h"

namespace stepscope {

namespace {

class Zstd final : public Decompressor {
 public:
  Zstd() : context_(ZSTD_createDCtx()) {}

  // libzstd forgets what one call wrote before the damage it met in that call. So it is either given room or input, never both: content is taken out
  // first, then it is fed what it asks for, which is about one block.
  Step decompress(std::span<const char> input, std::span<char> output) override {
    Step step;
    if (context_ == nullptr) problem_ = "out of memory";
    while (problem_.empty() && step.produced < output.size()) {
      ZSTD_inBuffer in{input.data() + step.consumed, 0, 0};
      ZSTD_outBuffer out{output.data() + step.produced, holds_content_ ? output.size() - step.produced : 0, 0};
      if (!holds_content_) in.size = std::min(input.size() - step.consumed, wanted_);
      if (!holds_content_ && in.size == 0) break;
      const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(status)) {
        problem_ = explain(status);
        break;
      }
      step.consumed += in.pos;
      step.produced += out.pos;
      if (in.pos != 0 || out.pos != 0) between_frames_ = status == 0;
      wanted_ = status == 0 ? frame_header_bytes : status;
      holds_content_ = !holds_content_ ? status != 0 : out.pos == out.size;
    }
    step.stopped = !problem_.empty();
    return step;
  }

  bool may_end() const override { return between_frames_; }
  std::string_view format() const override { return "zstd"; }
  std::string_view problem() const override { return problem_; }

 private:
  static constexpr std::size_t frame_header_bytes = 5;  // enough to see what frame follows; libzstd then asks for the rest
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::string_view explain(std::size_t status) const {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_prefix_unknown:
        return between_frames_ ? "bytes follow its end that are not zstd; they were ignored" : "invalid frame header";
      case ZSTD_error_checksum_wrong:
        return "checksum of the content differs";
      case ZSTD_error_frameParameter_windowTooLarge:
        return "its window is larger than 128 MiB: compress it again without --long or --ultra";
      case ZSTD_error_dictionary_wrong:
        return "needs the dictionary it was compressed with: compress it again without one";
      case ZSTD_error_memory_allocation:
        return "out of memory";
      default:
        return "invalid block";
    }
  }

  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::size_t wanted_ = frame_header_bytes;
  bool between_frames_ = true;
  bool holds_content_ = false;  // libzstd may have content that was not taken yet
  std::string_view problem_;
};

}  // namespace

bool starts_as_zstd(std::string_view raw) {
  if (raw.starts_with("\x28\xb5\x2f\xfd")) return true;
  return raw.size() >= 4 && (raw[0] & '\xf0') == '\x50' && raw.substr(1, 3) == "\x2a\x4d\x18";  // a skippable frame first
}

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<Zstd>();
}

}  // namespace stepscope
