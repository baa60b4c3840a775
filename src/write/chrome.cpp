// Chrome trace events (JSON) as Kineto writes them, for Perfetto, chrome://tracing and whatever reads traces of torch.profiler: every slice with its exact
// nanoseconds, tracks with their names, launches as arrows, counters and memory; and the critical path of each step, as arrows between what is on it and as a
// track of its own. Stepscope reads it back to the same figures; what it drew itself (category stepscope_critical_path) it passes over.
//
// Format: "Trace Event Format" (Google, 2016). With several ranks in one file, processes are named "rank:process", and links are kept apart by giving each
// rank's correlation ids its own high bits.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/json_writer.h"
#include "simulate/critical_path.h"
#include "write/chrome_events.h"
#include "write/json_members.h"
#include "write/writer.h"

namespace stepscope {

namespace {

constexpr std::string_view path_category = "stepscope_critical_path";

constexpr std::string_view categories[slice_kind_count] = {"kernel",   "gpu_memcpy",   "gpu_memset",  "cuda_sync",       "gpu_user_annotation",
                                                           "cpu_op",   "cuda_runtime", "cuda_driver", "python_function", "user_annotation",
                                                           "overhead", "Trace",        "other"};

class ChromeFile {
 public:
  ChromeFile(const WriteInput& input, const ByteSink& sink)
      : input_(input), timeline_(input.timeline), several_(input.timeline.ranks.size() > 1), events_(sink) {}

  Result<void> write() {
    write_head();
    for (const Track& track : timeline_.tracks) rows_.push_back({process_of(track), number_or_string(timeline_.names[track.thread])});
    for (std::uint32_t name = 0; name < timeline_.names.size(); ++name) names_.push_back(quoted_json(timeline_.names[NameId{name}]));
    details_.resize(timeline_.details.size(), Detail::unknown);
    name_tracks();
    for (std::uint32_t row = 0; row < timeline_.slices.size() && !events_.failed(); ++row) write_slice(SliceId{row});
    write_arrows();
    write_counters();
    if (input_.lifted != nullptr && input_.times != nullptr) write_paths();
    return events_.finish();
  }

 private:
  enum class Detail : std::uint8_t { unknown, good, bad };

  void write_head() {
    std::string head = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\"";
    // Times are written from the first slice on: viewers hold them in doubles, which at microseconds since 1970 are no nanoseconds. One file has one base; with
    // several, what is added to it gives the files' own times.
    const bool one_base = !timeline_.ranks.empty() &&
                          std::ranges::all_of(timeline_.ranks, [&](const Rank& rank) { return rank.base_time_ns == timeline_.ranks.front().base_time_ns; });
    const Nanoseconds base = one_base ? timeline_.ranks.front().base_time_ns : 0;
    if (const Nanoseconds first = base + timeline_.origin_ns; first != 0) head += fmt::format(", \"baseTimeNanoseconds\": {}", first);
    if (!several_ && !timeline_.ranks.empty()) {
      const Rank& rank = timeline_.ranks.front();
      if (rank.number_from == RankSource::distributed_info || rank.world_size > 0)
        head += fmt::format(", \"distributedInfo\": {{\"backend\": {}, \"rank\": {}, \"world_size\": {}{}}}", quoted_json(rank.backend), rank.number,
                            rank.world_size, groups_of(rank));
      for (const auto& [key, recorded] :
           {std::pair{"record_shapes", rank.records_shapes}, std::pair{"with_stack", rank.records_stacks}, std::pair{"profile_memory", rank.records_memory}})
        if (recorded) head += fmt::format(", \"{}\": {}", key, *recorded ? 1 : 0);
    }
    std::string devices;
    for (const Device& device : timeline_.devices) {
      if (device.gpu_name.empty()) continue;
      devices += fmt::format("{}{{\"id\": {}, \"name\": {}, \"totalGlobalMem\": {}, \"computeMajor\": {}, \"computeMinor\": {}, \"numSms\": {}}}",
                             devices.empty() ? "" : ", ", label_of(device), quoted_json(device.gpu_name), device.memory_bytes, device.compute_major,
                             device.compute_minor, device.multiprocessors);
    }
    if (!devices.empty()) head += ", \"deviceProperties\": [" + devices + "]";
    events_.head(head + ", \"traceEvents\": [");
  }

  static std::string groups_of(const Rank& rank) {
    std::string groups;
    for (const ProcessGroup& group : rank.groups) {
      std::string ranks;
      for (const std::int64_t member : group.ranks) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", member);
      groups += fmt::format("{}{{\"pg_name\": {}, \"pg_desc\": {}, \"pg_size\": {}, \"ranks\": [{}]}}", groups.empty() ? "" : ", ", quoted_json(group.name),
                            quoted_json(group.description), group.size, ranks);
    }
    return groups.empty() ? groups : ", \"pg_config\": [" + groups + "]";
  }

  std::string of_rank(RankId rank, std::string_view text) const {
    return several_ ? quoted_json(fmt::format("{}:{}", timeline_.ranks[index(rank)].number, text)) : number_or_string(text);
  }
  std::string process_of(const Track& track) const { return of_rank(track.rank, timeline_.names[track.process]); }
  std::string label_of(const Device& device) const { return of_rank(device.rank, device.label); }

