#include "facts/collective_call.h"

#include <algorithm>
#include <array>

#include "base/kernel_name.h"
#include "cost/operator_cost.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

using enum CollectiveFunction;

// Lower-case letters and digits only, so that "_all_gather_base" and "AllGather" meet.
std::string canonical(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
    if (c >= 'A' && c <= 'Z') text += static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool contains(std::string_view words, std::string_view part) {
  return words.find(part) != std::string_view::npos;
}

// The order matters: "reduce" is in "allreduce" and "reducescatter", "gather" in "allgather".
constexpr std::pair<std::string_view, CollectiveFunction> words[] = {
    {"allreduce", all_reduce},
    {"allgather", all_gather},
    {"reducescatter", reduce_scatter},
    {"alltoall", all_to_all},
    {"sendrecv", send_receive},
    {"broadcast", broadcast},
    {"isendirecv", send_receive},
    {"reduce", reduce},
    {"gather", gather},
    {"scatter", scatter},
    {"barrier", barrier},
    {"send", send},
    {"recv", receive},
};

CollectiveFunction function_of(std::string_view text) {
  for (const auto& [word, function] : words)
    if (contains(text, word)) return function;
  return unknown;
}

// The type in a collective kernel's name. NCCL runs functions that only move data as bytes, whatever their type.
DataType type_of_kernel(std::string_view name, CollectiveFunction function) {
  if (function != all_reduce && function != reduce_scatter && function != reduce) return DataType::unknown;
  static constexpr std::pair<std::string_view, DataType> tokens[] = {
      {"f32", DataType::fp32},        {"f16", DataType::fp16},   {"bf16", DataType::bf16},  {"f64", DataType::fp64},    {"f8e4m3", DataType::fp8_e4m3},
      {"f8e5m2", DataType::fp8_e5m2}, {"float", DataType::fp32}, {"half", DataType::fp16},  {"double", DataType::fp64}, {"i64", DataType::int64},
      {"int64", DataType::int64},     {"i32", DataType::int32},  {"int32", DataType::int32}};
  std::string_view rest = name.substr(0, name.find('('));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    const std::string_view token = rest.substr(0, end);
    for (const auto& [word, type] : tokens)
      if (token == word) return type;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return contains(name, "bfloat16") ? DataType::bf16 : DataType::unknown;
}

std::optional<std::int64_t> times(std::optional<std::int64_t> elements, DataType type) {
  const std::optional<double> size = element_bytes(type);
  if (!elements || !size || *elements < 0 || static_cast<double>(*elements) * *size > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<double>(*elements) * *size);
}

// "Collective name", "In msg nelems", "dtype", "Process Group Name", …: on kernels (2024 and later) and on record_param_comms.
bool take_arguments(std::string_view detail, CollectiveCall& call) {
  const auto name = recorded_argument(detail, "Collective name");
  if (!name) return false;
  call.function = collective_function_of_operator(*name);
  call.type = parse_data_type(recorded_argument(detail, "dtype").value_or(""));
  const bool output_counts = call.function == all_gather || call.function == receive;
  call.bytes = times(recorded_number(detail, output_counts ? "Out msg nelems" : "In msg nelems"), call.type);
  call.group_size = recorded_number(detail, "Group size");
  if (call.group_size && *call.group_size <= 0) call.group_size.reset();
  call.group = recorded_argument(detail, "Process Group Name").value_or("");
  call.group_ranks = recorded_argument(detail, "Process Group Ranks").value_or("");
  call.sequence = recorded_number(detail, "Seq");
  if (!call.sequence) call.sequence = recorded_number(detail, "seq");
  return true;
}

struct Tensors {
  std::int64_t bytes = 0;
  DataType type = DataType::unknown;
};

// Bytes of a tensor or of all tensors of a (nested) list; absent where a shape or type is unknown.
bool add_tensors(const Argument& argument, Tensors& sum) {
  if (!argument.list.empty()) return std::ranges::all_of(argument.list, [&](const Argument& element) { return add_tensors(element, sum); });
  const DataType type = argument.type;
  const auto bytes = times(element_count(argument.shape), type);
  if (!argument.is_tensor || !bytes) return false;
  sum.bytes += *bytes;
  sum.type = sum.type == DataType::unknown || sum.type == type ? type : DataType::unknown;
  return true;
}

// Sizes from an operator's shapes. An annotation "nccl:…" records the input; of "c10d::…" the functions with two buffers record the output first.
bool take_shapes(std::string_view name, std::string_view detail, CollectiveCall& call) {
  const auto recorded = parse_operator_call(name, detail);
  if (!recorded || recorded->arguments.empty()) return false;
  const bool output_first = name.starts_with("c10d::") && (call.function == all_gather || call.function == reduce_scatter || call.function == all_to_all);
  const std::size_t input = output_first ? 1 : 0, wanted = call.function == all_gather && output_first ? 0 : input;
  if (wanted >= recorded->arguments.size()) return false;
  Tensors tensors;
  if (!add_tensors(recorded->arguments[wanted], tensors)) return false;
  if (call.type == DataType::unknown) call.type = tensors.type;
  // An all-gather's size is its output's: known from its input only together with the group's size.
  if (call.function == all_gather && !output_first) return true;
  if (call.function == receive) return true;
  call.bytes = tensors.bytes;
  return true;
}

}  // namespace

