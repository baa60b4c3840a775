// The work of the operator calls behind a device's compute kernels: found once, for the sections about rooflines (work.cpp) and utilisation (mfu.cpp).
//
// A kernel counts for the innermost operator around its launch that has a formula (cost/), so that wrappers (linear around addmm, conv2d around
// cudnn_convolution) are not counted twice, and an operator's helpers without a formula (fill_ inside a backward operator) count for it. An operator with
// matrix work does not take kernels once operators with matrix work ran inside it, and one without does not take helpers' kernels once any
// operator with a formula ran inside it: their FLOPs and bytes are counted there.
// A call's work is counted once, when its first kernel starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "cost/operator_cost.h"
#include "cost/roofline.h"

namespace stepscope {

// A distinct (operator, arguments) with its work.
struct KnownWork {
  NameId name{};
  const OperatorCost* cost = nullptr;
  Work work;
};

struct CallWork {
  SliceId operation{};
  std::uint32_t known = 0;      // index into OperatorWork::known
  Nanoseconds first_start = 0;  // of its first kernel in the window
  Nanoseconds device_time = 0;  // of its kernels in the window, summed
  std::uint32_t kernels = 0;
  bool recomputed = false;  // forward work run again inside backward
  bool in_tf32 = false;     // a kernel's name says that fp32 inputs were multiplied as TF32
};

enum class NoWork : std::uint8_t { no_operator, no_formula, no_arguments };

// Compute time that no formula covers.
struct Uncovered {
  NameId name{};  // innermost operator; NameId{0} = none
  NoWork reason = NoWork::no_operator;
  Nanoseconds device_time = 0;
  std::uint32_t kernels = 0;
};

// One compute kernel, for sums over parts of the window.
struct KernelWork {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  bool covered = false;
};

struct OperatorWork {
  std::vector<KnownWork> known;
  std::vector<CallWork> calls;       // by first_start
  std::vector<Uncovered> uncovered;  // by device_time, longest first
  std::vector<KernelWork> kernels;   // by start
  Nanoseconds compute_time = 0;      // of all compute kernels in the window, summed
  Nanoseconds covered_time = 0;      // of those with a formula
  bool shapes_recorded = false;      // whether any operator's arguments were
};

// Of the scene's device. Linear in its kernels; each distinct (operator, arguments) is parsed once.
OperatorWork find_operator_work(const Scene& scene);

// The type whose rate a call is held against: TF32 where its kernels ran in it.
DataType rate_type(const KnownWork& known, const CallWork& call);

// The section about model and hardware FLOP utilisation (mfu.cpp).
Section utilisation_section(const Scene& scene, const OperatorWork& work);

}  // namespace stepscope
