// launch_cost: launch calls last as given, and the device operations that they launch wait as given after the call begins (no time, as inside a CUDA graph).
#include <fmt/core.h>

#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::launch};
constexpr EditParameter parameters[] = {{"to", "duration of a launch call (0)"}, {"lag", "time from the call's start until the device may begin (0)"}};

Result<EditEffect> apply(const EditScene&, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto to = duration_parameter(edit, "to"), lag = duration_parameter(edit, "lag");
  if (!to) return std::unexpected(to.error());
  if (!lag) return std::unexpected(lag.error());
  const Nanoseconds duration = to->value_or(0), wait = lag->value_or(0);
  EditEffect effect{
      .operations = operations.size(),
      .summary = fmt::format("{} take{} {} each, and the device starts {} after them", counted(graph, operations), operations.size() == 1 ? "s" : "",
                             format_duration(duration), format_duration(wait)),
      .caveats = {"The host's time between launches (framework operators, Python) stays; a CUDA graph would save it too: free class=framework|python."}};
  std::vector<bool> chosen(graph.size(), false);
  for (const OpId op : operations) {
    chosen[index(op)] = true;
    graph.operations.duration[op] = duration;
  }
  DependencyColumns& d = graph.dependencies;
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i)
      if (d.lag_kind[i] == LagKind::launch && d.kind[i] == DependencyKind::launch && chosen[index(d.moment[i].operation())]) d.lag[i] = wait;
  return effect;
}

}  // namespace

extern const EditKind launch_cost_edit{
    .name = "launch_cost",
    .help = "Launch calls and the way from them to the device take no time, or as given.",
    .example = "launch_cost to=0 phase=forward",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
