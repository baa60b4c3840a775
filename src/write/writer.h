// The seam of write/: one file per format of other tools, each defining `extern const Writer NAME_writer`. CMake collects them into all_writers().
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "simulate/replay.h"
#include "timeline/timeline.h"

namespace stepscope {

// What a writer may write. Nothing private is in a Timeline but what names of slices hold; writers leave the paths of input files out.
struct WriteInput {
  const Timeline& timeline;
  const Facts& facts;
  const Lifted* lifted = nullptr;  // null = without the critical path
  const ReplayTimes* times = nullptr;
};

// Takes the output piece by piece; an Error ends the writing.
using ByteSink = std::function<Result<void>(std::string_view)>;

struct Writer {
  std::string_view name;    // "chrome", as in --to chrome
  std::string_view help;    // one line: what it writes, and who reads it
  std::string_view ending;  // ".json": of files; .gz may follow
  Result<void> (*write)(const WriteInput& input, const ByteSink& sink);
};

std::span<const Writer* const> all_writers();  // generated; in order of name

}  // namespace stepscope
