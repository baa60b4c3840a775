// Operators that compute each output element from the same place of their inputs, with broadcasting.
// FLOPs: a fixed number per output element, by operator: 1 for additions, products, comparisons and single functions (exp, tanh, …: one, whatever they cost
// in instructions), more where a formula has several steps (table below).
// Bytes: each input once (broadcast inputs at their own size) + the output once, at the type that PyTorch's promotion rules give it.
// Source: native_functions.yaml for the arguments; PyTorch's documentation of type promotion.
// Limits: Python numbers next to an integer tensor give fp32 where they are written with a point, as PyTorch's default type is.

#include <array>
#include <map>

#include "cost/arguments.h"

namespace stepscope {

namespace {

enum class Result : std::uint8_t {
  promoted,  // of the inputs
  floating,  // promoted, and integers become fp32 (division, exp, …)
  boolean,   // comparisons
  in_place,  // the first input's own type
};

struct Rule {
  std::string_view name;
  std::size_t inputs;  // leading tensor arguments that are read; tensors after them are outputs
  double flops_per_element;
  Result result;
};
using enum Result;
constexpr Rule rules[] = {
    {"aten::abs", 1, 1, promoted},
    {"aten::neg", 1, 1, promoted},
    {"aten::sgn", 1, 1, promoted},
    {"aten::sign", 1, 1, promoted},
    {"aten::square", 1, 1, promoted},
    {"aten::relu", 1, 1, promoted},
    {"aten::clamp", 3, 2, promoted},
    {"aten::clamp_min", 2, 1, promoted},
    {"aten::clamp_max", 2, 1, promoted},
    {"aten::floor", 1, 1, promoted},
    {"aten::ceil", 1, 1, promoted},
    {"aten::round", 1, 1, promoted},
    {"aten::nan_to_num", 1, 1, promoted},
    {"aten::bitwise_not", 1, 1, promoted},
    {"aten::hardtanh", 1, 2, promoted},
    {"aten::leaky_relu", 1, 2, promoted},
    {"aten::exp", 1, 1, floating},
    {"aten::log", 1, 1, floating},
    {"aten::log2", 1, 1, floating},
    {"aten::log1p", 1, 1, floating},
    {"aten::sqrt", 1, 1, floating},
    {"aten::rsqrt", 1, 1, floating},
    {"aten::reciprocal", 1, 1, floating},
    {"aten::sin", 1, 1, floating},
    {"aten::cos", 1, 1, floating},
    {"aten::tanh", 1, 1, floating},
    {"aten::sigmoid", 1, 1, floating},
    {"aten::erf", 1, 1, floating},
    {"aten::logit", 1, 2, floating},
    {"aten::gelu", 1, 1, floating},
    {"aten::silu", 1, 1, floating},
    {"aten::mish", 1, 1, floating},
    {"aten::elu", 1, 1, floating},
    {"aten::softplus", 1, 1, floating},
    {"aten::hardswish", 1, 1, floating},
    {"aten::hardsigmoid", 1, 1, floating},
    {"aten::isnan", 1, 1, boolean},
    {"aten::isinf", 1, 1, boolean},
    {"aten::isfinite", 1, 1, boolean},
    {"aten::logical_not", 1, 1, boolean},
    {"aten::add", 2, 1, promoted},
    {"aten::sub", 2, 1, promoted},
    {"aten::rsub", 2, 1, promoted},
    {"aten::mul", 2, 1, promoted},
    {"aten::multiply", 2, 1, promoted},
    {"aten::pow", 2, 1, promoted},
    {"aten::remainder", 2, 1, promoted},
    {"aten::fmod", 2, 1, promoted},
    {"aten::maximum", 2, 1, promoted},
    {"aten::minimum", 2, 1, promoted},
    {"aten::bitwise_and", 2, 1, promoted},
    {"aten::bitwise_or", 2, 1, promoted},
    {"aten::bitwise_xor", 2, 1, promoted},
    {"prims::bitwise_or", 2, 1, promoted},
    {"aten::div", 2, 1, floating},
    {"aten::true_divide", 2, 1, floating},
    {"aten::atan2", 2, 1, floating},
    {"aten::eq", 2, 1, boolean},
    {"aten::ne", 2, 1, boolean},
    {"aten::lt", 2, 1, boolean},
    {"aten::le", 2, 1, boolean},
    {"aten::gt", 2, 1, boolean},
    {"aten::ge", 2, 1, boolean},
    {"aten::logical_and", 2, 1, boolean},
    {"aten::logical_or", 2, 1, boolean},
    {"aten::logical_xor", 2, 1, boolean},
    {"prims::ne", 2, 1, boolean},
    {"prims::ge", 2, 1, boolean},
    {"prims::le", 2, 1, boolean},
    {"aten::lerp", 3, 3, promoted},
    {"aten::addcmul", 3, 3, promoted},
    {"aten::addcdiv", 3, 3, promoted},
    {"aten::add_", 2, 1, in_place},
    {"aten::sub_", 2, 1, in_place},
    {"aten::mul_", 2, 1, in_place},
    {"aten::div_", 2, 1, in_place},
    {"aten::divide_", 2, 1, in_place},
    {"aten::pow_", 2, 1, in_place},
    {"aten::relu_", 1, 1, in_place},
    {"aten::neg_", 1, 1, in_place},
    {"aten::exp_", 1, 1, in_place},
    {"aten::log_", 1, 1, in_place},
    {"aten::sqrt_", 1, 1, in_place},
    {"aten::rsqrt_", 1, 1, in_place},
    {"aten::reciprocal_", 1, 1, in_place},
    {"aten::tanh_", 1, 1, in_place},
    {"aten::sigmoid_", 1, 1, in_place},
    {"aten::clamp_", 3, 2, in_place},
    {"aten::clamp_min_", 2, 1, in_place},
    {"aten::clamp_max_", 2, 1, in_place},
    {"aten::silu_", 1, 1, in_place},
    {"aten::gelu_", 1, 1, in_place},
    {"aten::leaky_relu_", 1, 2, in_place},
    {"aten::hardtanh_", 1, 2, in_place},
    {"aten::logical_and_", 2, 1, in_place},
    {"aten::bitwise_or_", 2, 1, in_place},
    {"aten::lerp_", 3, 3, in_place},
    {"aten::addcmul_", 3, 3, in_place},
    {"aten::addcdiv_", 3, 3, in_place},
    {"aten::masked_fill_", 2, 1, in_place},
    {"aten::masked_fill", 2, 1, promoted},
    {"aten::where", 3, 1, promoted},
    {"prims::where", 3, 1, promoted},
    {"aten::tril", 1, 0, promoted},
    {"aten::triu", 1, 0, promoted},
    // Backward: (output gradient, saved tensor, …).
    {"aten::threshold_backward", 2, 1, promoted},
    {"aten::sigmoid_backward", 2, 3, promoted},
    {"aten::tanh_backward", 2, 3, promoted},
    {"aten::gelu_backward", 2, 8, promoted},
    {"aten::silu_backward", 2, 5, promoted},
    {"aten::hardtanh_backward", 2, 2, promoted},
    {"aten::leaky_relu_backward", 2, 2, promoted},
    {"aten::elu_backward", 1, 3, promoted},
    {"aten::hardswish_backward", 2, 3, promoted},
    {"aten::logit_backward", 2, 3, promoted},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(rules)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = rules[i].name;
  return result;
}();

// The type that a Python number has as an operand; unknown where the argument is none. Concrete values are printed with a point or exponent if floating.
DataType number_type(const Argument& argument) {
  if (argument.is_tensor || argument.type_name != "Scalar" || argument.concrete.empty()) return DataType::unknown;
  if (argument.concrete == "True" || argument.concrete == "False") return DataType::boolean;
  return argument.concrete.find_first_of(".eni") == std::string::npos ? DataType::int64 : DataType::fp32;  // "inf" and "nan" too
}

int standing(DataType type) {
  return type == DataType::boolean ? 0 : type >= DataType::complex64 && type <= DataType::complex128 ? 3 : is_floating(type) ? 2 : 1;
}

// PyTorch's promotion: tensors with dimensions decide; tensors without and numbers only where they are of a higher standing (boolean, integer, floating,
// complex).
class Promotion {
 public:
  void add(const Argument& argument) {
    if (argument.is_tensor)
      add(argument.shape.empty() ? without_dimensions_ : with_dimensions_, argument.type);
    else if (const DataType type = number_type(argument); type != DataType::unknown)
      add(numbers_, type);
  }
  DataType result() const {
    DataType type = DataType::unknown;
    for (const std::optional<DataType>& lower : {with_dimensions_, without_dimensions_, numbers_}) {
      if (!lower) continue;
      if (type == DataType::unknown || standing(*lower) > standing(type)) type = *lower;
    }
    return unknown_ ? DataType::unknown : type;
  }

