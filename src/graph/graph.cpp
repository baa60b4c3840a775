#include "graph/graph.h"

namespace stepscope {

std::string_view operation_class_name(OperationClass c) {
  static constexpr std::string_view names[operation_class_count] = {"compute",         "communication", "copy",      "fill",         "transfer", "launch",
                                                                    "synchronisation", "api",           "framework", "data_loading", "python",   "origin"};
  return names[static_cast<std::size_t>(c)];
}

std::string_view dependency_kind_name(DependencyKind kind) {
  static constexpr std::string_view names[dependency_kind_count] = {"origin",      "program_order", "launch", "stream_order", "graph_order", "event",
                                                                    "synchronise", "hand_over",     "flow",   "collective",   "device"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view lag_kind_name(LagKind kind) {
  static constexpr std::string_view names[lag_kind_count] = {"none", "launch", "scheduling", "hand_over", "graph", "root", "unexplained"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

template <class T>
void copy_column(const Column<T>& from, Column<T>& to) {
  to.clear();
  to.append(from.span());
}

}  // namespace

Graph Graph::copy() const {
  Graph to;
  copy_to(to);
  return to;
}

void Graph::copy_to(Graph& to) const {
  for (auto i = static_cast<std::uint32_t>(to.names.size()); i < names.size(); ++i) to.names.intern(names[NameId{i}]);
  to.places = places;
  const OperationColumns& o = operations;
  copy_column(o.duration, to.operations.duration);
  copy_column(o.place, to.operations.place);
  copy_column(o.operation_class, to.operations.operation_class);
  copy_column(o.name, to.operations.name);
  copy_column(o.origin, to.operations.origin);
  copy_column(o.bytes, to.operations.bytes);
  copy_column(o.flops, to.operations.flops);
  copy_column(dependencies.moment, to.dependencies.moment);
  copy_column(dependencies.lag, to.dependencies.lag);
  copy_column(dependencies.kind, to.dependencies.kind);
  copy_column(dependencies.lag_kind, to.dependencies.lag_kind);
  copy_column(first, to.first);
}

}  // namespace stepscope
