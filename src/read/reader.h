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
  int threads = 0;                      // 0 = one per core
  Progress* progress = nullptr;         // told the compressed bytes read; may be null
};

struct Reader {
  std::string_view name;                // "kineto"
  std::string_view help;                // one line: what it reads
  std::string_view inputs;              // "*.json, *.json.gz, *.json.zst"
  // Whether the content's first bytes (decompressed, up to 64 KiB) are this format's, 0 = no … 100 = certain. The surest reader gets the file.
  int (*recognises)(std::string_view head, std::string_view path);
  // Adds one rank (one file) to the builder. An input that is merely damaged succeeds with its repairs counted; an Error means that nothing could be used.
  Result<void> (*read)(ByteSource& source, const ReadOptions& options, TimelineBuilder& builder);
};

std::span<const Reader* const> all_readers();  // generated; in order of name

// Files of a directory by content (not by name), not recursive, in natural order of their names. A path that is a file, or "-", stands for itself.
Result<std::vector<std::string>> find_inputs(std::string_view path);

// Reads the files, one rank each, into one Timeline. Fails only when no file could be used; files that could not are named in the health notes.
Result<Timeline> read_timeline(std::span<const std::string> paths, const ReadOptions& options);

}  // namespace stepscope
