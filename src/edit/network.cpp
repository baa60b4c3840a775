// network: communication with other bandwidth and latency. Of time = alpha + bytes · beta (message_time.h) alpha is multiplied by latency= and the rest divided
// by bandwidth=. Without a known alpha (one size only, and no alpha=) all of the time counts as bandwidth's.
#include <fmt/core.h>

#include <algorithm>

#include "edit/change.h"
#include "edit/message_time.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::communication, OperationClass::transfer};
constexpr EditParameter parameters[] = {{"bandwidth", "factor on the bandwidth: 2 = twice as fast"},
                                        {"latency", "factor on the latency: 0.5 = half"},
                                        {"alpha", "latency of one collective, where known: 20us"}};

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto bandwidth = factor_parameter(edit, "bandwidth"), latency = factor_parameter(edit, "latency");
  const auto alpha = duration_parameter(edit, "alpha");
  if (!bandwidth) return std::unexpected(bandwidth.error());
  if (!latency) return std::unexpected(latency.error());
  if (!alpha) return std::unexpected(alpha.error());
  if (!*bandwidth && !*latency) return edit_error("neither bandwidth= nor latency= is given", "for example: network bandwidth=2");
  if (*bandwidth && **bandwidth <= 0) return edit_error("bandwidth=0: nothing would ever arrive", "a factor above 0");
  const std::vector<OpId> carrying = that_carry_data(graph, operations);
  if (carrying.empty())
    return edit_error("none of the chosen operations carries data between ranks", "choose communication, for example collective=all_reduce");

  EditEffect effect{.operations = carrying.size(), .summary = {}, .caveats = {}};
  const std::string before = counted(graph, carrying);
  bool without_alpha = false;
  for (const std::vector<OpId>& group : by_name(graph, carrying)) {
    std::optional<double> own_alpha;
    if (*alpha)
      own_alpha = static_cast<double>(**alpha);
    else if (const auto fit = fit_message_time(scene, graph, group))
      own_alpha = fit->alpha;
    if (!own_alpha && *latency)
      return edit_error(fmt::format("the latency of {} cannot be told: the trace has it in fewer than two known sizes", graph.name_of(group.front())),
                        "give it: alpha=20us");
    without_alpha |= !own_alpha;
    for (const OpId op : group) {
      Nanoseconds& duration = graph.operations.duration[op];
      const double all = static_cast<double>(duration), fixed = std::min(own_alpha.value_or(0), all);
      duration = scaled(1, fixed * latency->value_or(1) + (all - fixed) / bandwidth->value_or(1));
    }
  }
  effect.summary = fmt::format("{} with {:g} x bandwidth and {:g} x latency: now {}", before, bandwidth->value_or(1), latency->value_or(1),
                               format_duration(total_duration(graph, carrying)));
  if (without_alpha) {
    effect.caveats.push_back("The latency of some collectives is not known: all of their time is taken to depend on the bandwidth.");
    if (bandwidth->value_or(1) > 1) effect.pessimistic = 0;
  }
  for (const OpId op : carrying)
    if (graph.operations.operation_class[op] == OperationClass::communication) {
      effect.caveats.push_back("The trace has one side of these collectives only: their time may hold waiting for other ranks, which no network shortens.");
      break;
    }
  return effect;
}

}  // namespace

extern const EditKind network_edit{
    .name = "network",
    .help = "Communication with other bandwidth and latency.",
    .example = "network bandwidth=2 latency=0.5",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
