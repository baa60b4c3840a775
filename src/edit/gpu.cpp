// gpu: the trace's device operations on another GPU.
//
// Each operation's time is multiplied by roofline(other) / roofline(own), where the recorded shapes tell its work (cost/); else by the ratio of the rates that
// its category lives on (device_rates.h): dense bf16 rate, memory bandwidth, host link, links between GPUs. So it is taken to reach the same share of what is
// possible there. The band: every operation as the faster and as the slower of these two ratios would have it (matrix rate, memory bandwidth).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "edit/change.h"
#include "edit/device_rates.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::compute, OperationClass::communication, OperationClass::copy, OperationClass::fill,
                                      OperationClass::transfer};
constexpr EditParameter parameters[] = {{"to", "a GPU of data/machines or a YAML file: b200-sxm", true}};

// Time there / time here; absent where a figure is not known.
std::optional<double> ratio(std::optional<double> here, std::optional<double> there) {
  return here && there ? std::optional(*here / *there) : std::nullopt;
}

struct Factors {
  std::optional<double> matrix, memory, host_link, link;
  Factors(const Gpu& here, const Gpu& there)
      : matrix(ratio(here.matrix_rate(DataType::bf16), there.matrix_rate(DataType::bf16))),
        memory(ratio(here.memory_bytes_per_second, there.memory_bytes_per_second)),
        host_link(ratio(here.host_link_bytes_per_second_each_way, there.host_link_bytes_per_second_each_way)),
        link(ratio(here.link_bytes_per_second_each_way, there.link_bytes_per_second_each_way)) {
    if (!matrix) matrix = ratio(here.matrix_rate(DataType::fp16), there.matrix_rate(DataType::fp16));
  }
  std::optional<double> by(Limit limit) const {
    switch (limit) {
      case Limit::matrix_units:
        return matrix;
      case Limit::memory:
        return memory;
      case Limit::host_link:
        return host_link;
      case Limit::link:
        return link;
      case Limit::unknown:
        return matrix && memory ? std::optional(std::sqrt(*matrix * *memory)) : std::nullopt;
    }
    return std::nullopt;
  }
};

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  if (scene.gpu == nullptr) return edit_error("the GPU that ran the trace is not known", "name it with --gpu");
  const Result<Gpu> found = find_gpu(std::string(parameter(edit, "to").value_or("")));
  if (!found) return std::unexpected(found.error());
  const Gpu &here = *scene.gpu, &there = *found;
  const Factors factors(here, there);
  if (!factors.matrix || !factors.memory)
    return edit_error(fmt::format("the descriptions of {} and {} have no common matrix rate or no memory bandwidth", here.name, there.name),
                      "add them (docs/machines.md)");
  const double faster = std::min(*factors.matrix, *factors.memory), slower = std::max(*factors.matrix, *factors.memory);

  WorkOf works(scene, graph);
  EditEffect effect{.operations = operations.size(), .summary = {}, .caveats = {}};
  const Nanoseconds before = total_duration(graph, operations);
  double best = 0, worst = 0, by_roofline = 0, unchanged = 0;
  for (const OpId op : operations) {
    Nanoseconds& duration = graph.operations.duration[op];
    const auto was = static_cast<double>(duration);
    const Limit limit = limit_of(scene, graph, op);
    std::optional<double> factor;
    if (graph.operations.operation_class[op] == OperationClass::compute) {
      if (const WorkOf::Found work = works.of(op); work.work != nullptr) {
        const auto own = roofline_bound(here, *work.work, work.type), other = roofline_bound(there, *work.work, work.type);
        if (own && other && own->seconds > 0) factor = other->seconds / own->seconds;
      }
    }
    by_roofline += factor ? was : 0;
    if (!factor) factor = factors.by(limit);
    unchanged += factor ? 0 : was;
    const double used = factor.value_or(1);
    const bool computes = graph.operations.operation_class[op] == OperationClass::compute;
    best += was * (1 - (computes ? std::min(faster, used) : used));
    worst += was * (1 - (computes ? std::max(slower, used) : used));
    duration = scaled(duration, used);
  }
  const Nanoseconds after = total_duration(graph, operations);
  const auto change = static_cast<double>(before - after);
  if (std::abs(change) > 0.5) {
    effect.optimistic = best / change;
    effect.pessimistic = worst / change;
    if (change < 0) std::swap(effect.optimistic, effect.pessimistic);
  }
  effect.summary = fmt::format("{} instead of {}: {} device operations take {} instead of {}", there.title, here.title, operations.size(),
                               format_duration(after), format_duration(before));
  if (before > 0)
    effect.caveats.push_back(fmt::format("{:.0f} % of the device time was scaled by its own roofline, the rest by the rate its category lives on.",
                                         100 * by_roofline / static_cast<double>(before)));
  if (unchanged > 0)
    effect.caveats.push_back(
        fmt::format("{} stay as they were: the descriptions do not tell their rate.", format_duration(static_cast<Nanoseconds>(unchanged))));
  effect.caveats.push_back("Every operation is taken to reach the same share of what is possible as here; the host stays the same machine.");
  for (const Gpu* gpu : {&here, &there})
    if (gpu->confidence != "verified") effect.caveats.push_back(fmt::format("The figures of {} are {}.", gpu->name, gpu->confidence));
  return effect;
}

}  // namespace

extern const EditKind gpu_edit{
    .name = "gpu",
    .help = "The device operations on another GPU, by roofline.",
    .example = "gpu to=b200-sxm",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
