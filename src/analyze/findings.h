// Findings: the answers of all questions in one plain document. A Section holds figures and tables whose columns say their unit, so that text, JSON and
// HTML can show a new question without knowing it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/gpu.h"

namespace stepscope {

enum class Unit : std::uint8_t {
  none,  // text, numbers without a unit, identifiers
  count,
  nanoseconds,       // JSON keys end in _ns
  bytes,             // moved data: shown in 1e3 steps (kB, MB, GB)
  memory_bytes,      // memory: shown in KiB, MiB, GiB
  bytes_per_second,  // JSON keys end in _bytes_per_s; shown as GB/s (1e9)
  flops,             // operations; shown as GFLOP
  flops_per_second,  // shown as TFLOP/s
  ratio,             // 0…1 (may exceed 1): shown in percent
  flops_per_byte,
  slices,  // rows of Timeline::slices, as text: "18234, 18240"; an array of numbers in JSON
};

// Absent values are null in JSON and "–" in text: unknown stays unknown.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, bool>;

struct Figure {
  std::string key;    // JSON key: "busy_ns"
  std::string title;  // for people: "Busy"
  Unit unit = Unit::none;
  Value value;
};

struct ColumnHeader {
  std::string key;
  std::string title;
  Unit unit = Unit::none;
  bool in_text = true;  // whether the terminal page shows this column
};

struct Table {
  std::string key;
  std::string title;
  std::vector<ColumnHeader> columns;
  std::vector<std::vector<Value>> rows;  // each as long as columns; sorted as the question means them to be read
};

// JSON: an object of its figures by key and its tables by key, as arrays of objects. A section without figures whose only table carries the section's own
// key is that array itself.
struct Section {
  std::string key{};
  std::string title{};
  std::string summary{};  // one sentence with the finding; may be empty
  std::vector<Figure> figures{};
  std::vector<Table> tables{};
  std::vector<std::string> caveats{};  // what the figures do not say, and which profiler option would tell
  int prominence = 50;                 // place on the page: 0 first … 100 last

  const Figure* figure(std::string_view figure_key) const;
  const Table* table(std::string_view table_key) const;
};

struct DeviceFindings {
  std::string device;        // Device::label
  std::string gpu;           // name of the machine description used, "" = unknown
  std::string gpu_reported;  // as the trace names it
  std::vector<Section> sections;
};

struct RankFindings {
  std::int64_t rank = 0;
  std::string file;
  std::vector<Section> sections;  // of the rank's CPU side
  std::vector<DeviceFindings> devices;
};

struct Findings {
  std::vector<Section> sections;  // of the whole run: capture health first
  std::vector<RankFindings> ranks;
  std::vector<Gpu> gpus;  // that rates were held against, one of each name
};

const Section* find_section(const std::vector<Section>& sections, std::string_view key);

}  // namespace stepscope
