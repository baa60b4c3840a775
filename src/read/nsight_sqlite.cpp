// SQLite databases: Nsight Systems exports and ROCm's rocpd. Recognised and refused until their reader exists.
#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

int recognises(std::string_view head, std::string_view) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16)) ? 100 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  const Result<std::string_view> head = source.peek();
  if (!head) return std::unexpected(head.error());
  Error error{std::string(source.path()), 0, "Nsight Systems SQLite export: not read yet",
              "For now, record the same steps with torch.profiler (export_chrome_trace) and analyse that file."};
  // Table names stand in the schema, whose first page is the file's first.
  if (head->contains("rocpd_"))
    error.problem = "ROCm rocpd database: not read yet";
  else if (!head->contains("CUPTI_ACTIVITY_KIND_") && !head->contains("NVTX_EVENTS") && !head->contains("TARGET_INFO_") && !head->contains("StringIds") &&
           head->size() < (64u << 10))
    error.problem = "SQLite database without the tables of an Nsight Systems export: not read";
  return std::unexpected(std::move(error));
}

}  // namespace

extern const Reader nsight_sqlite_reader;
const Reader nsight_sqlite_reader{"nsight_sqlite", "Nsight Systems SQLite export", "*.sqlite", recognises, read, false};

}  // namespace stepscope
