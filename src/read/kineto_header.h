// What a Kineto file says outside its list of events: the job's shape, the devices, what was recorded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/json_text.h"
#include "timeline/builder.h"

namespace stepscope {

struct KinetoHeader {
  std::string schema;  // schemaVersion as written
  struct DeviceProperties {
    std::string label, name;
    std::int64_t memory_bytes = 0;
    std::int32_t multiprocessors = 0, compute_major = 0, compute_minor = 0;
  };
  std::vector<DeviceProperties> devices;
  std::optional<std::int64_t> rank;
  std::int64_t world_size = 0;
  std::string backend;
  std::vector<ProcessGroup> groups;
  Nanoseconds base_time_ns = 0;
  std::optional<bool> records_shapes, records_stacks, records_memory;

  static bool wants(std::string_view key);
  void take(std::string_view key, const JsonValue& value);
  void apply(RankId id, TimelineBuilder& builder) const;
};

}  // namespace stepscope
