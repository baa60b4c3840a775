#include "on_demand.h"

#include <simdjson.h>

namespace stepscope {

namespace {

using simdjson::ondemand::object;

// The arguments that reading turns into columns.
std::size_t extract_arguments(object arguments) {
  std::size_t taken = 0;
  for (auto field : arguments) {
    const auto key = field.key().value();
    if (key == "External id" || key == "correlation" || key == "device" || key == "stream" || key == "Sequence number" || key == "Fwd thread id" ||
        key == "bytes")
      taken += field.value().raw_json_token().value().size();
  }
  return taken;
}

}  // namespace

std::uint64_t extract_by_on_demand(const std::string& text, std::size_t length) {
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text.data(), length, text.size());
  std::uint64_t events = 0;
  std::size_t taken = 0;
  for (auto element : document["traceEvents"].get_array()) {
    object event = element.get_object();
    for (auto field : event) {
      const auto key = field.key().value();
      auto value = field.value();
      if (key == "ph" || key == "cat" || key == "name") {
        taken += value.get_raw_json_string().value().raw()[0] != 0;
      } else if (key == "pid" || key == "tid" || key == "ts" || key == "dur" || key == "id") {
        taken += value.raw_json_token().value().size();
      } else if (key == "args") {
        taken += extract_arguments(value.get_object());
      }
    }
    ++events;
  }
  return taken == 0 ? 0 : events;
}

}  // namespace stepscope
