// A capture in which the device waits for the host, times in ns:
//   gemm 100-400; aten::softmax 1000-1100 launches softmax at 1050 (a call of 20); softmax runs 1150-1250.
#pragma once

#include "facts/small_timeline.h"

namespace stepscope {

inline void host_bound_capture(SmallTimeline& t) {
  const TrackId thread = t.thread("1"), stream = t.stream(7);
  t.operation(thread, "aten::mm", 0, 100);
  t.call(thread, "cudaLaunchKernel", 50, 20, 1);
  t.kernel(stream, "gemm", 100, 300, 1);
  t.operation(thread, "aten::softmax", 1000, 100);
  t.call(thread, "cudaLaunchKernel", 1050, 20, 2);
  t.kernel(stream, "softmax", 1150, 100, 2);
  t.finish();
}

}  // namespace stepscope
