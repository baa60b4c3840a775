#include "timeline/timeline.h"

namespace stepscope {

std::string_view slice_kind_name(SliceKind kind) {
  static constexpr std::string_view names[slice_kind_count] = {"kernel",    "copy",         "fill",        "device_sync",     "device_annotation",
                                                               "operation", "runtime_call", "driver_call", "python_function", "annotation",
                                                               "overhead",  "profiler",     "other"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace stepscope
