// Edits that an engine's author can make on the program itself, each beside the edit of edit/ that means the same, made on the graph that was lifted from the
// program's trace.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"

namespace stepscope {

struct PairedEdit {
  std::string_view edits;  // of the graph, one after the other, separated by ";"; KERNEL stands for one of the program's kernel names, chosen by its seed
  void (*on_program)(Program& program, std::string_view kernel);
};

// In graphs of kernels a removed one leaves a different graph: those have no launch of their own.
inline std::string_view kernel_of(std::uint64_t seed, bool in_graphs) {
  static constexpr std::string_view names[] = {"ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f16f16", "vectorized_elementwise_kernel",
                                               "layer_norm_kernel",      "softmax_warp_forward",  "graph_gemm_kernel"};
  return names[seed % (in_graphs ? 6 : 5)];
}

namespace paired {

inline void scale(Nanoseconds& duration, int percent) {
  duration = static_cast<Nanoseconds>(std::llround(static_cast<double>(duration) * percent / 100.0));
}

inline void for_works(Program& program, const std::function<void(DeviceWork&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (DeviceWork& work : rank.works) change(work);
}
inline void for_actions(Program& program, const std::function<void(RankProgram&, Action&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (auto& thread : rank.threads)
      for (Action& action : thread) change(rank, action);
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
inline bool is_communication(const DeviceWork& work) {
  return work.name.starts_with("nccl");
}

template <int percent>
void scale_kernels(Program& program, std::string_view) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::kernel && !is_communication(work)) scale(work.duration, percent);
  });
}
template <int percent>
void scale_named(Program& program, std::string_view kernel) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == kernel) scale(work.duration, percent);
  });
}
inline void set_named(Program& program, std::string_view kernel) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == kernel) work.duration = 12'000;
  });
}
template <int percent>
void scale_communication(Program& program, std::string_view) {
  for_works(program, [](DeviceWork& work) {
    if (is_communication(work)) scale(work.duration, percent);
  });
}
inline void free_copies(Program& program, std::string_view) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::copy) work.duration = 0;
  });
}
template <int percent>
void scale_operators(Program& program, std::string_view) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (!name.empty()) scale(action.duration, percent);
  });
}
inline void halve_one_operator(Program& program, std::string_view) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name == "aten::linear") scale(action.duration, 50);
  });
}
inline void free_python(Program& program, std::string_view) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name.empty()) action.duration = 0;
  });
}
inline void free_launches(Program& program, std::string_view) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::launch) action.duration = 0;
    if (action.what == Do::launch || action.what == Do::blocking_copy) action.latency = 0;
  });
}
inline void no_synchronisation(Program& program, std::string_view) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::sync_stream || action.what == Do::sync_event || action.what == Do::sync_device) action.waits = false;
  });
}
inline void remove_synchronisation(Program& program, std::string_view) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::sync_stream || action.what == Do::sync_event || action.what == Do::sync_device) action.removed = true;
  });
}
inline void remove_named(Program& program, std::string_view kernel) {
  for_actions(program, [&](RankProgram& rank, Action& action) {
    if (action.what == Do::launch && action.works == 1 && rank.works[action.first_work].name == kernel) action.removed = true;
  });
}
inline void faster_everywhere(Program& program, std::string_view kernel) {
  scale_kernels<50>(program, kernel), scale_operators<50>(program, kernel), scale_communication<50>(program, kernel);
}
inline void nothing(Program&, std::string_view) {}

}  // namespace paired

inline constexpr PairedEdit paired_edits[] = {
    {"", paired::nothing},
    {"scale name=KERNEL by=0.5", paired::scale_named<50>},
    {"scale name=KERNEL by=2", paired::scale_named<200>},
    {"free name=KERNEL", paired::scale_named<0>},
    {"set name=KERNEL to=12us", paired::set_named},
    {"remove name=KERNEL", paired::remove_named},
    {"scale class=compute by=0.5", paired::scale_kernels<50>},
    {"scale class=compute by=0.1", paired::scale_kernels<10>},
    {"scale class=compute by=2", paired::scale_kernels<200>},
    {"scale COMMUNICATION by=0.25", paired::scale_communication<25>},
    {"scale COMMUNICATION by=3", paired::scale_communication<300>},
    {"free class=copy", paired::free_copies},
    {"scale class=framework by=0.5", paired::scale_operators<50>},
    {"scale class=framework by=3", paired::scale_operators<300>},
    {"scale class=framework name=aten::linear by=0.5", paired::halve_one_operator},
    {"free class=python", paired::free_python},
    {"launch_cost", paired::free_launches},
    {"no_sync name=cuda*Synchronize", paired::no_synchronisation},
    {"remove class=synchronisation name=cuda*Synchronize", paired::remove_synchronisation},
    {"scale class=compute by=0.5; scale class=framework by=0.5; scale COMMUNICATION by=0.5", paired::faster_everywhere},
};

}  // namespace stepscope
