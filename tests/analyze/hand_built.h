// A small timeline written in a test, with facts found by plain, quadratic search: an independent reading of facts.h for the tests of questions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "timeline/builder.h"

namespace stepscope {

// Times in µs from 0; the first slice must start at 0, because a Timeline's times start there.
class HandBuilt {
 public:
  HandBuilt() : rank_(builder_.add_rank({})), device_(builder_.device(rank_, "0")) {}

  TrackId thread(std::string_view name) { return builder_.track(rank_, TrackKind::thread, "1000", name); }
  TrackId stream(std::int64_t number) { return builder_.track(rank_, TrackKind::stream, "0", std::to_string(number), device_, number); }

  SliceId slice(SliceKind kind, TrackId track, std::string_view name, double start_us, double duration_us, std::uint64_t correlation = no_number,
                std::string_view detail = {}) {
    return builder_.add_slice(kind, track, ns(start_us), ns(duration_us), builder_.names().intern(name), correlation, no_number,
                              detail.empty() ? NameId{0} : builder_.details().intern(detail));
  }
  SliceId operation(TrackId track, std::string_view name, double start_us, double duration_us, std::string_view detail = {}) {
    return slice(SliceKind::operation, track, name, start_us, duration_us, no_number, detail);
  }
  SliceId call(TrackId track, std::string_view name, double start_us, double duration_us, std::uint64_t correlation) {
    return slice(SliceKind::runtime_call, track, name, start_us, duration_us, correlation);
  }
  SliceId kernel(TrackId track, std::string_view name, double start_us, double duration_us, std::uint64_t correlation = no_number,
                 std::string_view detail = {}) {
    return slice(SliceKind::kernel, track, name, start_us, duration_us, correlation, detail);
  }
  SliceId copy(TrackId track, std::string_view name, double start_us, double duration_us, std::uint64_t correlation, std::int64_t bytes = -1) {
    const SliceId id = slice(name.starts_with("Memset") ? SliceKind::fill : SliceKind::copy, track, name, start_us, duration_us, correlation);
    if (bytes >= 0) builder_.add(TransferFact{id, bytes});
    return id;
  }
  SliceId module(TrackId track, std::string_view name, std::uint32_t number, double start_us, double duration_us) {
    const SliceId id = slice(SliceKind::python_function, track, name, start_us, duration_us);
    builder_.add(PythonFact{id, static_cast<std::uint32_t>(index(id)), 0xFFFF'FFFFu, number});
    return id;
  }
  TimelineBuilder& builder() { return builder_; }

  // Ends building; the fields below may then be changed by hand.
  void finish() {
    timeline = builder_.finish();
    const SliceColumns& s = timeline.slices;
    const std::size_t n = s.size();
    facts.activity.resize(n, ActivityClass::none);
    facts.launch.resize(n, no_id<SliceId>);
    facts.parent.resize(n, no_id<SliceId>);
    facts.operation.resize(n, no_id<SliceId>);
    facts.phase.resize(n, Phase::other);
    facts.graph_launch.resize(n, 0);
    facts.recomputed.resize(n, 0);
    facts.steps.resize(timeline.ranks.size());
    facts.api_calls.resize(timeline.names.size());
    for (std::uint32_t i = 0; i < n; ++i)
      if (is_api_call(s.kind[i])) facts.api_calls[s.name[i]] = api_call(timeline.name_of(SliceId{i}));
    find_parents();
    find_launches();
    find_operations();
    DeviceFacts device;
    device.device = device_;
    for (std::uint32_t i = 0; i < n; ++i)
      if (is_device_activity(s.kind[i])) device.slices.push_back(SliceId{i});
    std::ranges::stable_sort(device.slices, {}, [&](SliceId id) { return s.start[id]; });
    facts.devices.push_back(std::move(device));
  }

  Scene rank_scene() const {
    return {.timeline = timeline, .facts = facts, .rank = rank_, .device = nullptr, .gpu = nullptr, .window = {}, .whole_capture = true};
  }
  Scene device_scene() const {
    Scene scene = rank_scene();
    scene.device = &facts.devices.front();
    return scene;
  }

  Timeline timeline;
  Facts facts;

 private:
  static Nanoseconds ns(double us) { return static_cast<Nanoseconds>(us * 1000 + 0.5); }

  // The enclosing slice: the last one in the thread's order that starts before and ends no more than 1 µs before this one's end.
  void find_parents() {
    const SliceColumns& s = timeline.slices;
    for (std::uint32_t track = 0; track < timeline.tracks.size(); ++track) {
      if (timeline.tracks[track].kind != TrackKind::thread) continue;
      const auto slices = timeline.on_track(TrackId{track});
      for (std::size_t i = 0; i < slices.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (s.end(slices[j]) > s.start[slices[i]] && s.end(slices[j]) + 1000 >= s.end(slices[i]) && !is_api_call(s.kind[slices[j]]))
            facts.parent[slices[i]] = slices[j];
    }
  }

  void find_launches() {
    const SliceColumns& s = timeline.slices;
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      if (is_api_call(s.kind[i])) {
        const std::string_view name = timeline.name_of(SliceId{i});
        facts.graph_launch[i] = name.find("GraphLaunch") != std::string_view::npos;
        bool launches =
            name.find("Launch") != std::string_view::npos || name.find("Memcpy") != std::string_view::npos || name.find("Memset") != std::string_view::npos;
        bool recorded = false;
        for (std::uint32_t j = 0; j < s.size(); ++j) recorded |= is_device_activity(s.kind[j]) && s.correlation[j] == s.correlation[i];
        facts.launches_seen += launches;
        if (launches && !recorded) {
          ++facts.launches_without_record;
          facts.unrecorded_launches.push_back(SliceId{i});
        }
      }
      if (!is_device_activity(s.kind[i])) continue;
      const std::string_view name = timeline.name_of(SliceId{i});
      facts.activity[i] = s.kind[i] != SliceKind::kernel ? ActivityClass::memory
                          : name.find("nccl") != std::string_view::npos || name.find("all_reduce") != std::string_view::npos || name.starts_with("deep_ep")
                              ? ActivityClass::communication
                              : ActivityClass::compute;
      if (s.correlation[i] == no_number) continue;
      for (std::uint32_t j = 0; j < s.size(); ++j) {
        const SliceId launch = facts.launch[i];
        if (is_api_call(s.kind[j]) && s.correlation[j] == s.correlation[i] && (launch == no_id<SliceId> || s.start[j] < s.start[launch]))
          facts.launch[i] = SliceId{j};
      }
    }
  }

  void find_operations() {
    const SliceColumns& s = timeline.slices;
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      const SliceId from = is_device_activity(s.kind[i]) ? facts.launch[i] : SliceId{i};
      if (from == no_id<SliceId>) continue;
      for (SliceId up = facts.parent[from]; up != no_id<SliceId> && facts.operation[i] == no_id<SliceId>; up = facts.parent[up])
        if (s.kind[up] == SliceKind::operation) facts.operation[i] = up;
    }
  }

  TimelineBuilder builder_;
  RankId rank_;
  DeviceId device_;
};

// Reading cells in expectations.
inline std::int64_t whole_of(const Value& value) {
  return std::get<std::int64_t>(value);
}
inline double real_of(const Value& value) {
  return std::get<double>(value);
}
inline const std::string& text_of(const Value& value) {
  return std::get<std::string>(value);
}

inline std::size_t column_of(const Table& table, std::string_view key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].key == key) return i;
  throw std::out_of_range("no column " + std::string(key));
}
// The cell of a column in the first row whose first column holds `row`.
inline const Value& cell(const Table& table, std::string_view row, std::string_view column) {
  for (const auto& values : table.rows)
    if (const auto* name = std::get_if<std::string>(&values[0]); name != nullptr && *name == row) return values[column_of(table, column)];
  throw std::out_of_range("no row " + std::string(row));
}
inline std::int64_t sum_of(const Table& table, std::string_view column) {
  std::int64_t sum = 0;
  for (const auto& row : table.rows)
    if (const auto* number = std::get_if<std::int64_t>(&row[column_of(table, column)])) sum += *number;
  return sum;
}

}  // namespace stepscope
