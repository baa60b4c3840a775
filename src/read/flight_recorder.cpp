// Fields as PyTorch 2.3 to 2.9 write them: version, nccl_version, pg_config {id: {name, desc, ranks: "[0, 1]"}}, pg_status {id: {last_enqueued_collective, …}},
// entries [{process_group: [name, desc], collective_seq_id, profiling_name, time_created_ns, time_discovered_started_ns | null, state, …}].
// The discovered times are those at which the watchdog looked (every 100 ms or so), not the device's.
#include "read/flight_recorder.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/progress.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t most_bytes = 256u << 20;  // a dump has 20,000 entries of 1 KB at most, unless someone raised its buffer
constexpr Nanoseconds furthest_ns = Nanoseconds{1} << 61;

std::string text_of(const object& from, std::string_view key) {
  std::string_view text;
  if (from[key].get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t number = 0;
  if (from[key].get(number) == simdjson::SUCCESS) return std::to_string(number);
  return {};
}

std::optional<std::int64_t> number_of(const object& from, std::string_view key) {
  std::int64_t number = 0;
  if (from[key].get(number) != simdjson::SUCCESS) return {};
  return number;
}

// A time, where there is one that can be calculated with.
std::optional<Nanoseconds> time_of(const object& from, std::string_view key) {
  const auto time = number_of(from, key);
  return time && *time > 0 && *time < furthest_ns ? time : std::nullopt;
}

// "[0, 1]", a list within a string: older and newer writers also give a plain list.
std::vector<std::int64_t> rank_list(const object& group) {
  std::vector<std::int64_t> ranks;
  simdjson::dom::array list;
  if (group["ranks"].get(list) == simdjson::SUCCESS) {
    for (const element item : list)
      if (std::int64_t number = 0; item.get(number) == simdjson::SUCCESS) ranks.push_back(number);
    return ranks;
  }
  std::int64_t number = -1;
  for (const char c : text_of(group, "ranks") + "]") {
    if (c >= '0' && c <= '9' && number < 100'000'000)
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    else if (number >= 0)
      ranks.push_back(number), number = -1;
  }
  return ranks;
}

// JSON that was cut off, closed after its last whole value at depth 2 or less. Returns the bytes that were kept, 0 where none can be.
std::size_t close_cut_text(std::string& text) {
  std::string open, open_there;
  std::size_t kept = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) break;
      open.pop_back();
      if (open.size() <= 2) kept = i + 1, open_there = open;
    }
  }
  if (kept == 0) return 0;
  text.resize(kept);
  text.append(open_there.rbegin(), open_there.rend());
  return kept;
}

class Dump {
 public:
  Dump(object root, TimelineBuilder& builder, Rank rank) : root_(root), builder_(builder) {
    rank.producer = "PyTorch flight recorder " + text_of(root, "version");
    if (const std::string nccl = text_of(root, "nccl_version"); !nccl.empty()) rank.producer += " (NCCL " + nccl + ")";
    rank.backend = "nccl";
    if (const auto number = number_of(root, "rank")) rank.number = *number, rank.number_from = RankSource::distributed_info;
    rank_ = builder.add_rank(std::move(rank));
  }

  void add() {
    add_groups();
    simdjson::dom::array entries;
    if (root_["entries"].get(entries) == simdjson::SUCCESS) {
      for (const element entry : entries)
        if (object fields; entry.get(fields) == simdjson::SUCCESS) add_entry(fields);
    }
    HealthList& notes = builder_.health().notes;
    notes.add("collective_not_completed", started_, first_started_,
              "Collectives that had started but not completed when the dump was written: a rank may be missing in them.");
    notes.add("collective_not_started", scheduled_, first_scheduled_, "Collectives that were enqueued but had not started when the dump was written.");
    builder_.health().repairs.add("entry_without_time", without_time_, first_without_time_, "Entries without a time of creation were left out.");
    add_status();
  }

 private:
  void add_groups() {
    object groups;
    if (root_["pg_config"].get(groups) != simdjson::SUCCESS) return;
    for (const auto field : groups) {
      object fields;
      if (field.value.get(fields) != simdjson::SUCCESS) continue;
      ProcessGroup group;
      group.name = text_of(fields, "name");
      if (group.name.empty()) group.name = std::string(field.key);
      group.description = text_of(fields, "desc");
      group.ranks = rank_list(fields);
      group.size = static_cast<std::int64_t>(group.ranks.size());
      Rank& rank = builder_.rank(rank_);
      rank.world_size = std::max(rank.world_size, group.size);
      rank.groups.push_back(std::move(group));
    }
  }

