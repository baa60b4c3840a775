#include "report/page_document.h"

#include <algorithm>
#include <unordered_map>

#include "base/kernel_name.h"
#include "machine/gpu.h"
#include "report/page_text.h"
#include "report/path_view.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

// Just enough JSON: the writer knows where commas go.
class Json {
 public:
  Json& open(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  Json& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }
  Json& key(std::string_view name) {
    separate();
    append_json_string(text_, name);
    text_ += ':';
    fresh_ = true;
    return *this;
  }
  Json& text(std::string_view value) {
    separate();
    append_json_string(text_, value);
    return *this;
  }
  Json& number(double value) {
    separate();
    append_json_number(text_, value);
    return *this;
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  Json& number(Integer value) {
    separate();
    text_ += std::to_string(value);
    return *this;
  }
  Json& boolean(bool value) {
    separate();
    text_ += value ? "true" : "false";
    return *this;
  }
  Json& null() {
    separate();
    text_ += "null";
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  void separate() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
  }
  std::string text_;
  bool fresh_ = true;
};

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::none:
    case Unit::slices:
      return "none";
    case Unit::count:
      return "count";
    case Unit::nanoseconds:
      return "nanoseconds";
    case Unit::bytes:
      return "bytes";
    case Unit::memory_bytes:
      return "memory_bytes";
    case Unit::bytes_per_second:
      return "bytes_per_second";
    case Unit::flops:
      return "flops";
    case Unit::flops_per_second:
      return "flops_per_second";
    case Unit::ratio:
      return "ratio";
    case Unit::flops_per_byte:
      return "flops_per_byte";
  }
  return "none";
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

// Arguments worth showing that cannot name a user, a host or a directory.
constexpr std::string_view shown_arguments[] = {"grid",
                                                "block",
                                                "registers per thread",
                                                "shared memory",
                                                "est. achieved occupancy %",
                                                "blocks per SM",
                                                "warps per SM",
                                                "bytes",
                                                "memory bandwidth (GB/s)",
                                                "Input Dims",
                                                "Input type",
                                                "Input Strides",
                                                "Concrete Inputs",
                                                "Collective name",
                                                "dtype",
                                                "In msg nelems",
                                                "Out msg nelems",
                                                "In split size",
                                                "Out split size",
                                                "Group size",
                                                "Process Group Name",
                                                "Process Group Description",
                                                "Process Group Ranks",
                                                "num_warps",
                                                "num_stages",
                                                "kernel_backend",
                                                "graph node id",
                                                "graph id"};

// Ends of the JSON value that begins at text[begin]: after its closing bracket or quote, or before the comma.
std::size_t value_end(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      return i;
    }
  }
  return text.size();
}

// `"grid": [864,1,1], "block": [256,1,1]` -> "grid\t[864,1,1]\nblock\t[256,1,1]": the arguments that are shown, one per line.
std::string argument_lines(std::string_view detail) {
  std::string lines;
  std::size_t i = 0;
  while ((i = detail.find('"', i)) != std::string_view::npos) {
    const std::size_t key_begin = i + 1, key_end = detail.find('"', key_begin);
    if (key_end == std::string_view::npos) break;
    std::size_t value = detail.find(':', key_end);
    if (value == std::string_view::npos) break;
    value = detail.find_first_not_of(" \t\n\r", value + 1);
    if (value == std::string_view::npos) break;
    const std::size_t end = value_end(detail, value);
    const std::string_view key = detail.substr(key_begin, key_end - key_begin);
    if (std::find(std::begin(shown_arguments), std::end(shown_arguments), key) != std::end(shown_arguments)) {
      if (!lines.empty()) lines += '\n';
      lines += key;
      lines += '\t';
      lines += detail.substr(value, end - value);
    }
    i = end;
  }
  return lines;
}

class Document {
 public:
  Document(const ReportInput& input, const TimelineView& view, const TimelineColumns& columns, const PageLimits& limits)
      : input_(input), timeline_(input.timeline), view_(view), columns_(columns), limits_(limits) {}