  void name_tracks() {
    std::unordered_set<std::string> named;
    for (std::size_t t = 0; t < timeline_.tracks.size(); ++t) {
      const Track& track = timeline_.tracks[t];
      if (named.insert(rows_[t].process).second) {
        const std::string rank = fmt::format("rank {}", timeline_.ranks[index(track.rank)].number);
        const std::string process = track.kind == TrackKind::stream && track.device != no_id<DeviceId>
                                        ? fmt::format("{}, GPU {}", rank, timeline_.devices[index(track.device)].label)
                                        : rank;
        events_.metadata("process_name", {rows_[t].process, "0"}, "\"name\": " + quoted_json(process));
        events_.metadata("process_sort_index", {rows_[t].process, "0"}, fmt::format("\"sort_index\": {}", t + 1));
      }
      if (!track.label.empty()) events_.metadata("thread_name", rows_[t], "\"name\": " + quoted_json(track.label));
      if (track.sort_index != 0) events_.metadata("thread_sort_index", rows_[t], fmt::format("\"sort_index\": {}", track.sort_index));
    }
  }

  std::uint64_t linked(std::uint64_t correlation, RankId rank) const {
    return several_ && correlation != no_number ? correlation ^ (std::uint64_t{index(rank)} << 40) : correlation;
  }

  std::string_view detail_of(SliceId slice) {
    const NameId id = timeline_.slices.detail[slice];
    Detail& known = details_[index(id)];
    if (known == Detail::unknown) known = are_json_members(timeline_.details[id]) ? Detail::good : Detail::bad;
    return known == Detail::good ? timeline_.details[id] : std::string_view{};
  }

  template <class Fact>
  static const Fact* fact_of(const Column<Fact>& facts, std::size_t& at, SliceId slice) {
    while (at < facts.size() && facts[at].slice < slice) ++at;  // slices come in order
    return at < facts.size() && facts[at].slice == slice ? &facts[at] : nullptr;
  }

