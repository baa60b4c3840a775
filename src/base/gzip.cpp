// gzip by ISA-L (measured 3.3x zlib), with all its members one after another; checksums are verified. ISA-L exists for amd64 and arm64 only.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/decompress.h"

namespace stepscope {

namespace {

class Gzip final : public Decompressor {
 public:
  Gzip() { start_member(); }

  Step decompress(std::span<const char> input, std::span<char> output) override {
    if (!problem_.empty()) return after_damage(0, output);
    Step step;
    if (between_members_) {
      // Tapes and some archivers pad with zeros; anything else that follows must be the next member.
      while (step.consumed < input.size() && input[step.consumed] == 0 && !first_) ++step.consumed;
      if (step.consumed == input.size()) return step;
      if (input[step.consumed] != '\x1f') {
        problem_ = "bytes follow its end that are not gzip; they were ignored";
        return after_damage(step.consumed, output);
      }
      start_member();
      between_members_ = false;
      first_ = false;
    }
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    const std::size_t offered = std::min(input.size() - step.consumed, most), room = std::min(output.size(), most);
    // ISA-L's interface lacks const; it does not write to its input.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data() + step.consumed));
    state_.avail_in = static_cast<std::uint32_t>(offered);
    state_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    state_.avail_out = static_cast<std::uint32_t>(room);
    const int status = isal_inflate(&state_);
    // Where the damage is at the very end of the input, ISA-L has counted a byte or so that is not there.
    const std::size_t left = static_cast<std::int32_t>(state_.avail_in) < 0 ? 0 : std::min<std::size_t>(state_.avail_in, offered);
    step.consumed += offered - left;
    step.produced = room - state_.avail_out;
    if (status < 0) {
      problem_ = explain(status);
      if (status == ISAL_INVALID_LOOKBACK) drop_unwritten_match(step);
      Step rest = after_damage(step.consumed, output.subspan(step.produced));
      rest.produced += step.produced;
      return rest;
    }
    between_members_ = state_.block_state == ISAL_BLOCK_FINISH;
    return step;
  }

  bool may_end() const override { return between_members_; }
  std::string_view format() const override { return "gzip"; }
  std::string_view problem() const override { return problem_; }

 private:
  void start_member() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  // ISA-L counts the match that refers back too far as if it had written it: its bytes are whatever was in memory. How long it was is not told (at most 258).
  void drop_unwritten_match(Step& step) {
    std::size_t doubtful = 258;
    const std::size_t held = std::min(doubtful, static_cast<std::size_t>(std::max(0, state_.tmp_out_valid - state_.tmp_out_processed)));
    state_.tmp_out_valid -= static_cast<std::int32_t>(held);
    doubtful -= held;
    step.produced -= std::min(step.produced, doubtful);
  }

  // What ISA-L had decoded into its own buffer before it met the damage is content as well.
  Step after_damage(std::size_t consumed, std::span<char> output) {
    const auto held = static_cast<std::size_t>(std::max(0, state_.tmp_out_valid - state_.tmp_out_processed));
    const std::size_t moved = between_members_ ? 0 : std::min(held, output.size());
    if (moved != 0) std::memcpy(output.data(), state_.tmp_out_buffer + state_.tmp_out_processed, moved);
    state_.tmp_out_processed += static_cast<std::int32_t>(moved);
    return {consumed, moved, between_members_ || moved == held};
  }

  static std::string_view explain(int status) {
    switch (status) {
      case ISAL_INVALID_BLOCK:
        return "invalid deflate block";
      case ISAL_INVALID_SYMBOL:
        return "invalid deflate symbol";
      case ISAL_INVALID_LOOKBACK:
        return "deflate refers back before the start";
      case ISAL_INVALID_WRAPPER:
        return "invalid gzip header";
      case ISAL_UNSUPPORTED_METHOD:
        return "gzip header names a method other than deflate";
      case ISAL_INCORRECT_CHECKSUM:
        return "checksum of the content differs";
      default:
        return "cannot be decoded";
    }
  }

  inflate_state state_{};  // zeroed: ISA-L does not clear its buffers
  bool between_members_ = true;
  bool first_ = true;
  std::string_view problem_;
};

}  // namespace

bool starts_as_gzip(std::string_view raw) {
  return raw.starts_with("\x1f\x8b\x08");
}

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<Gzip>();
}

}  // namespace stepscope
