// Fused and multi-tensor optimizer steps over n parameters in all.
// FLOPs per parameter: Adam 11 (first moment 3: difference, product, sum; second moment 4; two bias corrections folded to scalars; root, sum, division, step
// 4), AMSGrad one more; weight decay 2 (AdamW and Adam where it is not 0). SGD 2 (product, sum), momentum 2 more, weight decay 2 more. _foreach_ arithmetic 1
// (add with alpha: 2; addcmul, addcdiv: 3). Bytes: parameters and moments read and written, gradients read, each once at their own type; step counters are left
// out (one number per tensor). Sources: Kingma & Ba, Adam (2015), algorithm 1; native_functions.yaml for the arguments. Limits: lists of tensors need their
// elements' types in the record; where it lacks them, as it usually does, there is no formula.

#include <array>

#include "cost/arguments.h"

namespace stepscope {

namespace {

constexpr std::size_t none = 99;

struct Rule {
  std::string_view name;
  double flops;                             // per parameter
  std::array<std::size_t, 4> updated;       // indices of lists that are read and written; the first are the parameters
  std::array<std::size_t, 3> read;          // indices of lists that are only read
  std::size_t weight_decay, optional_list;  // a list that costs one FLOP per parameter more where it is there (AMSGrad's maxima, momentum)
  double optional_flops;
};
constexpr Rule rules[] = {
    // name                        flops updated              read               decay optional
    {"aten::_fused_adam_", 11, {0, 2, 3, none}, {1, none, none}, 9, 4, 1},
    {"aten::_fused_adamw_", 11, {0, 2, 3, none}, {1, none, none}, 9, 4, 1},
    {"aten::_fused_sgd_", 2, {0, none, none, none}, {1, none, none}, 3, 2, 2},
    {"aten::_foreach_add_", 2, {0, none, none, none}, {1, none, none}, none, none, 0},
    {"aten::_foreach_sub_", 2, {0, none, none, none}, {1, none, none}, none, none, 0},
    {"aten::_foreach_mul_", 1, {0, none, none, none}, {1, none, none}, none, none, 0},
    {"aten::_foreach_div_", 1, {0, none, none, none}, {1, none, none}, none, none, 0},
    {"aten::_foreach_lerp_", 3, {0, none, none, none}, {1, none, none}, none, none, 0},
    {"aten::_foreach_addcmul_", 3, {0, none, none, none}, {1, 2, none}, none, none, 0},
    {"aten::_foreach_addcdiv_", 3, {0, none, none, none}, {1, 2, none}, none, none, 0},
    {"aten::_foreach_sqrt_", 1, {0, none, none, none}, {none, none, none}, none, none, 0},
    {"aten::_foreach_neg_", 1, {0, none, none, none}, {none, none, none}, none, none, 0},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(rules)> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = rules[i].name;
  return result;
}();

// The list's bytes are added times factor; an argument that is no list (a number) adds nothing. False where they are unknown.
bool add_list(const OperatorCall& call, std::size_t index, double factor, double& bytes) {
  if (index >= call.arguments.size()) return true;
  const Argument& argument = call.arguments[index];
  if (argument.list.empty()) return argument.type_name != "TensorList" || !argument.shape.empty();
  for (const Argument& element : argument.list) {
    const std::optional<double> one = tensor_bytes(element);
    if (!one) return false;
    bytes += factor * *one;
  }
  return true;
}

std::optional<Work> work(const OperatorCall& call) {
  const Rule* rule = nullptr;
  for (const Rule& row : rules)
    if (row.name == call.name) rule = &row;
  if (rule == nullptr || call.arguments.empty() || call.arguments[0].list.empty()) return std::nullopt;
  double parameters = 0, bytes = 0;
  for (const Argument& element : call.arguments[0].list) {
    const std::optional<double> values = value_count(element);
    if (!values) return std::nullopt;
    parameters += *values;
  }
  for (const std::size_t index : rule->updated)
    if (index != none && !add_list(call, index, 2, bytes)) return std::nullopt;
  for (const std::size_t index : rule->read)
    if (index != none && !add_list(call, index, 1, bytes)) return std::nullopt;
  double flops = rule->flops;
  if (rule->optional_list != none && rule->optional_list < call.arguments.size() && !call.arguments[rule->optional_list].list.empty()) {
    if (!add_list(call, rule->optional_list, 2, bytes)) return std::nullopt;
    flops += rule->optional_flops;
  }
  if (rule->weight_decay != none && rule->weight_decay < call.arguments.size()) {
    const std::string& decay = call.arguments[rule->weight_decay].concrete;
    if (!decay.empty() && decay.find_first_of("123456789") != std::string::npos) flops += 2;
  }
  Work work;
  work.flops = flops * parameters;
  work.bytes = bytes;
  work.type = call.arguments[0].list[0].type;
  work.description = std::to_string(call.arguments[0].list.size()) + " tensors " + std::string(data_type_name(work.type));
  return work;
}

}  // namespace

extern const OperatorCost optimizer_cost{
    .name = "optimizer",
    .help = "Adam 11 to 14, SGD 2 to 6 FLOPs per parameter; bytes parameters and moments twice, gradients once",
    .operators = names,
    .category = OperatorCategory::optimizer,
    .work = work,
};

}  // namespace stepscope
