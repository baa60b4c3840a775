// scale: the duration of each operation times a factor.
#include <fmt/core.h>

#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr EditParameter parameters[] = {{"by", "factor on the duration", true}};

Result<EditEffect> apply(const EditScene&, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto by = factor_parameter(edit, "by");
  if (!by) return std::unexpected(by.error());
  if (!*by) return edit_error("by= is missing", "a factor, such as by=0.5");
  EditEffect effect{.operations = operations.size(), .summary = fmt::format("scaled {} by {:g}", counted(graph, operations), **by), .caveats = {}};
  for (const OpId op : operations) graph.operations.duration[op] = scaled(graph.operations.duration[op], **by);
  return effect;
}

}  // namespace

extern const EditKind scale_edit{
    .name = "scale",
    .help = "The duration of operations times a factor.",
    .example = "scale name=*gemm* by=0.5",
    .classes = {},
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