 private:
  void add(std::optional<DataType>& group, DataType type) {
    unknown_ |= type == DataType::unknown;
    group = group ? promoted_type(*group, type) : type;
    unknown_ |= *group == DataType::unknown;
  }
  std::optional<DataType> with_dimensions_, without_dimensions_, numbers_;
  bool unknown_ = false;
};

const Rule* find_rule(std::string_view name) {
  static const auto by_name = [] {
    std::map<std::string_view, const Rule*> map;
    for (const Rule& rule : rules) map.emplace(rule.name, &rule);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::optional<Work> work(const OperatorCall& call) {
  const Rule* rule = find_rule(call.name);
  if (rule == nullptr || call.arguments.empty()) return std::nullopt;
  const bool selects = call.name.ends_with("where") || call.name.find("masked_fill") != std::string_view::npos;
  const std::size_t condition = !selects ? 99 : call.name.ends_with("where") ? 0 : 1;  // decides where, not what: no part in the type
  ByteSum bytes;
  Promotion promotion;
  Shape shape;
  bool any = false;
  for (std::size_t i = 0; i < rule->inputs && i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (i != condition) promotion.add(argument);
    if (!argument.is_tensor) continue;
    any = true;
    bytes.add(&argument);
    const std::optional<Shape> common = broadcast(shape, argument.shape);
    if (!common) return std::nullopt;
    shape = *common;
  }
  if (!any || (rule->inputs == 2 && call.arguments.size() < 2)) return std::nullopt;
  const std::optional<double> n = sizes_product(shape);
  if (!n) return std::nullopt;
  DataType output = rule->result == boolean ? DataType::boolean : rule->result == in_place ? call.arguments[0].type : promotion.result();
  if (rule->result == floating && output != DataType::unknown && standing(output) < 2) output = DataType::fp32;
  bytes.add(*n, output);
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = rule->flops_per_element * *n;
  work.bytes = *bytes.total();
  work.type = output == DataType::boolean ? promotion.result() : output;
  work.description = tensor_text(shape, work.type);
  return work;
}

}  // namespace

extern const OperatorCost elementwise_cost{
    .name = "elementwise",
    .help = "1 FLOP per output element and step of the formula; bytes each input once + output, by the promoted type",
    .operators = names,
    .category = OperatorCategory::elementwise,
    .work = work,
};

}  // namespace stepscope