  std::string write() {
    json_.open('{').key("schema").text("stepscope.page/1");
    json_.key("meta");
    meta();
    json_.key("verdict").open('[');
    for (const std::string& sentence : verdict()) json_.text(without_directories(sentence));
    json_.close(']');
    findings();
    json_.key("timeline");
    timeline();
    json_.key("strings").open('[');
    for (const std::string& text : strings_) json_.text(text);
    json_.close(']').close('}');
    return json_.take();
  }

 private:
  std::string presentable(std::string_view text) const { return shortened(without_directories(text), limits_.text_bytes); }

  // A text that may repeat: long ones by number.
  void shared_text(std::string_view text) {
    std::string shown = presentable(text);
    constexpr std::size_t worth_sharing = 24;
    if (shown.size() < worth_sharing) {
      json_.text(shown);
      return;
    }
    const auto [found, added] = string_numbers_.try_emplace(shown, strings_.size());
    if (added) strings_.push_back(std::move(shown));
    json_.open('[').number(found->second).close(']');
  }

  void value(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      json_.number(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      json_.number(*real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      shared_text(*text);
    } else if (const auto* truth = std::get_if<bool>(&value)) {
      json_.boolean(*truth);
    } else {
      json_.null();
    }
  }

  // What the terminal page says first, one paragraph each.
  std::vector<std::string> verdict() const {
    constexpr int unwrapped = 1'000'000;
    TextPage page(unwrapped, false, false);
    write_verdict(page, input_, device_times(input_.findings));
    const std::string text = std::move(page).finish();
    std::vector<std::string> sentences;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) sentences.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return sentences;
  }

  void meta() {
    std::uint64_t events = 0, bytes = 0;
    for (const Rank& rank : timeline_.ranks) {
      events += rank.events;
      bytes += rank.bytes;
    }
    json_.open('{').key("version").text(STEPSCOPE_VERSION).key("events").number(events).key("bytes").number(bytes);
    json_.key("slices").number(timeline_.slices.size());
    json_.key("read_seconds").number(input_.read_seconds).key("analysis_seconds").number(input_.analysis_seconds);
    json_.key("ranks").open('[');
    for (const Rank& rank : timeline_.ranks) {
      json_.open('{').key("rank").number(rank.number).key("file").text(presentable(file_name(rank.file))).key("world_size").number(rank.world_size);
      json_.key("producer").text(presentable(rank.producer)).key("events").number(rank.events).key("bytes").number(rank.bytes).close('}');
    }
    json_.close(']').key("gpus").open('{');
    for (const Gpu& one : input_.findings.gpus) gpu(one);
    json_.close('}');
    const std::vector<DeviceTime> devices = device_times(input_.findings);
    if (const DeviceTime* first = representative(devices); first != nullptr) {
      json_.key("opens_on").open('[').number(first->rank - input_.findings.ranks.data());
      json_.number(first->device - first->rank->devices.data()).close(']');
    }
    json_.close('}');
  }

  // The machine's figures for the roofline: only those that its description has.
  void gpu(const Gpu& described) {
    json_.key(described.name).open('{').key("title").text(presentable(described.title));
    const auto rate = [&](std::string_view key, const std::optional<double>& value) {
      if (value) json_.key(key).number(*value);
    };
    rate("tf32", described.matrix_tf32);
    rate("bf16", described.matrix_bf16);
    rate("fp16", described.matrix_fp16);
    rate("fp8", described.matrix_fp8);
    rate("fp32", described.vector_fp32);
    rate("fp64", described.vector_fp64);
    rate("memory_bytes_per_second", described.memory_bytes_per_second);
    rate("memory_bytes", described.memory_bytes);
    json_.close('}');
  }

