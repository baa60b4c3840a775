// The seam of read/: one file per format, each defining `extern const Reader NAME_reader`. CMake collects them into all_readers().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "timeline/builder.h"

namespace stepscope {

class ByteSource;  // base/bytes.h: a file, standard input, or what gzip or zstd makes of them
class Progress;    // base/progress.h

struct ReadOptions {
  int threads = 0;               // 0 = one per core
  Progress* progress = nullptr;  // told the compressed bytes read; may be null
};

struct Reader {
  std::string_view name;    // "kineto"
  std::string_view help;    // one line: what it reads
  std::string_view inputs;  // "*.json, *.json.gz, *.json.zst"
  // Whether the content's first bytes (decompressed, up to 64 KiB) are this format's, 0 = no … 100 = certain. The surest reader gets the file.
  int (*recognises)(std::string_view head, std::string_view path);
  // Adds one rank (one file) to the builder. An input that is merely damaged succeeds with its repairs counted; an Error means that nothing could be used.
  Result<void> (*read)(ByteSource& source, const ReadOptions& options, TimelineBuilder& builder);
  // false: the format is recognised only to say what to do instead; read() is always an Error.
  bool reads = true;
};

std::span<const Reader* const> all_readers();  // generated; in order of name

// What a reader makes of content: the surest of all_readers(), or why there is none ("not a trace: first bytes …").
Result<const Reader*> choose_reader(ByteSource& source);

// Files of a directory by content (not by name), not recursive, in natural order of their names. A path that is a file, or "-", stands for itself.
Result<std::vector<std::string>> find_inputs(std::string_view path);

// The same, with what was passed over.
struct FoundInputs {
  std::vector<std::string> files;
  struct Skipped {
    std::string name;    // without the directory
    std::string reason;  // "not a trace: first bytes …"
  };
  std::vector<Skipped> skipped;
};
Result<FoundInputs> search_inputs(std::string_view path);

// Reads the files, one rank each, into one Timeline. A path may be a directory: then its files as find_inputs() finds them, and health notes name those
// that were passed over. Fails only when no file could be used; files that could not are named in the health notes.
//
// The rank's number: what the file itself says (the reader sets RankSource::distributed_info), else from the file's name, else the lowest free number.
// Files are read by threads, each into a builder of its own, and joined in the order of paths: the result does not depend on the number of threads. At most
// one file per thread is in memory beside the result.
// Clocks: times stay absolute, so that ranks can be compared; a file whose clock is more than a year away from the others' is moved to begin with them, and
// that is noted.
Result<Timeline> read_timeline(std::span<const std::string> paths, const ReadOptions& options);

}  // namespace stepscope
