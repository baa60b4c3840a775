// Files, standard input and memory as one stream of content; gzip and zstd are recognised by their first bytes and undone on the way.
#include "base/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/decompress.h"

namespace stepscope {

namespace {

constexpr std::size_t peek_bytes = 64 << 10;
constexpr std::size_t compressed_block_bytes = 256 << 10;  // stays in the L2 cache while it is inflated
constexpr std::size_t margin_bytes = 64;                   // behind the block: decompressors read machine words

// The undecoded bytes: an open descriptor, or memory where there is none.
class RawBytes {
 public:
  RawBytes(int descriptor, std::optional<std::uint64_t> total, bool regular, std::string path)
      : descriptor_(descriptor), total_(total), regular_(regular), path_(std::move(path)) {}
  RawBytes(std::string_view memory, std::string path) : total_(memory.size()), memory_(memory), path_(std::move(path)) {}
  RawBytes(RawBytes&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        total_(other.total_),
        regular_(other.regular_),
        memory_(other.memory_),
        done_(other.done_),
        path_(std::move(other.path_)) {}
  RawBytes& operator=(RawBytes&&) = delete;
  ~RawBytes() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }

  // May return less than target holds before the end; 0 at the end.
  Result<std::size_t> read(std::span<char> target) {
    if (descriptor_ < 0) {
      const std::size_t count = std::min<std::size_t>(target.size(), memory_.size() - done_);
      if (count != 0) std::memcpy(target.data(), memory_.data() + done_, count);
      done_ += count;
      return count;
    }
    for (;;) {
      // A regular file is read by position, so that the descriptor may be shared with parallel readers.
      const ssize_t count =
          regular_ ? ::pread(descriptor_, target.data(), target.size(), static_cast<off_t>(done_)) : ::read(descriptor_, target.data(), target.size());
      if (count >= 0) {
        done_ += static_cast<std::uint64_t>(count);
        return static_cast<std::size_t>(count);
      }
      if (errno == EINTR) continue;
      return std::unexpected(Error{path_, done_, std::string("cannot be read further: ") + std::strerror(errno),
                                   "Check the disk or the network share it lies on, or copy it to a local disk first."});
    }
  }

  bool can_read_at() const { return descriptor_ < 0 || regular_; }
  std::size_t read_at(std::uint64_t offset, std::span<char> target) const {
    if (descriptor_ < 0) {
      if (offset >= memory_.size()) return 0;
      return memory_.copy(target.data(), target.size(), static_cast<std::size_t>(offset));
    }
    std::size_t filled = 0;
    while (filled < target.size()) {
      const ssize_t count = ::pread(descriptor_, target.data() + filled, target.size() - filled, static_cast<off_t>(offset + filled));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      filled += static_cast<std::size_t>(count);
    }
    return filled;
  }
  void continue_at(std::uint64_t offset) { done_ = descriptor_ < 0 ? std::min<std::uint64_t>(offset, memory_.size()) : offset; }

  const std::string& path() const { return path_; }
  std::uint64_t done() const { return done_; }
  std::optional<std::uint64_t> total() const { return total_; }

 private:
  int descriptor_ = -1;
  std::optional<std::uint64_t> total_;
  bool regular_ = false;
  std::string_view memory_;
  std::uint64_t done_ = 0;
  std::string path_;
};

class Source final : public ByteSource {
 public:
  // beginning: the raw bytes that were read to recognise the compression.
  Source(RawBytes raw, std::vector<char> beginning, std::unique_ptr<Decompressor> decompressor)
      : raw_(std::move(raw)), block_(std::move(beginning)), block_end_(block_.size()), decompressor_(std::move(decompressor)) {
    if (decompressor_) block_.resize(compressed_block_bytes + margin_bytes);
  }

  Result<std::size_t> read(std::span<char> target) override {
    if (head_place_ < head_.size()) {
      const std::size_t count = std::min(target.size(), head_.size() - head_place_);
      std::memcpy(target.data(), head_.data() + head_place_, count);
      head_place_ += count;
      if (head_place_ == head_.size()) head_ = {}, head_place_ = 0;
      return count;
    }
    return decode(target);
  }

  Result<std::string_view> peek() override {
    if (!peeked_) {
      head_.resize(peek_bytes);
      std::size_t filled = 0;
      while (filled < peek_bytes) {
        const Result<std::size_t> count = decode(std::span(head_).subspan(filled));
        if (!count) return std::unexpected(count.error());
        if (*count == 0) break;
        filled += *count;
      }
      head_.resize(filled);
      peeked_ = true;
    }
    return std::string_view(head_.data() + head_place_, head_.size() - head_place_);
  }

