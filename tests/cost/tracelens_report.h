// TraceLens's CSV reports in the shared folder, and the traces that they were made from.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cost/operator_cost.h"
#include "facts/facts.h"
#include "read/reader.h"

namespace stepscope::tracelens {

using Row = std::map<std::string, std::string, std::less<>>;

inline std::filesystem::path folder() {
  return std::filesystem::path(STEPSCOPE_SHARED_DIR) / "tracelens";
}

// Comma-separated values with a header line; quoted fields may hold commas, doubled quotes and line breaks. No file = no rows.
inline std::vector<Row> read_csv(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream all;
  all << stream.rdbuf();
  const std::string text = all.str();
  std::vector<std::vector<std::string>> lines(1);
  std::string field;
  bool quoted = false;
  const auto end_field = [&] {
    lines.back().push_back(std::move(field));
    field.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      end_field();
    } else if (c == '\n') {
      end_field();
      lines.emplace_back();
    } else if (c != '\r') {
      field += c;
    }
  }
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() != lines[0].size()) continue;
    Row& row = rows.emplace_back();
    for (std::size_t j = 0; j < lines[0].size(); ++j) row[lines[0][j]] = lines[i][j];
  }
  return rows;
}

// A list as Python prints it, as JSON: only the quotes differ.
inline std::string json_of(std::string python) {
  for (char& c : python)
    if (c == '\'') c = '"';
  return python;
}

// The call that a row of a family's sheet stands for.
inline std::string detail_of(const Row& row) {
  return "\"Input Dims\": " + json_of(row.at("Input Dims_first")) + ", \"Input type\": " + json_of(row.at("Input type_first")) +
         ", \"Input Strides\": " + json_of(row.at("Input Strides_first")) + ", \"Concrete Inputs\": " + json_of(row.at("Concrete Inputs_first"));
}

inline const char* const reports[] = {"tl_h100_bertsmall", "tl_h100_falconsai",        "tl_h100_owlv2",       "tl_mi210_gpu_only", "tl_mi300_falconsai",
                                      "tl_mi300_qwen",     "tl_mi300_resnet_act_ckpt", "tl_mi300_timesformer"};

struct Trace {
  Timeline timeline;
  Facts facts;
};

inline Result<Trace> read_trace(std::string_view report) {
  const std::vector<std::string> paths{(std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces" / report / "rank000.json.gz").string()};
  Result<Timeline> timeline = read_timeline(paths, {});
  if (!timeline) return std::unexpected(timeline.error());
  Trace trace{*std::move(timeline), {}};
  trace.facts = derive(trace.timeline, {});
  return trace;
}

// TraceLens computes in microseconds as doubles: an event's end is its start + duration, both rounded, so that a difference of two times of a trace of today
// is a multiple of 2^-10 µs. These are its start and end of a slice.
struct Microseconds {
  double begin, end;
};
inline Microseconds as_written(const Trace& trace, SliceId id) {
  const Timeline& t = trace.timeline;
  const double begin = static_cast<double>(static_cast<long double>(t.origin_ns + t.slices.start[id]) / 1000.0L);  // the file's own times
  const double duration = static_cast<double>(static_cast<long double>(t.slices.duration[id]) / 1000.0L);
  return {begin, begin + duration};
}

}  // namespace stepscope::tracelens
