// Matrix products of one input type.
// FLOPs: 2·b·m·n·k, and b·m·n more where a bias or a matrix is added. Bytes: A + B + (bias or C) + output, each once.
// Sources: the operators' definitions (native_functions.yaml); the count is that of every BLAS text. Multiplications by alpha and beta and fused activations
// are not counted. Limits: an output type that the record does not give is taken to be A's type, as PyTorch does (int32 for _int_mm).

#include <fmt/core.h>

#include "cost/arguments.h"

namespace stepscope {

namespace {

struct Product {
  double batch = 1, m = 0, n = 0, k = 0;
};

// What a product costs. added: the tensor that is added to it, or null.
std::optional<Work> product_work(const Product& product, const Argument& a, const Argument& b, const Argument* added, DataType output) {
  const double outputs = product.batch * product.m * product.n;
  const std::optional<double> bytes = ByteSum().add(&a).add(&b).add(added).add(outputs, output).total();
  if (!bytes) return std::nullopt;
  Work work;
  work.flops = 2 * outputs * product.k + (added == nullptr ? 0 : outputs);
  work.bytes = *bytes;
  work.type = a.type;
  work.matrix_units = true;
  work.description = fmt::format("{}m={:.0f} n={:.0f} k={:.0f} {}{}", product.batch == 1 ? "" : fmt::format("b={:.0f} ", product.batch), product.m, product.n,
                                 product.k, data_type_name(a.type), added == nullptr ? "" : ", add");
  return work;
}

// A[…, m, k] · B[…, k, n] as matmul broadcasts them; vectors count as a row on the left and a column on the right.
std::optional<Product> matmul_product(Shape a, Shape b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  if (b[b.size() - 2] != k) return std::nullopt;
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  const std::optional<Shape> batch = broadcast(a, b);
  if (!batch) return std::nullopt;
  const std::optional<double> batches = sizes_product(*batch);
  if (!batches || m < 0 || n < 0 || k < 0) return std::nullopt;
  return Product{*batches, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
}

// Arguments (A, B) at first and first + 1; added is the index of what is added, or npos.
std::optional<Work> matmul_work(const OperatorCall& call, std::size_t first, std::size_t added_index) {
  const Argument* a = tensor_argument(call, first);
  const Argument* b = tensor_argument(call, first + 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::optional<Product> product = matmul_product(a->shape, b->shape);
  if (!product) return std::nullopt;
  const Argument* added = added_index == std::string_view::npos ? nullptr : tensor_argument(call, added_index);
  if (added_index != std::string_view::npos && added == nullptr) return std::nullopt;
  // mm(A, B, out_dtype): the type as a number. mm(A, B, out=) has a tensor there instead.
  DataType output = added_index == std::string_view::npos ? type_argument(call, first + 2) : DataType::unknown;
  if (output == DataType::unknown) output = call.name == "aten::_int_mm" ? DataType::int32 : a->type;
  return product_work(*product, *a, *b, added, output);
}

// linear(X[…, k], W[n, k], bias?)
std::optional<Work> linear_work(const OperatorCall& call) {
  const Argument* x = tensor_argument(call, 0);
  const Argument* w = tensor_argument(call, 1);
  if (x == nullptr || w == nullptr || x->shape.empty() || w->shape.size() != 2 || w->shape[1] != x->shape.back()) return std::nullopt;
  const std::optional<double> rows = sizes_product(Shape(x->shape.begin(), x->shape.end() - 1));
  if (!rows || w->shape[0] < 0 || w->shape[1] < 0) return std::nullopt;
  const Product product{1, *rows, static_cast<double>(w->shape[0]), static_cast<double>(w->shape[1])};
  return product_work(product, *x, *w, tensor_argument(call, 2), x->type);
}

std::optional<Work> work(const OperatorCall& call) {
  constexpr std::size_t nothing_added = std::string_view::npos;
  const std::string_view name = call.name;
  if (name == "aten::linear" || name == "vllm::rocm_unquantized_gemm") return linear_work(call);
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::matmul" || name == "aten::mv" || name == "aten::_int_mm" || name == "aten::dot")
    return matmul_work(call, 0, nothing_added);
  return matmul_work(call, 1, 0);  // addmm and its kin: (C, A, B, beta, alpha)
}

constexpr std::string_view operators[] = {"aten::mm",
                                          "aten::bmm",
                                          "aten::matmul",
                                          "aten::mv",
                                          "aten::dot",
                                          "aten::_int_mm",
                                          "aten::addmm",
                                          "aten::addmm_",
                                          "aten::baddbmm",
                                          "aten::baddbmm_",
                                          "aten::addmv",
                                          "aten::addmv_",
                                          "aten::_addmm_activation",
                                          "aten::linear",
                                          "vllm::rocm_unquantized_gemm"};

}  // namespace

extern const OperatorCost gemm_cost{
    .name = "gemm",
    .help = "2·b·m·n·k (+ b·m·n for what is added); bytes A + B + added + output",
    .operators = operators,
    .category = OperatorCategory::gemm,
    .work = work,
};

}  // namespace stepscope
