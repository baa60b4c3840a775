// Edits that an engine's author can make on the program itself, each beside the same edit on the graph that was lifted from the program's trace.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/rewire.h"
#include "lift/lift.h"
#include "program.h"

namespace stepscope {

struct PairedEdit {
  std::string_view name;
  void (*on_program)(Program& program, std::uint64_t seed);
  void (*on_graph)(Graph& graph, std::uint64_t seed);
};

namespace paired {

inline Nanoseconds scaled(Nanoseconds duration, double by) {
  return static_cast<Nanoseconds>(std::llround(static_cast<double>(duration) * by));
}

inline void for_works(Program& program, const std::function<void(DeviceWork&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (DeviceWork& work : rank.works) change(work);
}
inline void for_actions(Program& program, const std::function<void(Action&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (auto& thread : rank.threads)
      for (Action& action : thread) change(action);
}
// Work of a thread with the operator that it belongs to ("" = Python).
inline void for_busy(Program& program, const std::function<void(std::string_view, Action&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (auto& thread : rank.threads) {
      std::vector<std::string_view> open;
      for (Action& action : thread) {
        if (action.what == Do::enter) open.push_back(action.name);
        if (action.what == Do::leave) open.pop_back();
        if (action.what == Do::work) change(open.empty() ? "" : open.back(), action);
      }
    }
}
inline void for_operations(Graph& graph, const std::function<bool(OpId)>& which, double by) {
  for (std::uint32_t op = 1; op < graph.size(); ++op)
    if (which(OpId{op})) graph.operations.duration[op] = scaled(graph.operations.duration[op], by);
}
inline bool is_communication(std::string_view name) {
  return name.starts_with("nccl");
}
inline bool is_of(const Graph& graph, OpId op, OperationClass c) {
  return graph.operations.operation_class[op] == c;
}

template <int percent>
void scale_kernels(Program& program, std::uint64_t) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::kernel && !is_communication(work.name)) work.duration = scaled(work.duration, percent / 100.0);
  });
}
template <int percent>
void scale_kernel_operations(Graph& graph, std::uint64_t) {
  for_operations(graph, [&](OpId op) { return is_of(graph, op, OperationClass::compute); }, percent / 100.0);
}

inline constexpr std::string_view kernel_names[] = {"ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f16f16", "vectorized_elementwise_kernel",
                                                    "layer_norm_kernel",      "softmax_warp_forward",  "graph_gemm_kernel"};
inline std::string_view kernel_of(std::uint64_t seed) {
  return kernel_names[seed % 6];
}
template <int percent>
void scale_named(Program& program, std::uint64_t seed) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == kernel_of(seed)) work.duration = scaled(work.duration, percent / 100.0);
  });
}
template <int percent>
void scale_named_operations(Graph& graph, std::uint64_t seed) {
  for_operations(graph, [&](OpId op) { return graph.name_of(op) == kernel_of(seed); }, percent / 100.0);
}
inline void set_named(Program& program, std::uint64_t seed) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == kernel_of(seed)) work.duration = 12'000;
  });
}
inline void set_named_operations(Graph& graph, std::uint64_t seed) {
  for (std::uint32_t op = 1; op < graph.size(); ++op)
    if (graph.name_of(OpId{op}) == kernel_of(seed)) graph.operations.duration[op] = 12'000;
}

template <int percent>
void scale_communication(Program& program, std::uint64_t) {
  for_works(program, [](DeviceWork& work) {
    if (is_communication(work.name)) work.duration = scaled(work.duration, percent / 100.0);
  });
}
// Of several ranks, the members of a collective last as long as they wait: only the transfer is scaled.
template <int percent>
void scale_communication_operations(Graph& graph, std::uint64_t) {
  bool transfers = false;
  for (std::uint32_t op = 1; op < graph.size(); ++op) transfers = transfers || is_of(graph, OpId{op}, OperationClass::transfer);
  for_operations(graph, [&](OpId op) { return is_of(graph, op, transfers ? OperationClass::transfer : OperationClass::communication); }, percent / 100.0);
}

inline void free_copies(Program& program, std::uint64_t) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::copy) work.duration = 0;
  });
}
inline void free_copy_operations(Graph& graph, std::uint64_t) {
  for_operations(graph, [&](OpId op) { return is_of(graph, op, OperationClass::copy); }, 0);
}

template <int percent>
void scale_operators(Program& program, std::uint64_t) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (!name.empty()) action.duration = scaled(action.duration, percent / 100.0);
  });
}
template <int percent>
void scale_operator_operations(Graph& graph, std::uint64_t) {
  for_operations(graph, [&](OpId op) { return is_of(graph, op, OperationClass::framework); }, percent / 100.0);
}
inline void halve_one_operator(Program& program, std::uint64_t) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name == "aten::linear") action.duration = scaled(action.duration, 0.5);
  });
}
inline void halve_one_operator_operations(Graph& graph, std::uint64_t) {
  for_operations(graph, [&](OpId op) { return is_of(graph, op, OperationClass::framework) && graph.name_of(op) == "aten::linear"; }, 0.5);
}

