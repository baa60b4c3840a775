// Edits of work: other GPUs, types and kernels, from the arithmetic that the program's author wrote down.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>

#include "machine/gpu.h"
#include "paired.h"

namespace stepscope::paired {

// Two GPUs that do not exist: operations and bytes per second.
struct Rates {
  double bf16, fp32, memory, host_link, link;
};
inline constexpr Rates here{400e12, 100e12, 2e12, 32e9, 300e9}, there{1000e12, 150e12, 5e12, 64e9, 450e9};

inline Gpu gpu_here() {
  Gpu gpu;
  gpu.name = gpu.title = "here";
  gpu.confidence = "verified";
  gpu.matrix_bf16 = here.bf16;
  gpu.matrix_fp32 = gpu.vector_fp32 = here.fp32;
  gpu.memory_bytes_per_second = here.memory;
  gpu.host_link_bytes_per_second_each_way = here.host_link;
  gpu.link_bytes_per_second_each_way = here.link;
  return gpu;
}
inline constexpr std::string_view gpu_there_yaml = R"(name: there
title: There
vendor: Example
architecture: Example
matrix_bf16_tflops: 1000
matrix_fp32_tflops: 150
vector_fp32_tflops: 150
memory_gb_per_s: 5000
host_link_gb_per_s_each_way: 64
link_gb_per_s_each_way: 450
source: made up
confidence: verified
)";

inline double roofline_s(const Rates& gpu, const Arithmetic& work) {
  const double rate = work.matrix && work.element == 2 ? gpu.bf16 : gpu.fp32;
  return std::max(work.flops / rate, work.bytes() / gpu.memory);
}
inline void times(Nanoseconds& duration, double factor) {
  duration = std::llround(static_cast<double>(duration) * factor);
}

// What the innermost operator around a kernel makes of it.
enum class Kind : std::uint8_t { product, pointwise, memory };
inline Kind kind_of(const Around& around) {
  const Action* innermost = nullptr;
  for (const Action* one : around)
    if (!one->annotation) innermost = one;
  if (innermost == nullptr) throw std::logic_error("a kernel outside of all operators");
  const auto has = [&](std::string_view word) { return innermost->name.find(word) != std::string_view::npos; };
  if (has("linear") || has("conv2d") || has("::mm") || has("::bmm")) return Kind::product;
  return has("::add") || has(": add") || has("::mul") ? Kind::pointwise : Kind::memory;
}

// Every compute kernel with what is around its launch.
inline void for_kernels(Program& program, const std::function<void(const Around&, DeviceWork&)>& change) {
  for (RankProgram& rank : program.ranks)
    for_launches(rank, [&](const Around& around, Action& launch) {
      for (std::uint32_t w = launch.first_work; w < launch.first_work + launch.works; ++w)
        if (rank.works[w].kind == SliceKind::kernel && !is_communication(rank.works[w])) change(around, rank.works[w]);
    });
}

inline void other_gpu(Program& program, const Drawn&) {
  for_kernels(program, [](const Around& around, DeviceWork& work) {
    const double matrix = here.bf16 / there.bf16, memory = here.memory / there.memory;
    if (work.arithmetic.bytes() > 0)
      times(work.duration, roofline_s(there, work.arithmetic) / roofline_s(here, work.arithmetic));
    else
      times(work.duration, kind_of(around) == Kind::product ? matrix : memory);
  });
  for_works(program, [](DeviceWork& work) {
    if (work.kind == SliceKind::copy) times(work.duration, here.host_link / there.host_link);
    if (work.kind == SliceKind::fill) times(work.duration, here.memory / there.memory);
    if (is_communication(work)) times(work.duration, here.link / there.link);
  });
}

inline void half_precision(Program& program, const Drawn&) {
  for_works(program, [](DeviceWork& work) {
    Arithmetic wide = work.arithmetic;
    if (wide.bytes() == 0 || wide.element != 4) return;
    Arithmetic narrow = wide;
    narrow.element = 2, narrow.read /= 2, narrow.written /= 2;
    times(work.duration, wide.matrix ? roofline_s(here, narrow) / roofline_s(here, wide) : 0.5);
  });
}

// The first of the launches keeps one kernel of this duration; the others do not happen.
inline void become_one(RankProgram& rank, const std::vector<Action*>& launches, double duration_ns) {
  rank.works[launches.front()->first_work].duration = std::llround(duration_ns);
  for (std::size_t i = 1; i < launches.size(); ++i) launches[i]->removed = true;
}
inline double duration_of(const RankProgram& rank, const std::vector<Action*>& launches) {
  double sum = 0;
  for (const Action* launch : launches) sum += static_cast<double>(rank.works[launch->first_work].duration);
  return sum;
}

// Launches by the outermost operator or range around them that has this name.
inline std::map<const Action*, std::vector<Action*>> launches_within(RankProgram& rank, std::string_view name) {
  std::map<const Action*, std::vector<Action*>> within;
  for_launches(rank, [&](const Around& around, Action& launch) {
    const auto outer =
        std::ranges::find_if(around, [&](const Action* one) { return one->name == name && (one->annotation || !name.starts_with("Optimizer")); });
    if (outer != around.end()) within[*outer].push_back(&launch);
  });
  return within;
}

inline void fused_attention(Program& program, const Drawn&) {
  for (RankProgram& rank : program.ranks)
    for (const auto& [around, launches] : launches_within(rank, "aten::scaled_dot_product_attention")) {
      double flops = 0, bytes = 0, rate = 0;
      for (const Action* launch : launches) {
        const Arithmetic& work = rank.works[launch->first_work].arithmetic;
        if (!work.matrix) continue;
        // [h, s, 64] · [h, 64, s] writes the scores, [h, s, s] · [h, s, 64] reads them: they are the largest tensor of both.
        const double heads_times_rows = work.flops / 2 / 64;  // h · s · s
        flops += work.flops;
        bytes += work.bytes() - work.element * heads_times_rows;
        rate = work.element == 2 ? here.bf16 : here.fp32;
      }
      const double time_ns = 1e9 * std::max(flops / (0.5 * rate), bytes / here.memory);
      become_one(rank, launches, std::min(time_ns, duration_of(rank, launches)));
    }
}

inline void fused_optimizer(Program& program, const Drawn&) {
  for (RankProgram& rank : program.ranks)
    for (const auto& [around, launches] : launches_within(rank, "Optimizer.step#AdamW.step")) {
      double parameter_bytes = 0;  // each parameter is written once by each of the three operators
      for (const Action* launch : launches) parameter_bytes += rank.works[launch->first_work].arithmetic.written / 3;
      become_one(rank, launches, std::min(1e9 * 7 * parameter_bytes / (0.8 * here.memory), duration_of(rank, launches)));
    }
}

}  // namespace stepscope::paired
