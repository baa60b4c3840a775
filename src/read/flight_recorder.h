// PyTorch's flight recorder: the last collectives that each process group enqueued, with their states, as dumped when a job hangs.
#pragma once

#include <string_view>

#include "base/error.h"
#include "timeline/builder.h"

namespace stepscope {

// Adds a dump (as JSON text) to the builder as one rank: a track per process group with an instant per collective at the time it was enqueued, a slice from
// its discovered start to its discovered end where both are known, and health notes for collectives that did not complete. JSON that is cut off is used up to
// its last whole entry. Errors: no flight recorder dump.
Result<void> add_flight_recorder_dump(std::string_view json, Rank rank, TimelineBuilder& builder);

}  // namespace stepscope
