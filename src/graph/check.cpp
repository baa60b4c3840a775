#include "graph/check.h"

#include <fmt/core.h>

namespace stepscope {

namespace {

constexpr std::size_t most_violations = 20;

}  // namespace

std::vector<std::string> check(const Graph& graph) {
  std::vector<std::string> violations;
  const auto violated = [&](std::string what) {
    if (violations.size() < most_violations) violations.push_back(std::move(what));
  };
  const OperationColumns& o = graph.operations;
  const DependencyColumns& d = graph.dependencies;
  const std::size_t n = o.size();
  if (n == 0) return {"there is no origin"};
  if (o.place.size() != n || o.operation_class.size() != n || o.name.size() != n || o.origin.size() != n || o.bytes.size() != n || o.flops.size() != n)
    return {"columns of operations differ in length"};
  if (d.lag.size() != d.size() || d.kind.size() != d.size() || d.lag_kind.size() != d.size()) return {"columns of dependencies differ in length"};
  if (graph.first.size() != n + 1 || graph.first[0] != 0 || graph.first[n] != d.size()) return {"first does not span the dependencies"};
  if (graph.places.empty() || graph.places[0].kind != PlaceKind::nowhere) violated("place 0 is not nowhere");
  if (o.operation_class[0] != OperationClass::origin || o.duration[0] != 0 || graph.first[1] != 0) violated("operation 0 is not the origin");
  for (std::size_t op = 0; op < n; ++op) {
    if (o.duration[op] < 0) violated(fmt::format("operation {} lasts {} ns", op, o.duration[op]));
    if (index(o.place[op]) >= graph.places.size()) violated(fmt::format("operation {} is at place {} of {}", op, index(o.place[op]), graph.places.size()));
    if (index(o.name[op]) >= graph.names.size()) violated(fmt::format("operation {} has name {} of {}", op, index(o.name[op]), graph.names.size()));
    if (op != 0 && o.operation_class[op] == OperationClass::origin) violated(fmt::format("operation {} is a second origin", op));
    if (graph.first[op + 1] < graph.first[op]) return {fmt::format("dependencies of operation {} end before they begin", op)};
    if (op != 0 && graph.first[op + 1] == graph.first[op]) violated(fmt::format("operation {} depends on nothing", op));
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row) {
      if (index(d.moment[row].operation()) >= op)
        violated(fmt::format("operation {} stands before operation {}, on which it depends", op, index(d.moment[row].operation())));
      if (d.lag[row] != 0 && d.lag_kind[row] == LagKind::none) violated(fmt::format("operation {} has a lag of {} ns that is of no kind", op, d.lag[row]));
    }
  }
  return violations;
}

}  // namespace stepscope
