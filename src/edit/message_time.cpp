#include "edit/message_time.h"

#include <algorithm>
#include <map>

#include "edit/change.h"
#include "facts/collective_call.h"

namespace stepscope {

std::int64_t message_bytes(const EditScene& scene, const Graph& graph, OpId op) {
  if (graph.operations.bytes[op] != unknown_amount) return graph.operations.bytes[op];
  const SliceId slice = graph.operations.origin[op];
  if (slice == no_id<SliceId> || scene.facts.activity[slice] != ActivityClass::communication) return unknown_amount;
  return collective_call(scene.timeline, scene.facts, slice).bytes.value_or(unknown_amount);
}

std::optional<MessageTime> fit_message_time(const EditScene& scene, const Graph& graph, std::span<const OpId> operations) {
  std::map<std::int64_t, Nanoseconds> shortest;
  const OperationColumns& o = graph.operations;
  for (const OpId op : operations) {
    const std::int64_t bytes = message_bytes(scene, graph, op);
    if (bytes <= 0 || o.duration[op] <= 0) continue;
    const auto [found, fresh] = shortest.try_emplace(bytes, o.duration[op]);
    if (!fresh) found->second = std::min(found->second, o.duration[op]);
  }
  if (shortest.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(shortest.size());
  double mean_bytes = 0, mean_time = 0;
  for (const auto& [bytes, time] : shortest) {
    mean_bytes += static_cast<double>(bytes) / n;
    mean_time += static_cast<double>(time) / n;
  }
  double with_time = 0, with_self = 0, squares = 0, products = 0;
  for (const auto& [bytes, time] : shortest) {
    const double b = static_cast<double>(bytes), t = static_cast<double>(time);
    with_time += (b - mean_bytes) * (t - mean_time);
    with_self += (b - mean_bytes) * (b - mean_bytes);
    squares += b * b;
    products += b * t;
  }
  MessageTime fit;
  fit.beta = with_time / with_self;
  fit.alpha = mean_time - fit.beta * mean_bytes;
  if (fit.alpha < 0) fit = {0, products / squares};
  if (fit.beta <= 0) return std::nullopt;
  return fit;
}

std::vector<OpId> that_carry_data(const Graph& graph, std::span<const OpId> operations) {
  const std::vector<bool> members = collective_members(graph);
  return filtered(operations, [&](OpId op) {
    const OperationClass c = graph.operations.operation_class[op];
    return c == OperationClass::transfer || (c == OperationClass::communication && !members[index(op)]);
  });
}

std::vector<std::vector<OpId>> by_name(const Graph& graph, std::span<const OpId> operations) {
  std::map<NameId, std::vector<OpId>> groups;
  for (const OpId op : operations) groups[graph.operations.name[op]].push_back(op);
  std::vector<std::vector<OpId>> list;
  for (auto& [name, group] : groups) list.push_back(std::move(group));
  return list;
}

}  // namespace stepscope
