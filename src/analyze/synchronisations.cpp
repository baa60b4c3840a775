// Calls in which a CPU thread waits for the device, how long, and which operator and which line of Python made it wait.
//
// Counted: explicit synchronisation (…Synchronize), copies that block by their contract (cudaMemcpy, hipMemcpyWithStream, …), asynchronous copies from or
// to pageable memory that returned only after the copy was done, and frees that wait for the device. Of nested calls the outermost counts. Time blocked =
// the call's duration; on a launching thread (one that launches device work) it holds the next launch back, elsewhere it need not cost anything.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "analyze/question.h"
#include "analyze/rank_rows.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

bool contains(std::string_view words, std::string_view part) {
  return words.find(part) != std::string_view::npos;
}

// Frees that wait for the device: a property of these calls that Facts::api_calls does not speak of.
bool frees_memory(std::string_view call) {
  return call == "cudaFree" || call == "cudaFreeHost" || call == "hipFree" || call == "hipHostFree" || call == "hipFreeHost" || call == "cuMemFree_v2" ||
         call == "cuMemFreeHost";
}

// Rows of API calls that block; calls that launched a copy with pageable memory and returned after its end are found through the copies.
std::vector<SliceId> blocking_calls(const Scene& scene) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  const Interval window = scene.window;
  const auto counts = [&](SliceId id) { return timeline.track_of(id).rank == scene.rank && (scene.whole_capture || window.contains(s.start[id])); };

  enum : std::uint8_t { unknown, blocks, passes };
  std::vector<std::uint8_t> by_name(timeline.names.size(), unknown);
  std::vector<SliceId> calls;
  const auto is_blocking = [&](SliceId id) {
    if (!is_api_call(s.kind[id])) return false;
    std::uint8_t& known = by_name[index(s.name[id])];
    if (known == unknown) known = scene.facts.api_calls[s.name[id]].blocks || frees_memory(timeline.name_of(id)) ? blocks : passes;
    return known == blocks;
  };
  const RowRange rows = rows_of_rank(scene);
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const SliceId id{static_cast<std::uint32_t>(row)};
    if (!is_blocking(id) || !counts(id)) continue;
    const SliceId parent = scene.facts.parent[id];
    if (parent == no_id<SliceId> || !is_blocking(parent)) calls.push_back(id);
  }
  for (const DeviceFacts& device : scene.facts.devices) {
    if (device.rank != scene.rank) continue;
    for (const SliceId id : device.slices) {
      if (s.kind[id] != SliceKind::copy) continue;
      const SliceId call = scene.facts.launch[id];
      if (call == no_id<SliceId> || is_blocking(call) || !counts(call)) continue;
      if (s.end(id) <= s.end(call) && contains(timeline.name_of(id), "Pageable")) calls.push_back(call);
    }
  }
  std::ranges::sort(calls);
  const auto doubles = std::ranges::unique(calls);
  calls.erase(doubles.begin(), doubles.end());
  return calls;
}

// Threads of the rank that launch device work, by track.
std::vector<bool> launching_threads(const Scene& scene) {
  std::vector<bool> launches(scene.timeline.tracks.size(), false);
  const auto mark = [&](SliceId call) { launches[index(scene.timeline.slices.track[call])] = true; };
  for (const DeviceFacts& device : scene.facts.devices) {
    if (device.rank != scene.rank) continue;
    for (const SliceId id : device.slices)
      if (const SliceId call = scene.facts.launch[id]; call != no_id<SliceId>) mark(call);
  }
  for (const SliceId call : scene.facts.unrecorded_launches) mark(call);
  return launches;
}

// What made a thread wait: the names of the innermost and the outermost operator around the call, and the innermost Python function of the user's.
struct Cause {
  NameId operation{}, outermost{}, caller{}, call{};
  friend auto operator<=>(const Cause&, const Cause&) = default;
};

bool is_users_function(std::string_view frame) {
  return !frame.starts_with("<") && !frame.starts_with("torch/") && !contains(frame, "/site-packages/torch/") && !contains(frame, "/dist-packages/torch/") &&
         !frame.starts_with("nn.Module: ");
}

Cause cause_of(const Scene& scene, SliceId call) {
  const SliceColumns& s = scene.timeline.slices;
  Cause cause;
  cause.call = s.name[call];
  if (const SliceId operation = scene.facts.operation[call]; operation != no_id<SliceId>) cause.operation = cause.outermost = s.name[operation];
  for (SliceId up = scene.facts.parent[call]; up != no_id<SliceId>; up = scene.facts.parent[up]) {
    if (s.kind[up] == SliceKind::operation) cause.outermost = s.name[up];
    if (s.kind[up] == SliceKind::python_function && cause.caller == NameId{0} && is_users_function(scene.timeline.name_of(up))) cause.caller = s.name[up];
  }
  return cause;
}

