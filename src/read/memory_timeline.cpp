// PyTorch's export_memory_timeline in its raw form: [[time, action, bytes, category], …]. Recognised and refused until its reader exists.
#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

// Two rows of four whole numbers each.
int recognises(std::string_view head, std::string_view) {
  std::size_t i = 0;
  const auto skip = [&](char wanted) {
    while (i < head.size() && std::string_view(" \t\r\n").contains(head[i])) ++i;
    return i < head.size() && head[i] == wanted && ++i != 0;
  };
  const auto number = [&] {
    (void)skip('-');
    const std::size_t first = i;
    while (i < head.size() && head[i] >= '0' && head[i] <= '9') ++i;
    return i != first;
  };
  const auto row = [&] { return skip('[') && number() && skip(',') && number() && skip(',') && number() && skip(',') && number() && skip(']'); };
  return skip('[') && row() && skip(',') && row() ? 90 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  return std::unexpected(Error{std::string(source.path()), 0, "PyTorch memory timeline (raw): not read yet",
                               "Analyse the trace of the same profiler (export_chrome_trace), recorded with profile_memory=True: it holds the allocations."});
}

}  // namespace

extern const Reader memory_timeline_reader;
const Reader memory_timeline_reader{"memory_timeline", "PyTorch memory timeline", "*.raw.json.gz", recognises, read, false};

}  // namespace stepscope
