// set: the duration of each operation becomes the one given.
#include <fmt/core.h>

#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr EditParameter parameters[] = {{"to", "duration of each operation: 12us", true}};

Result<EditEffect> apply(const EditScene&, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto to = duration_parameter(edit, "to");
  if (!to) return std::unexpected(to.error());
  if (!*to) return edit_error("to= is missing", "a duration, such as to=12us");
  EditEffect effect{
      .operations = operations.size(), .summary = fmt::format("set {} to {} each", counted(graph, operations), format_duration(**to)), .caveats = {}};
  for (const OpId op : operations) graph.operations.duration[op] = **to;
  return effect;
}

}  // namespace

extern const EditKind set_edit{
    .name = "set",
    .help = "The duration of operations, as given.",
    .example = "set name=*softmax* to=12us",
    .classes = {},
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
