// Copies, casts and joins of tensors on one device.
// FLOPs: none. Bytes: source read + destination written, each once, at its own type.
// Source: native_functions.yaml. Limits: copies between host and device are memory-copy slices, whose own byte counts are exact: they are not judged here.
// Lists of tensors (cat, stack, _foreach_copy_) have no formula where the record lacks their elements' types, as it usually does.

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> finish(const ByteSum& bytes, const Argument& source, std::string description) {
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.bytes = *bytes.total();
  work.type = source.type;
  work.description = std::move(description);
  return work;
}

// All elements of a list of tensors, read; and how many they are.
std::optional<double> add_list(const std::vector<Argument>& list, ByteSum& bytes) {
  double count = 0;
  for (const Argument& element : list) {
    const std::optional<double> values = value_count(element);
    if (!values) return std::nullopt;
    bytes.add(&element);
    count += *values;
  }
  return count;
}

std::optional<Work> work(const OperatorCall& call) {
  if (call.arguments.empty()) return std::nullopt;
  if (call.name == "aten::cat" || call.name == "aten::stack") {  // (tensors, dim)
    const std::vector<Argument>& list = call.arguments[0].list;
    ByteSum bytes;
    const std::optional<double> count = add_list(list, bytes);
    if (list.empty() || !count) return std::nullopt;
    DataType output = list[0].type;
    for (const Argument& element : list) output = promoted_type(output, element.type);
    return finish(bytes.add(*count, output), list[0], std::to_string(list.size()) + " tensors " + std::string(data_type_name(output)));
  }
  if (call.name == "aten::_foreach_copy_") {  // (destinations, sources)
    if (call.arguments.size() < 2 || call.arguments[0].list.empty()) return std::nullopt;
    ByteSum bytes;
    if (!add_list(call.arguments[0].list, bytes) || !add_list(call.arguments[1].list, bytes)) return std::nullopt;
    return finish(bytes, call.arguments[0].list[0], std::to_string(call.arguments[0].list.size()) + " tensors");
  }
  if (call.name == "aten::copy_") {  // (destination, source): the source may be smaller and is then repeated
    const Argument* destination = tensor_argument(call, 0);
    const Argument* source = tensor_argument(call, 1);
    if (destination == nullptr || source == nullptr) return std::nullopt;
    return finish(
        ByteSum().add(source).add(destination), *destination,
        tensor_text(destination->shape, source->type) + (source->type == destination->type ? "" : " to " + std::string(data_type_name(destination->type))));
  }
  const Argument* source = tensor_argument(call, 0);
  if (source == nullptr) return std::nullopt;
  const std::optional<double> n = value_count(*source);
  if (!n) return std::nullopt;
  DataType output = source->type;
  if (call.name == "aten::_to_copy")  // (self, type, …): a type that is not given stays
    if (const DataType given = type_argument(call, 1); given != DataType::unknown) output = given;
  return finish(ByteSum().add(source).add(*n, output), *source,
                tensor_text(source->shape, source->type) + (output == source->type ? "" : " to " + std::string(data_type_name(output))));
}

constexpr std::string_view operators[] = {"aten::copy_", "aten::_to_copy", "aten::clone",         "aten::contiguous",
                                          "aten::cat",   "aten::stack",    "aten::_foreach_copy_"};

}  // namespace

extern const OperatorCost copy_cost{
    .name = "copy",
    .help = "no FLOPs; bytes source + destination",
    .operators = operators,
    .category = OperatorCategory::copy,
    .work = work,
};

}  // namespace stepscope
