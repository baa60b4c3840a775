// no_sync: threads no longer wait for devices in the chosen calls. The call itself, and copies that it makes, still take their time.
#include <fmt/core.h>

#include <algorithm>

#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::synchronisation, OperationClass::launch,       OperationClass::api,
                                      OperationClass::framework,       OperationClass::data_loading, OperationClass::python};

Result<EditEffect> apply(const EditScene&, const Edit&, std::span<const OpId> operations, Graph& graph) {
  std::vector<bool> chosen(graph.size(), false);
  for (const OpId op : operations) chosen[index(op)] = true;
  std::uint64_t threads = 0, waits = 0;
  for (const OpId op : operations) {
    const auto first = graph.first_dependency(op), end = graph.end_dependency(op);
    std::uint64_t own = 0;
    for (std::uint32_t i = first; i < end; ++i) own += graph.dependencies.kind[i] == DependencyKind::synchronise;
    threads += own > 0;
    waits += own;
  }
  if (waits == 0) return edit_error("none of the chosen operations waits for a device", "synchronising calls are found with class=synchronisation");
  rewire(graph, [&](OpId op, std::uint32_t i) { return chosen[index(op)] && graph.dependencies.kind[i] == DependencyKind::synchronise; }, {});
  return EditEffect{.operations = threads,
                    .summary = fmt::format("{} no longer wait{} for the device", plural(threads, "call"), threads == 1 ? "s" : ""),
                    .caveats = {"A value that the host reads after such a wait must then come later, or not be read: the program has to allow it."}};
}

}  // namespace

extern const EditKind no_sync_edit{
    .name = "no_sync",
    .help = "Threads do not wait for devices.",
    .example = "no_sync name=cudaStreamSynchronize phase=forward",
    .classes = classes,
    .parameters = {},
    .apply = apply,
};

}  // namespace stepscope