  void write_slice(SliceId slice) {
    const SliceColumns& s = timeline_.slices;
    const Track& track = timeline_.track_of(slice);
    arguments_.clear();
    const auto add = [&](std::string_view key, const auto& value) {
      fmt::format_to(std::back_inserter(arguments_), "{}\"{}\": {}", arguments_.empty() ? "" : ", ", key, value);
    };
    if (track.device != no_id<DeviceId> && s.kind[slice] <= SliceKind::device_annotation) {
      add("device", label_of(timeline_.devices[index(track.device)]));
      if (track.stream >= 0) add("stream", track.stream);
    }
    if (s.correlation[slice] != no_number) add("correlation", linked(s.correlation[slice], track.rank));
    if (s.external[slice] != no_number) add("External id", linked(s.external[slice], track.rank));
    if (const SequenceFact* fact = fact_of(timeline_.sequences, sequence_, slice)) {
      add("Sequence number", fact->sequence);
      if (fact->forward_thread != no_number) add("Fwd thread id", fact->forward_thread);
    }
    if (const PythonFact* fact = fact_of(timeline_.python, python_, slice)) {
      add("Python id", fact->id);
      if (fact->parent != 0xFFFF'FFFFu) add("Python parent id", fact->parent);
      if (fact->module != 0xFFFF'FFFFu) add("Python module id", fact->module);
    }
    if (const TransferFact* fact = fact_of(timeline_.transfers, transfer_, slice)) add("bytes", fact->bytes);
    if (const SyncFact* fact = fact_of(timeline_.syncs, sync_, slice)) {
      if (fact->wait_on_stream >= 0) add("wait_on_stream", fact->wait_on_stream);
      if (fact->wait_on_record_correlation != no_number) add("wait_on_cuda_event_record_corr_id", linked(fact->wait_on_record_correlation, track.rank));
    }
    if (const std::string_view detail = detail_of(slice); !detail.empty()) arguments_.append(arguments_.empty() ? "" : ", ").append(detail);
    events_.slice(categories[static_cast<std::size_t>(s.kind[slice])], names_[index(s.name[slice])], rows_[index(s.track[slice])], s.start[slice],
                  s.duration[slice], arguments_);
  }

  void write_arrows() {
    const SliceColumns& s = timeline_.slices;
    for (const DeviceFacts& device : input_.facts.devices) {
      for (const SliceId slice : device.slices) {
        const SliceId launch = input_.facts.launch[slice];
        if (launch == no_id<SliceId> || events_.failed()) continue;
        events_.flow("ac2g", "ac2g", rows_[index(s.track[launch])], true, index(slice), s.start[launch]);
        events_.flow("ac2g", "ac2g", rows_[index(s.track[slice])], false, index(slice), s.start[slice]);
      }
    }
    for (const FlowEnd& end : timeline_.flows) {
      const std::string_view category = end.kind == FlowKind::forward_backward ? "fwdbwd" : end.kind == FlowKind::launch ? "ac2g" : "flow";
      events_.flow(category, category, rows_[index(end.track)], end.starts, end.id, end.time);
    }
  }

  void write_counters() {
    for (const CounterSample& sample : timeline_.counters)
      events_.counter(names_[index(sample.name)], rows_[index(sample.track)], sample.time, "\"value\": " + number_of(sample.value));
    for (const MemoryEvent& event : timeline_.memory) {
      std::string arguments =
          fmt::format("\"Device Type\": {}, \"Device Id\": {}, \"Addr\": {}, \"Bytes\": {}", event.device_type, event.device, event.address, event.bytes);
      if (event.total_allocated >= 0) arguments += fmt::format(", \"Total Allocated\": {}", event.total_allocated);
      if (event.total_reserved >= 0) arguments += fmt::format(", \"Total Reserved\": {}", event.total_reserved);
      events_.instant("\"[memory]\"", rows_[index(event.track)], event.time, arguments);
    }
    for (const Instant& instant : timeline_.instants) {
      const std::string_view detail = timeline_.details[instant.detail];
      events_.instant(names_[index(instant.name)], rows_[index(instant.track)], instant.time, are_json_members(detail) ? detail : std::string_view{});
    }
  }

  static std::string number_of(double value) {
    JsonWriter json;
    json.value(value);
    return json.take();
  }

  // One track per device, in a process of their own; where no device has a window, one for the host.
  void write_paths() {
    const std::string process = quoted_json("critical path");
    events_.metadata("process_name", {process, "0"}, "\"name\": \"Critical path\"");
    events_.metadata("process_sort_index", {process, "0"}, "\"sort_index\": 0");
    bool on_devices = false;
    for (const GraphWindow& window : input_.lifted->windows) on_devices |= window.device != no_id<DeviceId>;
    std::uint64_t arrows = 0;
    std::unordered_set<std::string> named;
    for (const GraphWindow& window : input_.lifted->windows) {
      if (on_devices != (window.device != no_id<DeviceId>) || events_.failed()) continue;
      const std::int64_t rank = timeline_.ranks[index(window.rank)].number;
      const std::string label = on_devices ? fmt::format("rank {}, GPU {}", rank, timeline_.devices[index(window.device)].label) : fmt::format("rank {}", rank);
      const ChromeRow row{process, std::to_string(on_devices ? index(window.device) : index(window.rank))};
      if (named.insert(label).second) events_.metadata("thread_name", row, "\"name\": " + quoted_json(label));
      write_path(window, row, arrows);
    }
  }

  // A time of the graph as the track's rank has it.
  Nanoseconds on_clock_of(TrackId track, Nanoseconds time) const { return input_.lifted->on_clock_of(timeline_.tracks[index(track)].rank, time); }

  void write_path(const GraphWindow& window, const ChromeRow& row, std::uint64_t& arrows) {
    const Lifted& lifted = *input_.lifted;
    const Graph& graph = lifted.graph;
    const CriticalPath path = critical_path(graph, *input_.times, window.begin, window.end);
    const PathPart* before = nullptr;  // the operation before on the path
    for (const PathPart& part : path.parts) {
      const bool ran = part.dependency == no_dependency;
      const std::string_view name = graph.name_of(part.operation);
      std::string arguments = fmt::format("\"part\": {}", quoted_json(path_part_kind_title(part.kind)));
      if (window.step != no_step) arguments += fmt::format(", \"step\": {}", window.number);
      if (!ran) arguments += fmt::format(", \"before\": {}", quoted_json(name));
      events_.slice(path_category, quoted_json(ran && !name.empty() ? name : path_part_kind_title(part.kind)), row,
                    lifted.on_clock_of(window.rank, part.interval.begin), part.interval.length(), arguments);
      const TrackId track = graph.place_of(part.operation).track;
      if (!ran || track == no_id<TrackId>) continue;
      if (before != nullptr) {
        // An arrow belongs to the slice in which it begins, so it begins inside of it.
        const TrackId from = graph.place_of(before->operation).track;
        events_.flow(path_category, "critical path", rows_[index(from)], true, ++arrows, on_clock_of(from, before->interval.end - 1));
        events_.flow(path_category, "critical path", rows_[index(track)], false, arrows, on_clock_of(track, part.interval.begin));
      }
      before = &part;
    }
  }

  const WriteInput& input_;
  const Timeline& timeline_;
  bool several_;
  ChromeEvents events_;
  std::vector<ChromeRow> rows_;     // by track
  std::vector<std::string> names_;  // by NameId, as JSON
  std::vector<Detail> details_;     // by NameId of details
  std::string arguments_;
  std::size_t sequence_ = 0, python_ = 0, transfer_ = 0, sync_ = 0;
};

Result<void> write_chrome(const WriteInput& input, const ByteSink& sink) {
  return ChromeFile(input, sink).write();
}

}  // namespace

extern const Writer chrome_writer;
const Writer chrome_writer{.name = "chrome",
                           .help = "Chrome trace events, for Perfetto and chrome://tracing, with the critical path drawn in",
                           .ending = ".json",
                           .write = write_chrome};

}  // namespace stepscope