std::string_view collective_function_name(CollectiveFunction function) {
  static constexpr std::string_view names[] = {
      "all-reduce", "all-gather", "reduce-scatter", "all-to-all",        "broadcast",       "reduce",         "gather",        "scatter", "send/receive",
      "send",       "receive",    "barrier",        "custom all-reduce", "DeepEP dispatch", "DeepEP combine", "DeepEP notify", "unknown"};
  return names[static_cast<std::size_t>(function)];
}

CollectiveFunction collective_function_of_operator(std::string_view name) {
  if (const std::size_t scope = name.find_last_of(':'); scope != std::string_view::npos) name.remove_prefix(scope + 1);
  return function_of(canonical(name));
}

CollectiveFunction collective_function_of_kernel(std::string_view name) {
  const std::string own_name = short_kernel_name(name);
  const std::string text = canonical(own_name);
  if (contains(name, "deep_ep::") || contains(name, "internode::") || contains(name, "intranode::")) {
    if (contains(text, "notify")) return expert_notify;
    if (contains(text, "dispatch")) return expert_dispatch;
    if (contains(text, "combine")) return expert_combine;
    return unknown;
  }
  const bool of_library = text.starts_with("nccl") || text.starts_with("rccl") || text.starts_with("hccl") || text.starts_with("msccl");
  if (!of_library) {
    if (contains(text, "crossdevicereduce") || contains(text, "multimemallreduce") || contains(text, "allreduce")) return custom_all_reduce;
    return function_of(text);
  }
  return function_of(text);
}

CollectiveCall collective_call(const Timeline& timeline, const Facts& facts, SliceId slice) {
  const SliceColumns& s = timeline.slices;
  CollectiveCall call;
  const std::string_view kernel = timeline.name_of(slice);
  const CollectiveFunction by_kernel = collective_function_of_kernel(kernel);
  if (take_arguments(timeline.detail_of(slice), call)) {
    call.source = CollectiveSource::kernel_arguments;
    if (call.function == unknown) call.function = by_kernel;
    return call;
  }
  // Around the launch, innermost first: annotation nccl:…, record_param_comms, c10d::…
  constexpr int deepest = 64;
  std::array<SliceId, 2> with_shapes{no_id<SliceId>, no_id<SliceId>};  // an annotation of the library's, an operator that communicates
  int steps = 0;
  SliceId up = facts.launch[slice] != no_id<SliceId> ? facts.parent[facts.launch[slice]] : facts.operation[slice];
  for (; up != no_id<SliceId> && steps < deepest; up = facts.parent[up], ++steps) {
    if (s.kind[up] != SliceKind::operation && s.kind[up] != SliceKind::annotation) continue;
    const std::string_view name = timeline.name_of(up);
    if (name == "record_param_comms" && take_arguments(timeline.detail_of(up), call)) {
      call.source = CollectiveSource::operator_arguments;
      call.cause = up;
      if (call.function == unknown) call.function = by_kernel;
      return call;
    }
    const bool annotation = name.starts_with("nccl:") || name.starts_with("rccl:") || name.starts_with("hccl:");
    if (annotation && with_shapes[0] == no_id<SliceId>) with_shapes[0] = up;
    if (!annotation && name != "record_param_comms" && with_shapes[1] == no_id<SliceId> && s.kind[up] == SliceKind::operation &&
        operator_category(name) == OperatorCategory::communication)
      with_shapes[1] = up;
  }
  call.function = by_kernel;
  call.type = type_of_kernel(kernel, by_kernel);
  for (const SliceId id : with_shapes) {
    if (id == no_id<SliceId>) continue;
    const std::string_view name = timeline.name_of(id);
    // The operator knows better than the kernel: NCCL runs an all-to-all as SendRecv. A custom kernel stays one.
    if (const CollectiveFunction by_operator = collective_function_of_operator(name); by_operator != unknown && by_kernel != custom_all_reduce)
      call.function = by_operator;
    if (!take_shapes(name, timeline.detail_of(id), call)) continue;
    call.source = CollectiveSource::operator_shapes;
    call.cause = id;
    if (call.bytes) break;
  }
  return call;
}

std::optional<double> bus_factor(CollectiveFunction function, std::optional<std::int64_t> group_size) {
  if (function == broadcast || function == reduce || function == send || function == receive || function == send_receive) return 1.0;
  if (!group_size || *group_size <= 0) return std::nullopt;
  const auto ranks = static_cast<double>(*group_size);
  switch (function) {
    case all_reduce:
    case custom_all_reduce:
      return 2.0 * (ranks - 1.0) / ranks;
    case all_gather:
    case reduce_scatter:
    case all_to_all:
      return (ranks - 1.0) / ranks;
    default:
      return std::nullopt;
  }
}

}  // namespace stepscope
