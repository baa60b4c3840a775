// The seam of cost/: one file per operator family, each defining `extern const OperatorCost NAME_cost`. CMake collects them into all_operator_costs().
// A cost says what a call computes (FLOPs) and must move (bytes: each distinct input read once, each output written once), from shapes and types alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace stepscope {

// One argument of a call as the profiler recorded it.
struct Argument {
  Shape shape;    // empty = scalar or not a tensor
  Shape strides;  // empty = not recorded
  DataType type = DataType::unknown;
  std::string type_name;       // as recorded: "Scalar", "ScalarList", "TensorList", "", "c10::BFloat16"
  std::string concrete;        // concrete value as text: "[1, 1]", "True", "0.125"; "" = a tensor or not recorded
  std::vector<Argument> list;  // elements of a TensorList
  bool is_tensor = false;
};

struct OperatorCall {
  std::string_view name;  // "aten::addmm"
  std::vector<Argument> arguments;
};

enum class OperatorCategory : std::uint8_t {
  gemm,
  attention,
  convolution,
  normalisation,
  elementwise,
  reduction,
  embedding,
  optimizer,
  loss,
  copy,
  communication,
  memory,
  other
};
inline constexpr std::size_t operator_category_count = 13;
std::string_view operator_category_name(OperatorCategory category);
// Of any operator, also those without a formula: by the table of names in cost/category.cpp.
OperatorCategory operator_category(std::string_view operator_name);

struct Work {
  double flops = 0;           // as the operator computes them
  double repeated_flops = 0;  // part of flops that repeats forward work inside a backward operator (flash attention's scores): hardware but not model FLOPs
  double bytes = 0;
  DataType type = DataType::unknown;  // of the inputs that decide the rate
  bool matrix_units = false;          // whether the rate is that of the matrix units
  std::string description;            // for people: "m=141 n=512 k=512 bf16, bias"
};

struct OperatorCost {
  std::string_view name;                        // "gemm"
  std::string_view help;                        // formula in one line
  std::span<const std::string_view> operators;  // exact operator names it answers for
  OperatorCategory category;
  bool backward = false;
  // nullopt: the recorded arguments do not tell (no shapes, an unknown overload). Never a guess.
  std::optional<Work> (*work)(const OperatorCall& call);
};

std::span<const OperatorCost* const> all_operator_costs();               // generated; in order of name
const OperatorCost* find_operator_cost(std::string_view operator_name);  // null = no formula
// Parses a slice's detail text (`"Input Dims": …, "Input type": …`) into arguments; nullopt where no shapes were recorded or the text is malformed.
std::optional<OperatorCall> parse_operator_call(std::string_view name, std::string_view detail);

}  // namespace stepscope
