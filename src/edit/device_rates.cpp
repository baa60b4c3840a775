#include "edit/device_rates.h"

#include "edit/selector.h"

namespace stepscope {

Limit limit_of(const EditScene& scene, const Graph& graph, OpId op) {
  const auto has = [name = graph.name_of(op)](std::string_view part) { return name.find(part) != std::string_view::npos; };
  switch (graph.operations.operation_class[op]) {
    case OperationClass::copy:
      return has("HtoD") || has("DtoH") || has("HostToDevice") || has("DeviceToHost") ? Limit::host_link
             : has("PtoP") || has("PeerToPeer")                                       ? Limit::link
                                                                                      : Limit::memory;
    case OperationClass::fill:
      return Limit::memory;
    case OperationClass::communication:
    case OperationClass::transfer:
      return Limit::link;
    case OperationClass::compute:
      break;
    default:
      return Limit::unknown;
  }
  switch (operation_category(scene, graph, op)) {
    case OperatorCategory::gemm:
    case OperatorCategory::attention:
    case OperatorCategory::convolution:
      return Limit::matrix_units;
    case OperatorCategory::other:
      return Limit::unknown;
    default:
      return Limit::memory;
  }
}

}  // namespace stepscope