  void section(const Section& section) {
    json_.open('{').key("key").text(section.key).key("title").text(section.title).key("summary").text(presentable(section.summary));
    json_.key("prominence").number(section.prominence).key("figures").open('[');
    for (const Figure& figure : section.figures) {
      json_.open('{').key("key").text(figure.key).key("title").text(figure.title).key("unit").text(unit_name(figure.unit)).key("value");
      value(figure.value);
      json_.close('}');
    }
    json_.close(']').key("tables").open('[');
    for (const Table& table : section.tables) {
      json_.open('{').key("key").text(table.key).key("title").text(table.title).key("columns").open('[');
      for (const ColumnHeader& column : table.columns) {
        json_.open('{').key("key").text(column.key).key("title").text(column.title).key("unit").text(unit_name(column.unit));
        json_.key("in_text").boolean(column.in_text).close('}');
      }
      json_.close(']').key("rows_total").number(table.rows.size()).key("rows").open('[');
      // A table keeps its first rows, a series over time rows from all of it.
      const bool series = table.key == "series";
      const std::size_t most = series ? std::max<std::size_t>(limits_.table_rows, 300) : limits_.table_rows;
      const std::size_t kept = std::min(table.rows.size(), most);
      for (std::size_t row = 0; row < kept; ++row) {
        json_.open('[');
        for (const Value& cell : table.rows[series ? row * table.rows.size() / kept : row]) value(cell);
        json_.close(']');
      }
      json_.close(']').close('}');
    }
    json_.close(']').key("caveats").open('[');
    for (const std::string& caveat : section.caveats) json_.text(presentable(caveat));
    json_.close(']').close('}');
  }

  // Sections stand in one list in which like stands beside like (the same question of all ranks and devices), because gzip looks back only 32 KB; who they
  // belong to says the number of each.
  void sections(const std::vector<Section>& all) {
    json_.key("sections").open('[');
    for (const Section& one : all) json_.number(section_numbers_.at(&one));
    json_.close(']');
  }

  std::vector<const Section*> sections_by_key() const {
    std::vector<const Section*> all;
    const auto add = [&](const std::vector<Section>& some) {
      for (const Section& one : some) all.push_back(&one);
    };
    add(input_.findings.sections);
    for (const RankFindings& rank : input_.findings.ranks) {
      add(rank.sections);
      for (const DeviceFindings& device : rank.devices) add(device.sections);
    }
    std::stable_sort(all.begin(), all.end(), [](const Section* a, const Section* b) { return a->key < b->key; });
    return all;
  }

  void findings() {
    json_.key("sections").open('[');
    for (const Section* one : sections_by_key()) {
      section_numbers_.emplace(one, section_numbers_.size());
      section(*one);
    }
    json_.close(']').key("findings").open('{');
    sections(input_.findings.sections);
    json_.key("ranks").open('[');
    for (const RankFindings& rank : input_.findings.ranks) {
      json_.open('{').key("rank").number(rank.rank).key("file").text(presentable(file_name(rank.file)));
      sections(rank.sections);
      json_.key("devices").open('[');
      for (const DeviceFindings& device : rank.devices) {
        json_.open('{').key("device").text(presentable(device.device)).key("gpu").text(device.gpu).key("gpu_reported").text(presentable(device.gpu_reported));
        sections(device.sections);
        json_.close('}');
      }
      json_.close(']').close('}');
    }
    json_.close(']').close('}');
  }

  void timeline() {
    json_.open('{').key("begin").number(view_.span.begin).key("end").number(view_.span.end);
    json_.key("slices_single")
        .number(view_.slices_single)
        .key("slices_merged")
        .number(view_.slices_merged)
        .key("slices_left_out")
        .number(view_.slices_left_out);
    json_.key("merged_below").number(view_.merged_below).key("details_left_out").number(columns_.details_left_out);
    json_.key("whole").open('[');
    for (const std::vector<Interval>& windows : view_.whole) {
      json_.open('[');
      for (const Interval& window : windows) json_.open('[').number(window.begin).number(window.end).close(']');
      json_.close(']');
    }
    json_.close(']');
    tracks();
    labels();
    json_.key("details").open('[');
    for (const NameId detail : columns_.details) json_.text(presentable(argument_lines(timeline_.details[detail])));
    json_.close(']');
    steps();
    critical_paths();
    json_.close('}');
  }

  // Each stretch as [track, begin, end, 1 where it waits].
  void critical_paths() {
    constexpr std::size_t most_stretches = 6000;
    json_.key("critical_paths").open('[');
    if (input_.lifted != nullptr && input_.times != nullptr) {
      for (const ViewPath& path : view_paths(*input_.lifted, *input_.times, view_, most_stretches)) {
        json_.open('{').key("rank").number(index(path.rank)).key("device").text(presentable(timeline_.devices[index(path.device)].label));
        if (path.step) json_.key("step").number(*path.step);
        json_.key("begin").number(path.window.begin).key("end").number(path.window.end).key("stretches").open('[');
        for (const PathStretch& stretch : path.stretches)
          json_.open('[').number(stretch.track).number(stretch.interval.begin).number(stretch.interval.end).number(stretch.waits ? 1 : 0).close(']');
        json_.close(']').close('}');
      }
    }
    json_.close(']');
  }

