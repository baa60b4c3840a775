// Reductions of n elements to fewer, and running sums.
// FLOPs: n for sums, products, maxima and their places; n plus one division per result for means; 2·n for norms; 4·n for variances (mean, difference, square,
// sum); n for a running sum. Bytes: input + results (values, and places as int64 where the operator returns them), each once. Source: native_functions.yaml.
// Limits: needs the concrete dimension list where there is one; norms of a list of dimensions only by the dimensions.

#include <array>

#include "cost/arguments.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

enum class Result : std::uint8_t { values, places, both };  // places: indices, int64

struct Rule {
  std::string_view name;
  double flops_per_element, flops_per_result;
  Result result;
  std::size_t dimensions, type;  // index of the dimension(s) and of the result type; none = reduces everything, keeps the type
  bool integers_become_int64;    // sum and prod of integers and booleans
};
using enum Result;
constexpr Rule rules[] = {
    // name                    element result what  dims type
    {"aten::sum", 1, 0, values, 1, 3, true},
    {"aten::nansum", 1, 0, values, 1, 3, true},
    {"prims::sum", 1, 0, values, 1, none, true},
    {"aten::mean", 1, 1, values, 1, 3, false},
    {"aten::prod", 1, 0, values, 1, 3, true},
    {"aten::max", 1, 0, both, 1, none, false},
    {"aten::min", 1, 0, both, 1, none, false},
    {"aten::amax", 1, 0, values, 1, none, false},
    {"aten::amin", 1, 0, values, 1, none, false},
    {"aten::argmax", 1, 0, places, 1, none, false},
    {"aten::argmin", 1, 0, places, 1, none, false},
    {"aten::all", 1, 0, values, 1, none, false},
    {"aten::any", 1, 0, values, 1, none, false},
    {"aten::logsumexp", 4, 2, values, 1, none, false},
    {"aten::var", 4, 1, values, 1, none, false},
    {"aten::std", 4, 2, values, 1, none, false},
    {"aten::linalg_vector_norm", 2, 1, values, 2, 4, false},
    {"aten::norm", 2, 1, values, 2, 4, false},
};
constexpr std::string_view running[] = {"aten::cumsum"};

constexpr auto names = [] {
  std::array<std::string_view, std::size(rules) + std::size(running)> result;
  for (std::size_t i = 0; i < std::size(rules); ++i) result[i] = rules[i].name;
  for (std::size_t i = 0; i < std::size(running); ++i) result[std::size(rules) + i] = running[i];
  return result;
}();

// Into how many results the input falls; absent where the dimensions are not recorded. An argument that is absent or given as None reduces everything.
std::optional<double> result_count(const OperatorCall& call, const Rule& rule, const Shape& shape) {
  if (rule.dimensions >= call.arguments.size()) return 1;
  const Argument& argument = call.arguments[rule.dimensions];
  std::vector<std::int64_t> dimensions;
  if (const auto one = integer_argument(call, rule.dimensions))
    dimensions = {*one};
  else if (const auto list = integers_argument(call, rule.dimensions))
    dimensions = *list;
  else if (!argument.concrete.empty() || argument.type_name == "ScalarList" || (argument.type_name == "Scalar" && argument.concrete.empty()))
    return std::nullopt;  // there, but not recorded or not understood
  if (dimensions.empty()) return 1;
  Shape kept = shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  for (const std::int64_t dimension : dimensions) {
    const std::int64_t place = dimension < 0 ? dimension + rank : dimension;
    if (rank == 0 && (dimension == 0 || dimension == -1)) continue;
    if (place < 0 || place >= rank) return std::nullopt;
    kept[static_cast<std::size_t>(place)] = 1;
  }
  return sizes_product(kept);
}

std::optional<Work> describe(Work work, const ByteSum& bytes, const Argument& input) {
  if (!bytes.total()) return std::nullopt;
  work.bytes = *bytes.total();
  work.type = input.type;
  work.description = tensor_text(input.shape, input.type);
  return work;
}

std::optional<Work> work(const OperatorCall& call) {
  const Argument* input = tensor_argument(call, 0);
  if (input == nullptr) return std::nullopt;
  const std::optional<double> n = value_count(*input);
  if (!n) return std::nullopt;
  const bool whole = !is_floating(input->type);
  Work work;
  if (call.name == "aten::cumsum") {  // (self, dim, type)
    const DataType given = type_argument(call, 2);
    work.flops = *n;
    return describe(work, ByteSum().add(input).add(*n, given != DataType::unknown ? given : whole ? DataType::int64 : input->type), *input);
  }
  const Rule* rule = nullptr;
  for (const Rule& row : rules)
    if (row.name == call.name) rule = &row;
  if (rule == nullptr) return std::nullopt;
  // max(a, b) of two tensors is elementwise, and sum(input, type) reduces everything.
  if (tensor_argument(call, 1) != nullptr) return std::nullopt;
  const std::optional<double> results = result_count(call, *rule, input->shape);
  if (!results) return std::nullopt;
  const DataType given = rule->type == none ? DataType::unknown : type_argument(call, rule->type);
  DataType output = given != DataType::unknown ? given : whole && rule->integers_become_int64 ? DataType::int64 : input->type;
  if (call.name == "aten::all" || call.name == "aten::any") output = DataType::boolean;
  const bool has_dimension = rule->dimensions < call.arguments.size() && !call.arguments[rule->dimensions].concrete.empty();
  ByteSum bytes;
  bytes.add(input);
  if (rule->result != places) bytes.add(*results, output);
  if (rule->result == places || (rule->result == both && has_dimension)) bytes.add(*results, DataType::int64);
  work.flops = rule->flops_per_element * *n + rule->flops_per_result * *results;
  return describe(work, bytes, *input);
}

}  // namespace

extern const OperatorCost reduction_cost{
    .name = "reduction",
    .help = "1 to 4 FLOPs per input element, by operator; bytes input + results",
    .operators = names,
    .category = OperatorCategory::reduction,
    .work = work,
};

}  // namespace stepscope