  void add_entry(const object& entry) {
    std::string group, description;
    simdjson::dom::array names;
    if (entry["process_group"].get(names) == simdjson::SUCCESS) {
      for (std::size_t i = 0; i < 2; ++i)
        if (std::string_view name; names.at(i).get(name) == simdjson::SUCCESS) (i == 0 ? group : description) = name;
    }
    if (group.empty()) group = text_of(entry, "pg_id");
    const std::string state = text_of(entry, "state"), name = text_of(entry, "profiling_name");
    const bool point_to_point = [&] {
      bool value = false;
      return entry["is_p2p"].get(value) == simdjson::SUCCESS && value;
    }();
    const std::string what = fmt::format("{} {} {} {} of process group {}{}", point_to_point ? "transfer" : "collective",
                                         text_of(entry, point_to_point ? "p2p_seq_id" : "collective_seq_id"), name, minified(entry, "input_sizes"), group,
                                         description.empty() ? "" : " (" + description + ")");
    const auto created = time_of(entry, "time_created_ns");
    ++builder_.rank(rank_).events;
    if (!created) {
      if (without_time_++ == 0) first_without_time_ = what;
      return;
    }
    const TrackId track = builder_.track(rank_, TrackKind::other, "flight recorder", "process group " + group);
    if (builder_.track(track).label.empty()) builder_.track(track).label = fmt::format("process group {} {}", group, description);
    const NameId name_id = builder_.names().intern(name);
    const NameId detail = builder_.details().intern(details_of(entry));
    builder_.add(Instant{*created, track, name_id, detail});
    const auto started = time_of(entry, "time_discovered_started_ns"), completed = time_of(entry, "time_discovered_completed_ns");
    if (started && completed && *completed >= *started)
      builder_.add_slice(SliceKind::other, track, *started, *completed - *started, name_id, no_number, no_number, detail);
    if (state == "started" && started_++ == 0) first_started_ = what;
    if (state == "scheduled" && scheduled_++ == 0) first_scheduled_ = what;
  }

  static std::string minified(const object& from, std::string_view key) {
    element value;
    return from[key].get(value) == simdjson::SUCCESS ? simdjson::minify(value) : "";
  }

  // Stack frames stay out: they carry paths and names of people.
  static std::string details_of(const object& entry) {
    std::string details;
    for (const std::string_view key : {"state", "collective_seq_id", "p2p_seq_id", "op_id", "record_id", "is_p2p", "input_sizes", "input_dtypes",
                                       "output_sizes", "output_dtypes", "duration_ms", "timeout_ms", "retired"}) {
      const std::string value = minified(entry, key);
      if (!value.empty()) details += fmt::format("{}\"{}\": {}", details.empty() ? "" : ", ", key, value);
    }
    return details;
  }

  void add_status() {
    object statuses;
    if (root_["pg_status"].get(statuses) != simdjson::SUCCESS) return;
    for (const auto field : statuses) {
      object status;
      if (field.value.get(status) != simdjson::SUCCESS) continue;
      const auto enqueued = number_of(status, "last_enqueued_collective"), completed = number_of(status, "last_completed_collective");
      if (enqueued && completed && *enqueued > *completed && *completed >= -1 && *enqueued - *completed > 0)
        builder_.health().notes.add("process_group_behind", 1,
                                    fmt::format("process group {}: collective {} enqueued, {} completed", field.key, *enqueued, *completed),
                                    "Process groups whose last enqueued collective had not completed when the dump was written.");
    }
  }

  object root_;
  TimelineBuilder& builder_;
  RankId rank_{};
  std::uint64_t started_ = 0, scheduled_ = 0, without_time_ = 0;
  std::string first_started_, first_scheduled_, first_without_time_;
};

int recognises(std::string_view head, std::string_view) {
  const auto keys = top_level_keys(head);
  if (has_key(keys, "traceEvents") || has_key(keys, "schemaVersion")) return 0;  // Kineto's distributedInfo has a pg_config too, but deeper
  if (has_key(keys, "pg_config") && (has_key(keys, "pg_status") || has_key(keys, "entries") || has_key(keys, "nccl_version"))) return 95;
  return has_key(keys, "entries") && head.contains("\"collective_seq_id\"") && head.contains("\"process_group\"") ? 90 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions& options, TimelineBuilder& builder) {
  Result<std::string> json = read_whole(source, most_bytes);
  if (!json) return std::unexpected(std::move(json.error()));
  if (options.progress != nullptr) options.progress->add(source.raw_bytes_read());
  Rank rank;
  rank.file = source.path();
  rank.bytes = json->size();
  if (const std::string damage = source.damage(); !damage.empty())
    builder.health().repairs.add("damaged_compression", 1, damage, "The compressed file is damaged: what could be decoded was used.");
  return add_flight_recorder_dump(*json, std::move(rank), builder);
}

}  // namespace

Result<void> add_flight_recorder_dump(std::string_view json, Rank rank, TimelineBuilder& builder) {
  simdjson::dom::parser parser;
  element root;
  std::string text(json);
  if (parser.parse(text).get(root) != simdjson::SUCCESS) {
    const std::size_t kept = close_cut_text(text);
    if (kept == 0 || parser.parse(text).get(root) != simdjson::SUCCESS)
      return std::unexpected(
          Error{rank.file, kept, "flight recorder dump is no JSON, and no whole entry could be recovered", "Copy the file again, or dump it anew."});
    builder.health().repairs.add("truncated", 1, "byte " + std::to_string(kept), "The file ends in the middle: entries after the last whole one are missing.");
  }
  object fields;
  if (root.get(fields) != simdjson::SUCCESS)
    return std::unexpected(Error{rank.file, 0, "flight recorder dump is no JSON object", "Give a file that PyTorch's flight recorder wrote."});
  Dump(fields, builder, std::move(rank)).add();
  return {};
}

extern const Reader flight_recorder_reader;
const Reader flight_recorder_reader{"flight_recorder", "PyTorch flight recorder dumps", "*.json, *.pickle", recognises, read};

}  // namespace stepscope
