// The JSON report: schema "stepscope.analysis/1", described in docs/analysis-schema.md. A new question appears in it by itself: a section is an object of
// its figures and tables, or the array itself where its only table carries the section's key (analyze/findings.h).
#include <algorithm>
#include <charconv>

#include "base/json_writer.h"
#include "report/json_parts.h"
#include "report/report.h"

namespace stepscope {

namespace {

void write(JsonWriter& json, const Value& value) {
  struct Visitor {
    JsonWriter& json;
    void operator()(std::monostate) const { json.null(); }
    void operator()(std::int64_t number) const { json.value(number); }
    void operator()(double number) const { json.value(number); }
    void operator()(const std::string& text) const { json.value(text); }
    void operator()(bool truth) const { json.value(truth); }
  };
  std::visit(Visitor{json}, value);
}

// "18234, 18240" as an array of numbers.
void write_slices(JsonWriter& json, std::string_view list) {
  json.begin_array();
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    std::int64_t number = 0;
    if (std::from_chars(list.data(), list.data() + end, number).ec == std::errc{}) json.value(number);
    list.remove_prefix(std::min(list.size(), end + 2));
  }
  json.end_array();
}

void write(JsonWriter& json, const Table& table) {
  json.begin_array(true);
  for (const std::vector<Value>& row : table.rows) {
    json.begin_object();
    for (std::size_t column = 0; column < table.columns.size() && column < row.size(); ++column) {
      json.key(table.columns[column].key);
      if (const auto* list = std::get_if<std::string>(&row[column]); list != nullptr && table.columns[column].unit == Unit::slices)
        write_slices(json, *list);
      else
        write(json, row[column]);
    }
    json.end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const Section& section) {
  json.key(section.key);
  if (section.figures.empty() && section.tables.size() == 1 && section.tables.front().key == section.key) return write(json, section.tables.front());
  json.begin_object(true);
  for (const Figure& figure : section.figures) {
    json.key(figure.key);
    write(json, figure.value);
  }
  for (const Table& table : section.tables) {
    json.key(table.key);
    write(json, table);
  }
  if (!section.summary.empty()) {
    json.key("summary");
    json.value(section.summary);
  }
  if (!section.caveats.empty()) {
    json.key("caveats");
    json.begin_array(true);
    for (const std::string& caveat : section.caveats) json.value(caveat);
    json.end_array();
  }
  json.end_object();
}

// Arrays that programs may index without asking whether they are there: a device without steps has an empty list of them.
void write_absent_arrays(JsonWriter& json, const std::vector<Section>& sections) {
  for (const std::string_view key : {"kernels", "steps"}) {
    if (find_section(sections, key) != nullptr) continue;
    json.key(key);
    json.begin_array();
    json.end_array();
  }
}

void write_text(JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  if (text.empty())
    json.null();
  else
    json.value(text);
}

}  // namespace

void write_json_sections(JsonWriter& json, const std::vector<Section>& sections) {
  for (const Section& section : sections) write(json, section);
}

std::string json_report(const ReportInput& input) {
  JsonWriter json;
  json.begin_object(true);
  json.key("schema");
  json.value("stepscope.analysis/1");
  json.key("version");
  json.value(STEPSCOPE_VERSION);
  write_json_sections(json, input.findings.sections);
  json.key("ranks");
  json.begin_array(true);
  for (const RankFindings& rank : input.findings.ranks) {
    json.begin_object(true);
    json.key("rank");
    json.value(rank.rank);
    json.key("file");
    json.value(rank.file);
    write_json_sections(json, rank.sections);
    json.key("devices");
    json.begin_array(true);
    for (const DeviceFindings& device : rank.devices) {
      json.begin_object(true);
      json.key("device");
      json.value(device.device);
      write_text(json, "gpu", device.gpu);
      write_text(json, "gpu_reported", device.gpu_reported);
      write_json_sections(json, device.sections);
      write_absent_arrays(json, device.sections);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace stepscope
