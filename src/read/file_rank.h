// The rank that a file's name tells: rank003.json.gz, trace_rank_7.json, worker0_step_12.169.pt.trace.json, rank_3/trace.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope {

// The number after the word "rank" (else "worker"), with at most one of - _ . = : between, in the file's name, else in its folder's name. "local_rank" does not
// count: it repeats on every node.
std::optional<std::int64_t> rank_in_path(std::string_view path);

}  // namespace stepscope