struct Blocked {
  std::int64_t count = 0;
  Nanoseconds total = 0, longest = 0, launching = 0;
  void add(Nanoseconds duration, bool on_launching_thread) {
    ++count;
    total += duration;
    longest = std::max(longest, duration);
    if (on_launching_thread) launching += duration;
  }
};

template <class Key>
std::vector<std::pair<Key, Blocked>> by_time(const std::map<Key, Blocked>& sums) {
  std::vector<std::pair<Key, Blocked>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(
      rows, [](const auto& a, const auto& b) { return std::pair(a.second.launching, a.second.total) > std::pair(b.second.launching, b.second.total); });
  return rows;
}

void add_cells(std::vector<Value>& row, const Blocked& blocked) {
  for (const std::int64_t cell : {blocked.count, blocked.total, blocked.longest, blocked.launching}) row.push_back(whole(cell));
}

std::vector<Section> answer_synchronisations(const Scene& scene) {
  const Timeline& timeline = scene.timeline;
  const std::vector<SliceId> calls = blocking_calls(scene);
  if (calls.empty()) return {};
  const std::vector<bool> launching = launching_threads(scene);
  std::map<NameId, Blocked> by_call;
  std::map<Cause, Blocked> by_cause;
  Blocked all;
  for (const SliceId call : calls) {
    const Nanoseconds duration = timeline.slices.duration[call];
    const bool on_launching_thread = launching[index(timeline.slices.track[call])];
    all.add(duration, on_launching_thread);
    by_call[timeline.slices.name[call]].add(duration, on_launching_thread);
    by_cause[cause_of(scene, call)].add(duration, on_launching_thread);
  }

  Section section{.key = "synchronisations", .title = "Synchronisations", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 50};
  section.figures = {{"count", "Blocking calls", Unit::count, whole(all.count)},
                     {"blocked_ns", "Time blocked", Unit::nanoseconds, whole(all.total)},
                     {"launching_blocked_ns", "of that, on launching threads", Unit::nanoseconds, whole(all.launching)}};
  const std::vector<ColumnHeader> counts = {{"count", "Count", Unit::count},
                                            {"blocked_ns", "Blocked", Unit::nanoseconds},
                                            {"longest_ns", "Longest", Unit::nanoseconds, false},
                                            {"launching_blocked_ns", "Launching thread", Unit::nanoseconds}};
  Table calls_table{.key = "by_call", .title = "By call", .columns = {{"call", "Call"}}, .rows = {}};
  calls_table.columns.insert(calls_table.columns.end(), counts.begin(), counts.end());
  for (const auto& [name, blocked] : by_time(by_call)) {
    calls_table.rows.push_back({text(timeline.names[name])});
    add_cells(calls_table.rows.back(), blocked);
  }
  const auto name_or_absent = [&](NameId name) {
    Value value;
    if (name != NameId{0}) value = std::string(timeline.names[name]);
    return value;
  };
  Table causes_table{.key = "by_operator",
                     .title = "By the operator that waited",
                     .columns = {{"operator", "Operator"}, {"outermost", "Within"}, {"caller", "Called from", Unit::none, false}, {"call", "Call"}},
                     .rows = {}};
  causes_table.columns.insert(causes_table.columns.end(), counts.begin(), counts.end());
  for (const auto& [cause, blocked] : by_time(by_cause)) {
    causes_table.rows.push_back({name_or_absent(cause.operation), name_or_absent(cause.outermost), name_or_absent(cause.caller), name_or_absent(cause.call)});
    add_cells(causes_table.rows.back(), blocked);
  }
  const std::vector<Value>& worst = causes_table.rows.front();
  const auto* worst_operator = std::get_if<std::string>(&worst[1]);
  const std::string elsewhere = all.launching == all.total ? "" : fmt::format(" ({} of it on launching threads)", format_duration(all.launching));
  section.summary = fmt::format("Blocking calls take {}{}, most of it in {}.", format_duration(all.total), elsewhere,
                                worst_operator != nullptr ? *worst_operator : timeline.names[by_time(by_call).front().first]);
  section.tables.push_back(std::move(calls_table));
  section.tables.push_back(std::move(causes_table));
  return {std::move(section)};
}

}  // namespace

extern const Question synchronisations_question;
const Question synchronisations_question{"synchronisations", "Where does the host wait for the device, and what made it wait?", Scope::rank,
                                         answer_synchronisations};

}  // namespace stepscope
