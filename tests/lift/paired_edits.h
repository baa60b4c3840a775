// Edits that an engine's author can make on the program itself, each beside the edit of edit/ that means the same, made on the graph that was lifted from the
// program's trace.
#pragma once

#include "paired.h"
#include "paired_structure.h"
#include "paired_work.h"

namespace stepscope {

struct PairedEdit {
  std::string_view edits;  // of the graph, one after the other, separated by ";"; KERNEL stands for one of the program's kernel names, chosen by its seed
  void (*on_program)(Program& program, const Drawn& drawn);
  std::uint32_t least_ranks = 1;  // of programs that it can change
};

// In graphs of kernels a removed one leaves a different graph: those have no launch of their own.
inline std::string_view kernel_of(std::uint64_t seed, bool in_graphs) {
  static constexpr std::string_view names[] = {"ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f16f16", "vectorized_elementwise_kernel",
                                               "layer_norm_kernel",      "softmax_warp_forward",  "graph_gemm_kernel"};
  return names[seed % (in_graphs ? 6 : 5)];
}

namespace paired {
template <int percent>
void scale_kernels(Program& program, const Drawn&) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::kernel && !is_communication(work)) scale(work.duration, percent);
  });
}
template <int percent>
void scale_named(Program& program, const Drawn& drawn) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == drawn.kernel) scale(work.duration, percent);
  });
}
inline void set_named(Program& program, const Drawn& drawn) {
  for_works(program, [&](DeviceWork& work) {
    if (work.name == drawn.kernel) work.duration = 12'000;
  });
}
template <int percent>
void scale_communication(Program& program, const Drawn&) {
  for_works(program, [](DeviceWork& work) {
    if (is_communication(work)) scale(work.duration, percent);
  });
}
inline void free_copies(Program& program, const Drawn&) {
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::copy) work.duration = 0;
  });
}
template <int percent>
void scale_operators(Program& program, const Drawn&) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (!name.empty()) scale(action.duration, percent);
  });
}
inline void halve_one_operator(Program& program, const Drawn&) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name == "aten::linear") scale(action.duration, 50);
  });
}
inline void free_python(Program& program, const Drawn&) {
  for_busy(program, [](std::string_view name, Action& action) {
    if (name.empty()) action.duration = 0;
  });
}
inline void free_launches(Program& program, const Drawn&) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::launch) action.duration = 0;
    if (action.what == Do::launch || action.what == Do::blocking_copy) action.latency = 0;
  });
}
inline void no_synchronisation(Program& program, const Drawn&) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::sync_stream || action.what == Do::sync_event || action.what == Do::sync_device) action.waits = false;
  });
}
inline void remove_synchronisation(Program& program, const Drawn&) {
  for_actions(program, [](RankProgram&, Action& action) {
    if (action.what == Do::sync_stream || action.what == Do::sync_event || action.what == Do::sync_device) action.removed = true;
  });
}
inline void remove_named(Program& program, const Drawn& drawn) {
  for_actions(program, [&](RankProgram& rank, Action& action) {
    if (action.what == Do::launch && action.works == 1 && rank.works[action.first_work].name == drawn.kernel) action.removed = true;
  });
}
inline void faster_everywhere(Program& program, const Drawn& drawn) {
  scale_kernels<50>(program, drawn), scale_operators<50>(program, drawn), scale_communication<50>(program, drawn);
}
inline void nothing(Program&, const Drawn&) {}

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
    {"network bandwidth=2", paired::other_network<2, 100>},
    {"network bandwidth=4 latency=0.5", paired::other_network<4, 50>},
    {"message merge=2", paired::merged_messages},
    {"gpu to=GPU_FILE", paired::other_gpu},
    {"dtype to=bf16", paired::half_precision},
    {"fuse", paired::fused_pointwise},
    {"fused_attention", paired::fused_attention},
    {"fused_optimizer", paired::fused_optimizer},
    {"data_loading to=2us", paired::quick_loading},
    {"data_loading workers=1", paired::loading_workers<1>},
    {"data_loading workers=4", paired::loading_workers<4>},
    {"overlap name=KERNEL", paired::overlapped},
    {"balance", paired::balanced, 2},
    {"scale class=compute by=0.5; scale class=framework by=0.5; scale COMMUNICATION by=0.5", paired::faster_everywhere},
};

}  // namespace stepscope
