// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace stepscope::app {

// Writes to a temporary file beside path and renames it over path, which keeps its permissions and, where it is a symbolic link, its place. What is there
// and no regular file (/dev/null, a pipe) is written to directly. On an error the old content is untouched.
Result<void> write_file(const std::string& path, std::string_view bytes);

// Whether write_file could place a file there, as far as can be told without doing so: asked before a long job.
Result<void> can_write_file(const std::string& path);

}  // namespace stepscope::app
