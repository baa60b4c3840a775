// remove: operations and the calls that launched them (and nothing else) take no time, and what they waited for on their own account vanishes: their lags, and
// on threads the waiting for devices. What comes after them still comes after what came before them.
#include <fmt/core.h>

#include "edit/change.h"

namespace stepscope {

namespace {

Result<EditEffect> apply(const EditScene& scene, const Edit&, std::span<const OpId> operations, Graph& graph) {
  const std::vector<OpId> calls = Launches(scene, graph).only_for(operations);
  EditEffect effect{.operations = operations.size() + calls.size(), .summary = fmt::format("removed {}", counted(graph, operations)), .caveats = {}};
  if (!calls.empty()) effect.summary += fmt::format(" and {}", plural(calls.size(), "launch call"));
  bool on_device = false;
  for (const OpId op : operations) on_device |= runs_on_device(graph.operations.operation_class[op]);
  vanish(graph, operations);
  vanish(graph, calls);
  if (on_device)
    effect.caveats.push_back("The host's time in the operators around the removed launches stays: remove class=framework operator=... takes it too.");
  return effect;
}

}  // namespace

extern const EditKind remove_edit{
    .name = "remove",
    .help = "Operations and their launch calls do not happen.",
    .example = "remove name=*dropout*",
    .classes = {},
    .parameters = {},
    .apply = apply,
};

}  // namespace stepscope
