// NCCL inspector logs: JSON lines {"header": {…}, "metadata": {…}, "coll_perf" | "p2p_perf" | "dump_stats": {…}}. Recognised and refused until their reader
// exists.
#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

int recognises(std::string_view head, std::string_view) {
  const auto keys = top_level_keys(head);
  return has_key(keys, "header") && (has_key(keys, "coll_perf") || has_key(keys, "p2p_perf") || has_key(keys, "dump_stats")) ? 100 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  return std::unexpected(Error{std::string(source.path()), 0, "NCCL inspector log: not read yet",
                               "Analyse the Kineto traces (torch.profiler's export_chrome_trace) of the same ranks: they show the collectives' kernels."});
}

}  // namespace

extern const Reader nccl_inspector_reader;
const Reader nccl_inspector_reader{"nccl_inspector", "NCCL inspector log", "*.log, *.jsonl", recognises, read, false};

}  // namespace stepscope
