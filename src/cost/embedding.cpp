// Lookups of rows and elements, and their gradients. t indices, rows of width d.
// FLOPs: none forward; the gradients add t·d elements (scatter_add and index_add one addition per element too).
// Bytes: indices + the elements picked + the output. Elements picked are counted once per index, but not more than the whole table: which indices repeat
// is data. embedding_dense_backward writes the whole table's gradient.
// Source: native_functions.yaml. Limits: index() and index_put() record no types of their lists of indices: no formula.

#include <algorithm>

#include "cost/arguments.h"

namespace stepscope {

namespace {

std::optional<Work> finish(double flops, const ByteSum& bytes, const Argument& table, const Argument& indices) {
  if (!bytes.total()) return std::nullopt;
  Work work;
  work.flops = flops;
  work.bytes = *bytes.total();
  work.type = table.type;
  work.description = shape_text(indices.shape) + " of " + tensor_text(table.shape, table.type);
  return work;
}

std::optional<Work> work(const OperatorCall& call) {
  if (call.name == "aten::embedding" || call.name == "aten::index_select") {
    // embedding(weight, indices, …); index_select(self, dim, index)
    const bool whole_rows = call.name == "aten::embedding";
    const Argument* table = tensor_argument(call, 0);
    const Argument* indices = tensor_argument(call, whole_rows ? 1 : 2);
    if (table == nullptr || indices == nullptr || table->shape.empty()) return std::nullopt;
    std::size_t dimension = 0;
    if (!whole_rows) {
      const std::optional<std::int64_t> given = integer_argument(call, 1);
      const auto rank = static_cast<std::int64_t>(table->shape.size());
      if (!given || *given < -rank || *given >= rank) return std::nullopt;
      dimension = static_cast<std::size_t>(*given < 0 ? *given + rank : *given);
    }
    const std::optional<double> all = value_count(*table), t = value_count(*indices);
    if (!all || !t || table->shape[dimension] < 1) return std::nullopt;
    const double picked = *t * *all / static_cast<double>(table->shape[dimension]);
    return finish(0, ByteSum().add(indices).add(std::min(picked, *all), table->type).add(picked, table->type), *table, *indices);
  }
  if (call.name == "aten::gather") {  // (self, dim, index, sparse)
    const Argument* table = tensor_argument(call, 0);
    const Argument* indices = tensor_argument(call, 2);
    if (table == nullptr || indices == nullptr) return std::nullopt;
    const std::optional<double> all = value_count(*table), t = value_count(*indices);
    if (!all || !t) return std::nullopt;
    return finish(0, ByteSum().add(indices).add(std::min(*t, *all), table->type).add(*t, table->type), *table, *indices);
  }
  if (call.name == "aten::embedding_dense_backward") {  // (gradient, indices, rows, padding index, scale)
    const Argument* gradient = tensor_argument(call, 0);
    const Argument* indices = tensor_argument(call, 1);
    const std::optional<std::int64_t> rows = integer_argument(call, 2);
    if (gradient == nullptr || indices == nullptr || gradient->shape.empty() || !rows || *rows < 0) return std::nullopt;
    const std::optional<double> count = value_count(*gradient);
    if (!count) return std::nullopt;
    return finish(*count, ByteSum().add(gradient).add(indices).add(static_cast<double>(*rows) * static_cast<double>(gradient->shape.back()), gradient->type),
                  *gradient, *indices);
  }
  // scatter_add_(self, dim, index, source) and index_add_(self, dim, index, source, alpha): what is added to is read and written.
  const Argument* target = tensor_argument(call, 0);
  const Argument* indices = tensor_argument(call, 2);
  const Argument* source = tensor_argument(call, 3);
  if (target == nullptr || indices == nullptr || source == nullptr) return std::nullopt;
  const std::optional<double> all = value_count(*target), count = value_count(*source);
  if (!all || !count) return std::nullopt;
  const double touched = std::min(*all, *count);
  return finish(*count, ByteSum().add(indices).add(source).add(2 * touched, target->type), *target, *indices);
}

constexpr std::string_view operators[] = {"aten::embedding",    "aten::index_select", "aten::gather", "aten::embedding_dense_backward",
                                          "aten::scatter_add_", "aten::index_add_"};

}  // namespace

extern const OperatorCost embedding_cost{
    .name = "embedding",
    .help = "no FLOPs forward, one addition per element of a gradient; bytes indices + picked elements + output",
    .operators = operators,
    .category = OperatorCategory::embedding,
    .work = work,
};

}  // namespace stepscope
