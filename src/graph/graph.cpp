#include "graph/graph.h"

namespace stepscope {

std::string_view operation_class_name(OperationClass c) {
  static constexpr std::string_view names[operation_class_count] = {"compute",         "communication", "copy",      "fill",         "transfer", "launch",
                                                                    "synchronisation", "api",           "framework", "data_loading", "python",   "origin"};
  return names[static_cast<std::size_t>(c)];
}

std::string_view dependency_kind_name(DependencyKind kind) {
  static constexpr std::string_view names[dependency_kind_count] = {"origin",      "program_order", "launch", "stream_order", "graph_order", "event",
                                                                    "synchronise", "hand_over",     "flow",   "collective",   "queue",       "device"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view lag_kind_name(LagKind kind) {
  static constexpr std::string_view names[lag_kind_count] = {"none", "launch", "scheduling", "hand_over", "graph", "root", "unexplained"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

template <class T>
Column<T> copied(const Column<T>& column) {
  Column<T> copy;
  copy.append(column.span());
  return copy;
}

}  // namespace

Graph Graph::copy() const {
  Graph to;
  for (std::uint32_t i = 0; i < names.size(); ++i) to.names.intern(names[NameId{i}]);
  to.places = places;
  to.operations = {copied(operations.duration), copied(operations.place),  copied(operations.operation_class),
                   copied(operations.name),     copied(operations.origin), copied(operations.bytes),
                   copied(operations.flops)};
  to.dependencies = {copied(dependencies.moment), copied(dependencies.lag), copied(dependencies.kind), copied(dependencies.lag_kind)};
  to.first = copied(first);
  return to;
}

}  // namespace stepscope
