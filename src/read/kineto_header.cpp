#include "read/kineto_header.h"

#include <algorithm>
#include <iterator>

#include "read/kineto_number.h"

namespace stepscope {

namespace {

std::string text_of(const JsonValue& value) {
  std::string text;
  if (value.type == JsonValue::Type::string) {
    decode_string(value.inside(), text);
  } else if (!value.is_null()) {
    text = value.text;
  }
  return text;
}

std::optional<std::int64_t> int_of(const JsonValue& value) {
  const auto number = parse_int64(value.type == JsonValue::Type::string ? value.inside() : value.text);
  return number && !number->saturated ? std::optional(number->value) : std::nullopt;
}

std::int32_t int32_of(const JsonValue& value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(int_of(value).value_or(0), 0, INT32_MAX));
}

std::optional<bool> flag_of(const JsonValue& value) {
  if (value.text == "true") return true;
  if (value.text == "false") return false;
  if (const auto number = int_of(value)) return *number != 0;
  return std::nullopt;
}

void each_member(const JsonValue& object, auto use) {
  if (object.type != JsonValue::Type::object) return;
  JsonMembers walk(object.text);
  std::string_view key;
  JsonValue value;
  while (walk.next(key, value)) use(key, value);
}

void each_element(const JsonValue& array, auto use) {
  if (array.type != JsonValue::Type::array) return;
  JsonElements walk(array.text);
  JsonValue value;
  while (walk.next(value)) use(value);
}

KinetoHeader::DeviceProperties device_properties(const JsonValue& object) {
  KinetoHeader::DeviceProperties device;
  each_member(object, [&](std::string_view key, const JsonValue& value) {
    if (key == "id") device.label = text_of(value);
    if (key == "name") device.name = text_of(value);
    if (key == "totalGlobalMem") device.memory_bytes = std::max<std::int64_t>(0, int_of(value).value_or(0));
    if (key == "numSms") device.multiprocessors = int32_of(value);
    if (key == "computeMajor") device.compute_major = int32_of(value);
    if (key == "computeMinor") device.compute_minor = int32_of(value);
  });
  return device;
}

ProcessGroup process_group(const JsonValue& object) {
  ProcessGroup group;
  each_member(object, [&](std::string_view key, const JsonValue& value) {
    if (key == "pg_name") group.name = text_of(value);
    if (key == "pg_desc") group.description = text_of(value);
    if (key == "pg_size") group.size = std::max<std::int64_t>(0, int_of(value).value_or(0));
    if (key == "ranks")
      each_element(value, [&](const JsonValue& rank) {
        if (const auto number = int_of(rank)) group.ranks.push_back(*number);
      });
  });
  if (group.size == 0) group.size = static_cast<std::int64_t>(group.ranks.size());
  return group;
}

}  // namespace

bool KinetoHeader::wants(std::string_view key) {
  constexpr std::string_view keys[] = {"schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
                                       "record_shapes", "with_stack",       "profile_memory"};
  return std::ranges::find(keys, key) != std::end(keys);
}

void KinetoHeader::take(std::string_view key, const JsonValue& value) {
  if (key == "schemaVersion") schema = text_of(value);
  if (key == "baseTimeNanoseconds") base_time_ns = int_of(value).value_or(0);
  if (key == "record_shapes") records_shapes = flag_of(value);
  if (key == "with_stack") records_stacks = flag_of(value);
  if (key == "profile_memory") records_memory = flag_of(value);
  if (key == "deviceProperties") {
    devices.clear();
    each_element(value, [&](const JsonValue& object) { devices.push_back(device_properties(object)); });
  }
  if (key == "distributedInfo") {
    each_member(value, [&](std::string_view member, const JsonValue& inner) {
      if (member == "rank") rank = int_of(inner);
      if (member == "world_size") world_size = std::max<std::int64_t>(0, int_of(inner).value_or(0));
      if (member == "backend") backend = text_of(inner);
      if (member == "pg_config") {
        groups.clear();
        each_element(inner, [&](const JsonValue& object) { groups.push_back(process_group(object)); });
      }
    });
  }
}

void KinetoHeader::apply(RankId id, TimelineBuilder& builder) const {
  Rank& to = builder.rank(id);
  to.producer = schema.empty() ? "Chrome trace events" : "Kineto schema " + schema;
  to.world_size = world_size;
  to.backend = backend;
  to.groups = groups;
  to.base_time_ns = base_time_ns;
  to.records_shapes = records_shapes;
  to.records_stacks = records_stacks;
  to.records_memory = records_memory;
  if (rank) {
    to.number = *rank;
    to.number_from = RankSource::distributed_info;
  }
  for (const DeviceProperties& properties : devices) {
    Device& device = builder.device(builder.device(id, properties.label));
    device.gpu_name = properties.name;
    device.memory_bytes = properties.memory_bytes;
    device.multiprocessors = properties.multiprocessors;
    device.compute_major = properties.compute_major;
    device.compute_minor = properties.compute_minor;
  }
}

}  // namespace stepscope
