// A random small timeline with everything that makes device time awkward: slices of no duration, equal starts, overlap on one stream, slices without launch,
// launches that seem to begin after their slice, graphs, lost records, steps.
#pragma once

#include <rapidcheck.h>

#include <memory>

#include "facts/small_timeline.h"

namespace stepscope {

inline std::unique_ptr<SmallTimeline> random_device() {
  auto made = std::make_unique<SmallTimeline>();
  SmallTimeline& t = *made;
  const TrackId main = t.thread("1"), loader = t.thread("2");
  const std::array streams{t.stream(7), t.stream(8), t.stream(20)};
  t.operation(main, "first", 0, 1);
  const int steps = *rc::gen::inRange(0, 5);
  for (Nanoseconds i = 0; i < steps; ++i) t.annotation(main, "ProfilerStep#" + std::to_string(i), i * 30'000, *rc::gen::inRange<Nanoseconds>(0, 30'000));
  const int host = *rc::gen::inRange(0, 20);
  for (int i = 0; i < host; ++i) {
    const Nanoseconds start = *rc::gen::inRange<Nanoseconds>(0, 120'000), duration = *rc::gen::inRange<Nanoseconds>(0, 20'000);
    const TrackId thread = *rc::gen::element(main, loader);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        t.annotation(thread, "enumerate(DataLoader)#x", start, duration);
        break;
      case 1:
        t.call(thread, "cudaDeviceSynchronize", start, duration);
        break;
      case 2:
        t.call(thread, "cudaStreamWaitEvent", start, duration);
        break;
      default:
        t.operation(thread, "aten::mm", start, duration);
    }
  }
  const int launches = *rc::gen::inRange(1, 25);
  std::uint64_t id = 0;
  for (int i = 0; i < launches; ++i) {
    const Nanoseconds launched = *rc::gen::inRange<Nanoseconds>(0, 100'000);
    const int kind = *rc::gen::inRange(0, 10);
    const bool graph = kind == 0;
    if (kind != 1)
      t.call(*rc::gen::element(main, loader), graph ? "cudaGraphLaunch" : "cudaLaunchKernel", launched, *rc::gen::inRange<Nanoseconds>(0, 2'000), ++id);
    if (kind == 2) continue;  // its record was lost
    const int slices = graph ? *rc::gen::inRange(1, 5) : 1;
    for (int slice = 0; slice < slices; ++slice) {
      const Nanoseconds start = std::max<Nanoseconds>(0, launched + *rc::gen::element<Nanoseconds>(-500, 0, 1'000, 5'000, 40'000) + slice * 3'000);
      const Nanoseconds duration = *rc::gen::element<Nanoseconds>(0, 1, 1'000, 7'000, 60'000);
      static const std::vector<std::pair<SliceKind, const char*>> kinds{{SliceKind::kernel, "gemm"},
                                                                        {SliceKind::kernel, "softmax"},
                                                                        {SliceKind::kernel, "ncclDevKernel_AllReduce"},
                                                                        {SliceKind::copy, "Memcpy HtoD (Pinned -> Device)"},
                                                                        {SliceKind::fill, "Memset (Device)"}};
      const auto [slice_kind, name] = *rc::gen::elementOf(kinds);
      t.slice(slice_kind, *rc::gen::elementOf(streams), name, start, duration, kind == 1 ? no_number : id);
    }
  }
  t.finish();
  return made;
}

}  // namespace stepscope
