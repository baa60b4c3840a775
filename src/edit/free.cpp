// free: operations take no time; their launches and all lags stay.
#include <fmt/core.h>

#include "edit/change.h"

namespace stepscope {

namespace {

Result<EditEffect> apply(const EditScene&, const Edit&, std::span<const OpId> operations, Graph& graph) {
  EditEffect effect{.operations = operations.size(), .summary = fmt::format("{} take no time", counted(graph, operations)), .caveats = {}};
  for (const OpId op : operations) graph.operations.duration[op] = 0;
  return effect;
}

}  // namespace

extern const EditKind free_edit{
    .name = "free",
    .help = "Operations take no time; they are still launched, and their lags stay.",
    .example = "free category=elementwise phase=backward",
    .classes = {},
    .parameters = {},
    .apply = apply,
};

}  // namespace stepscope