  void tracks() {
    static constexpr std::string_view kinds[] = {"stream", "idle", "thread", "other"};
    json_.key("tracks").open('[');
    for (const ViewTrack& shown : view_.tracks) {
      json_.open('{').key("kind").text(kinds[static_cast<std::size_t>(shown.kind)]).key("rank").number(index(shown.rank));
      if (shown.device != no_id<DeviceId>) json_.key("device").text(presentable(timeline_.devices[index(shown.device)].label));
      if (shown.track != no_id<TrackId>) {
        const Track& track = timeline_.tracks[index(shown.track)];
        json_.key("process").text(presentable(timeline_.names[track.process])).key("thread").text(presentable(timeline_.names[track.thread]));
        if (!track.label.empty()) json_.key("label").text(presentable(track.label));
        if (track.stream >= 0) json_.key("stream").number(track.stream);
        json_.key("sort").number(track.sort_index);
      }
      json_.key("lanes").open('[');
      for (std::uint32_t l = shown.first_lane; l < shown.first_lane + shown.lanes; ++l) {
        json_.open('[').number(view_.lanes[l].items).number(view_.lanes[l].slices).number(view_.lanes[l].busy).close(']');
      }
      json_.close(']').close('}');
    }
    json_.close(']');
  }

  void labels() {
    json_.key("shades").open('[');
    for (std::size_t shade = 0; shade < shade_count; ++shade) json_.text(shade_name(static_cast<Shade>(shade)));
    json_.close(']').key("labels").open('[');
    for (const ViewLabel& label : view_.labels) shared_text(timeline_.names[label.name]);
    // The readable form, where it is another: 0 where it is the name itself.
    json_.close(']').key("short_labels").open('[');
    for (const ViewLabel& label : view_.labels) {
      const std::string_view name = timeline_.names[label.name];
      if (label.shade <= Shade::memory) {
        if (std::string readable = readable_kernel_name(name); readable != name) {
          json_.text(presentable(readable));
          continue;
        }
      }
      json_.number(0);
    }
    json_.close(']').key("label_shades").open('[');
    for (const ViewLabel& label : view_.labels) json_.number(static_cast<int>(label.shade));
    json_.close(']');
  }

  void steps() {
    static constexpr std::string_view sources[] = {"none", "profiler_step", "user_range", "launch_period"};
    json_.key("steps").open('[');
    for (const RankSteps& rank : input_.facts.steps) {
      json_.open('{').key("source").text(sources[static_cast<std::size_t>(rank.source)]).key("found_by").text(presentable(rank.found_by));
      json_.key("steps").open('[');
      for (const Step& step : rank.steps) {
        json_.open('[')
            .number(step.number)
            .number(step.annotation.begin)
            .number(step.annotation.begin + step.step_time)
            .number(step.outlier ? 1 : 0)
            .close(']');
      }
      json_.close(']').close('}');
    }
    json_.close(']').key("device_steps").open('[');
    for (const DeviceFacts& device : input_.facts.devices) {
      json_.open('{').key("rank").number(index(device.rank)).key("device").text(presentable(timeline_.devices[index(device.device)].label));
      json_.key("steps").open('[');
      for (const StepWindow& window : device.windows) json_.open('[').number(window.number).number(window.window.begin).number(window.window.end).close(']');
      json_.close(']').close('}');
    }
    json_.close(']');
  }

  const ReportInput& input_;
  const Timeline& timeline_;
  const TimelineView& view_;
  const TimelineColumns& columns_;
  const PageLimits& limits_;
  Json json_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::size_t> string_numbers_;
  std::unordered_map<const Section*, std::size_t> section_numbers_;
};

}  // namespace

std::string page_document(const ReportInput& input, const TimelineView& view, const TimelineColumns& columns, const PageLimits& limits) {
  return Document(input, view, columns, limits).write();
}

}  // namespace stepscope