  std::string damage() const override { return damage_; }
  std::string_view path() const override { return raw_.path(); }
  std::uint64_t raw_bytes_read() const override { return raw_.done() - (block_end_ - block_place_); }
  std::optional<std::uint64_t> raw_bytes_total() const override { return raw_.total(); }
  bool can_read_at() const override { return !decompressor_ && raw_.can_read_at(); }
  std::size_t read_at(std::uint64_t offset, std::span<char> target) const override { return raw_.read_at(offset, target); }
  void continue_at(std::uint64_t offset) override {
    raw_.continue_at(offset);
    head_ = {}, head_place_ = block_place_ = block_end_ = 0;
  }

 private:
  Result<std::size_t> decode(std::span<char> target) {
    if (!decompressor_) return copy(target);
    std::size_t produced = 0;
    while (produced < target.size() && !ended_) {
      const Decompressor::Step step =
          decompressor_->decompress(std::span<const char>(block_).subspan(block_place_, block_end_ - block_place_), target.subspan(produced));
      block_place_ += step.consumed;
      produced += step.produced;
      decoded_ += step.produced;
      if (step.stopped) {
        ended_ = true;
        describe_damage(decompressor_->problem());
      } else if (produced < target.size() && block_place_ == block_end_) {
        const Result<std::size_t> count = raw_.read(std::span(block_).first(compressed_block_bytes));
        if (!count) return std::unexpected(count.error());
        block_place_ = 0;
        block_end_ = *count;
        if (*count == 0) {
          ended_ = true;
          if (!decompressor_->may_end()) describe_damage("stream ends early");
        }
      }
    }
    return produced;
  }

  Result<std::size_t> copy(std::span<char> target) {
    if (block_place_ == block_end_) return raw_.read(target);
    const std::size_t count = std::min(target.size(), block_end_ - block_place_);
    std::memcpy(target.data(), block_.data() + block_place_, count);
    block_place_ += count;
    return count;
  }

  void describe_damage(std::string_view problem) {
    damage_ = std::string(decompressor_->format()) + ": " + std::string(problem) + " at byte " + std::to_string(raw_bytes_read()) +
              " of the compressed file, after " + std::to_string(decoded_) + " bytes of content";
  }

  RawBytes raw_;
  std::vector<char> block_;  // raw bytes [block_place_, block_end_) wait to be decoded
  std::size_t block_place_ = 0, block_end_ = 0;
  std::unique_ptr<Decompressor> decompressor_;  // null for plain content
  bool ended_ = false;
  std::uint64_t decoded_ = 0;
  std::string damage_;
  std::vector<char> head_;  // decoded for peek(), not yet read
  std::size_t head_place_ = 0;
  bool peeked_ = false;
};

Result<std::unique_ptr<ByteSource>> recognise_compression(RawBytes raw) {
  std::vector<char> beginning(4);
  std::size_t filled = 0;
  while (filled < beginning.size()) {
    const Result<std::size_t> count = raw.read(std::span(beginning).subspan(filled));
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  beginning.resize(filled);
  const std::string_view first(beginning.data(), filled);
  std::unique_ptr<Decompressor> decompressor;
  if (starts_as_gzip(first)) decompressor = make_gzip_decompressor();
  if (starts_as_zstd(first)) decompressor = make_zstd_decompressor();
  return std::make_unique<Source>(std::move(raw), std::move(beginning), std::move(decompressor));
}

Error cannot_open(const std::string& path, int reason) {
  Error error{path, {}, std::string("cannot be opened: ") + std::strerror(reason), ""};
  if (reason == ENOENT || reason == ENOTDIR) error.problem = "no such file", error.remedy = "Check the path; \"-\" reads standard input.";
  if (reason == EACCES || reason == EPERM)
    error.problem = "may not be read by this user", error.remedy = "Ask its owner for read permission (chmod a+r), or copy it.";
  if (reason == ENXIO) error.problem = "is a socket, not a file", error.remedy = "Give a file, or pipe into standard input with \"-\".";
  if (reason == EMFILE || reason == ENFILE) error.remedy = "Too many files are open: raise the limit (ulimit -n).";
  return error;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") return recognise_compression(RawBytes(STDIN_FILENO, std::nullopt, false, path));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return std::unexpected(cannot_open(path, errno));
  struct stat about{};
  const bool known = ::fstat(descriptor, &about) == 0;
  const bool regular = known && S_ISREG(about.st_mode);
  RawBytes raw(descriptor, regular ? std::optional(static_cast<std::uint64_t>(about.st_size)) : std::nullopt, regular, path);
  if (known && S_ISDIR(about.st_mode)) return std::unexpected(Error{path, {}, "is a directory", "Give the files in it, one per rank."});
  if (known && S_ISBLK(about.st_mode))
    return std::unexpected(Error{path, {}, "is a block device, not a file", "Give a file, or pipe into standard input with \"-\"."});
  if (regular) ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return recognise_compression(std::move(raw));
}

std::unique_ptr<ByteSource> open_memory(std::string_view bytes, std::string path) {
  return std::move(*recognise_compression(RawBytes(bytes, std::move(path))));  // memory cannot fail to be read
}

}  // namespace stepscope
