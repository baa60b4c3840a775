// rocprofv3's JSON ({"rocprofiler-sdk-tool": [ … ]}). Recognised and refused until its reader exists.
#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

int recognises(std::string_view head, std::string_view) {
  return has_key(top_level_keys(head), "rocprofiler-sdk-tool") ? 100 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  return std::unexpected(Error{std::string(source.path()), 0, "rocprofv3 JSON: not read yet",
                               "For now, record the same steps with torch.profiler (export_chrome_trace) and analyse that file."});
}

}  // namespace

extern const Reader rocprof_reader;
const Reader rocprof_reader{"rocprof", "rocprofv3 JSON", "*_results.json", recognises, read, false};

}  // namespace stepscope
