// Files that are there whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace stepscope::app {

// Writes to a temporary file beside path and renames it over path, which keeps its permissions and, where it is a symbolic link, its place. What is there
// and no regular file (/dev/null, a pipe) is written to directly. On an error the old content is untouched.
Result<void> write_file(const std::string& path, std::string_view bytes);

// The same piece by piece, for files that need not fit in memory: produce() hands its pieces to the function it is given. Where produce() or a piece fails,
// that Error is the result.
using WritePiece = std::function<Result<void>(std::string_view)>;
Result<void> write_file(const std::string& path, const std::function<Result<void>(const WritePiece&)>& produce);

// Refuses an output that cannot be written, or that is one of the inputs. what: "the report".
Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs, std::string_view what);

// Whether write_file could place a file there, as far as can be told without doing so: asked before a long job.
Result<void> can_write_file(const std::string& path);

}  // namespace stepscope::app
