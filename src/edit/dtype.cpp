// dtype: the work in another data type. What matrix units do takes the ratio of the dense rates of the two types, or, where memory bounds it by its roofline,
// that of the bytes; everything else moves fewer bytes: the ratio of the element sizes. Only work in floating-point types wider or narrower than the new one
// changes; operations whose type is not known stay, unless from= says it.
#include <fmt/core.h>

#include <algorithm>

#include "cost/arguments.h"
#include "edit/change.h"
#include "edit/device_rates.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::compute};
constexpr EditParameter parameters[] = {{"to", "bf16, fp16, tf32, fp8, fp4, fp32", true},
                                        {"from", "type of the operations whose type the trace does not tell"}};

std::optional<DataType> type_named(std::string_view name) {
  if (name == "fp8") return DataType::fp8_e4m3;
  const DataType type = parse_data_type(name);
  return is_floating(type) ? std::optional(type) : std::nullopt;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const std::string_view to_name = parameter(edit, "to").value_or("");
  const std::optional<DataType> to = type_named(to_name);
  if (!to) return edit_error(fmt::format("to={} is no floating-point type", to_name), "bf16, fp16, tf32, fp8, fp4 or fp32");
  std::optional<DataType> from;
  if (const auto name = parameter(edit, "from")) {
    from = type_named(*name);
    if (!from) return edit_error(fmt::format("from={} is no floating-point type", *name), "fp32, tf32, bf16, fp16 or fp8");
  }
  if (scene.gpu == nullptr) return edit_error("the GPU that ran the trace is not known", "name it with --gpu");
  const Gpu& gpu = *scene.gpu;
  const auto to_bytes = element_bytes(*to);
  if (!gpu.matrix_rate(*to))
    return edit_error(fmt::format("{} has no dense {} rate", gpu.title, to_name), "choose another type, or describe it with --gpu FILE");

  WorkOf works(scene, graph);
  std::vector<OpId> changed;
  Nanoseconds unknown = 0, before = 0;
  double without_matrix = 0;  // saved where only bytes count
  for (const OpId op : operations) {
    const WorkOf::Found found = works.of(op);
    const DataType type = found.work != nullptr && is_floating(found.type) ? found.type : from.value_or(DataType::unknown);
    const auto bytes = element_bytes(type);
    const Limit limit = limit_of(scene, graph, op);
    const bool matrix = found.work != nullptr ? found.work->matrix_units : limit == Limit::matrix_units;
    const auto rate = gpu.matrix_rate(type);
    Nanoseconds& duration = graph.operations.duration[op];
    if (!bytes || !to_bytes || (matrix && !rate) || limit == Limit::unknown) {
      unknown += duration;
      continue;
    }
    if (type == *to) continue;
    const double fewer_bytes = *to_bytes / *bytes;
    double factor = fewer_bytes;
    if (matrix) {
      factor = *rate / *gpu.matrix_rate(*to);
      if (found.work != nullptr) {
        Work narrow = *found.work;
        narrow.bytes *= fewer_bytes;
        const auto own = roofline_bound(gpu, *found.work, type), other = roofline_bound(gpu, narrow, *to);
        if (own && other && own->seconds > 0) factor = other->seconds / own->seconds;
      }
    }
    before += duration;
    const Nanoseconds after = scaled(duration, factor);
    if (!matrix) without_matrix += static_cast<double>(duration - after);
    duration = after;
    changed.push_back(op);
  }
  if (changed.empty())
    return edit_error(fmt::format("of none of the chosen kernels is it known that it works in another type than {}", to_name),
                      from ? "choose others" : "say what they work in now: from=fp32");
  const Nanoseconds after = total_duration(graph, changed);
  EditEffect effect{.operations = changed.size(), .summary = {}, .caveats = {}};
  effect.summary = fmt::format("{} in {}: {} instead of {}", plural(changed.size(), "kernel"), to_name, format_duration(after), format_duration(before));
  // At worst only the matrix products change, and what moves bytes stays in its type (as autocast leaves normalisation, losses and optimizers).
  if (before > after) effect.pessimistic = std::clamp(1 - without_matrix / static_cast<double>(before - after), 0.0, 1.0);
  if (unknown > 0) effect.caveats.push_back(fmt::format("{} of kernels whose type or kind is not known stay as they are.", format_duration(unknown)));
  effect.caveats.push_back("Casts, scales and whatever else the narrower type needs are not counted; whether the model still trains is for you to see.");
  return effect;
}

}  // namespace

extern const EditKind dtype_edit{
    .name = "dtype",
    .help = "The work in another data type: matrix products by peak rates, the rest by bytes.",
    .example = "dtype to=bf16 phase=forward|backward",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