inline void free_python(Program& program, std::uint64_t) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name.empty()) action.duration = 0;
  });
}
// What is left of the time in which a thread waited for another one is no Python.
inline void free_python_operations(Graph& graph, std::uint64_t) {
  for_operations(
      graph,
      [&](OpId op) {
        if (!is_of(graph, op, OperationClass::python)) return false;
        for (std::uint32_t row = graph.first_dependency(op); row < graph.end_dependency(op); ++row)
          if (graph.dependencies.kind[row] == DependencyKind::hand_over) return false;
        return true;
      },
      0);
}

inline void free_launch_calls(Program& program, std::uint64_t) {
  for_actions(program, [](Action& action) {
    if (action.what == Do::launch) action.duration = 0;
  });
}
inline void free_launch_call_operations(Graph& graph, std::uint64_t) {
  for_operations(graph, [&](OpId op) { return is_of(graph, op, OperationClass::launch) && graph.name_of(op) != "cudaMemcpy"; }, 0);
}

inline void free_launch_latency(Program& program, std::uint64_t) {
  for_actions(program, [](Action& action) {
    if (action.what == Do::launch || action.what == Do::blocking_copy) action.latency = 0;
  });
}
inline void free_launch_lags(Graph& graph, std::uint64_t) {
  for (std::uint32_t row = 0; row < graph.dependencies.size(); ++row)
    if (graph.dependencies.lag_kind[row] == LagKind::launch) graph.dependencies.lag[row] = 0;
}

inline bool is_synchronisation(Do what) {
  return what == Do::sync_stream || what == Do::sync_event || what == Do::sync_device;
}
inline void remove_synchronisation(Program& program, std::uint64_t) {
  for_actions(program, [](Action& action) {
    if (is_synchronisation(action.what)) action.waits = false, action.duration = 0;
  });
}
inline void remove_synchronisation_operations(Graph& graph, std::uint64_t) {
  const auto removed = [&](OpId op) { return is_of(graph, op, OperationClass::synchronisation) && graph.name_of(op).ends_with("Synchronize"); };
  for_operations(graph, removed, 0);
  rewire(graph, [&](OpId op, std::uint32_t row) { return graph.dependencies.kind[row] == DependencyKind::synchronise && removed(op); }, {});
}

inline void faster_everywhere(Program& program, std::uint64_t seed) {
  scale_kernels<50>(program, seed), scale_operators<50>(program, seed), scale_communication<50>(program, seed);
}
inline void faster_everywhere_operations(Graph& graph, std::uint64_t seed) {
  scale_kernel_operations<50>(graph, seed), scale_operator_operations<50>(graph, seed), scale_communication_operations<50>(graph, seed);
}
inline void nothing(Program&, std::uint64_t) {}
inline void nothing_operations(Graph&, std::uint64_t) {}

}  // namespace paired

inline constexpr PairedEdit paired_edits[] = {
    {"none", paired::nothing, paired::nothing_operations},
    {"one kernel by 0.5", paired::scale_named<50>, paired::scale_named_operations<50>},
    {"one kernel by 2", paired::scale_named<200>, paired::scale_named_operations<200>},
    {"one kernel free", paired::scale_named<0>, paired::scale_named_operations<0>},
    {"one kernel set to 12 us", paired::set_named, paired::set_named_operations},
    {"all kernels by 0.5", paired::scale_kernels<50>, paired::scale_kernel_operations<50>},
    {"all kernels by 0.1", paired::scale_kernels<10>, paired::scale_kernel_operations<10>},
    {"all kernels by 2", paired::scale_kernels<200>, paired::scale_kernel_operations<200>},
    {"communication by 0.25", paired::scale_communication<25>, paired::scale_communication_operations<25>},
    {"communication by 3", paired::scale_communication<300>, paired::scale_communication_operations<300>},
    {"copies free", paired::free_copies, paired::free_copy_operations},
    {"all operators by 0.5", paired::scale_operators<50>, paired::scale_operator_operations<50>},
    {"all operators by 3", paired::scale_operators<300>, paired::scale_operator_operations<300>},
    {"one operator by 0.5", paired::halve_one_operator, paired::halve_one_operator_operations},
    {"Python free", paired::free_python, paired::free_python_operations},
    {"launch calls free", paired::free_launch_calls, paired::free_launch_call_operations},
    {"launch latency zero", paired::free_launch_latency, paired::free_launch_lags},
    {"synchronisations removed", paired::remove_synchronisation, paired::remove_synchronisation_operations},
    {"kernels, operators, communication by 0.5", paired::faster_everywhere, paired::faster_everywhere_operations},
};

}  // namespace stepscope
