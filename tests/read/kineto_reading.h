// Reading text as a Kineto file, and telling two Timelines apart, for the tests of the reader.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "read/kineto.h"
#include "timeline/builder.h"
#include "timeline/check.h"

namespace stepscope::test {

inline std::filesystem::path shared_folder() {
  return STEPSCOPE_SHARED_DIR;
}

inline Result<Timeline> try_read(std::string_view text, const KinetoTuning& tuning = {}, int threads = 1) {
  const auto source = open_memory(text, "memory.json");
  TimelineBuilder builder;
  if (const auto done = read_kineto(*source, ReadOptions{.threads = threads}, tuning, builder); !done) return std::unexpected(done.error());
  return builder.finish();
}

inline Timeline read_text(std::string_view text, const KinetoTuning& tuning = {}, int threads = 1) {
  auto timeline = try_read(text, tuning, threads);
  if (!timeline) {
    ADD_FAILURE() << timeline.error().message();
    return {};
  }
  EXPECT_EQ(check(*timeline), std::vector<std::string>{});
  return std::move(*timeline);
}

inline Timeline read_file(const std::filesystem::path& path, const KinetoTuning& tuning = {}, int threads = 1) {
  const auto source = open_bytes(path.string());
  TimelineBuilder builder;
  if (!source) {
    ADD_FAILURE() << source.error().message();
    return {};
  }
  if (const auto done = read_kineto(**source, ReadOptions{.threads = threads}, tuning, builder); !done) ADD_FAILURE() << done.error().message();
  Timeline timeline = builder.finish();
  EXPECT_EQ(check(timeline), std::vector<std::string>{}) << path;
  return timeline;
}

// The whole decoded content of a file.
inline std::string content_of(const std::filesystem::path& path) {
  const auto source = open_bytes(path.string());
  std::string content;
  if (!source) return content;
  std::string block(1 << 20, '\0');
  for (;;) {
    const auto count = (*source)->read(block);
    if (!count || *count == 0) return content;
    content.append(block.data(), *count);
  }
}

// Events in the object form.
inline std::string as_trace(std::string_view events) {
  return fmt::format("{{\"traceEvents\": [{}]}}", events);
}

namespace detail {

template <class T>
std::string column_difference(std::string_view name, const Column<T>& a, const Column<T>& b, auto same) {
  if (a.size() != b.size()) return fmt::format("{}: {} rows and {}", name, a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return fmt::format("{}: row {}", name, i);
  return "";
}

template <class T>
std::string column_difference(std::string_view name, const Column<T>& a, const Column<T>& b) {
  return column_difference(name, a, b, [](const T& x, const T& y) { return x == y; });
}

inline std::string names_difference(std::string_view name, const NameTable& a, const NameTable& b) {
  if (a.size() != b.size()) return fmt::format("{}: {} and {}", name, a.size(), b.size());
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a[NameId{i}] != b[NameId{i}]) return fmt::format("{}: {} is '{}' and '{}'", name, i, a[NameId{i}], b[NameId{i}]);
  return "";
}

inline std::string health_difference(std::string_view name, const HealthList& a, const HealthList& b) {
  if (a.items().size() != b.items().size()) return fmt::format("{}: {} items and {}", name, a.items().size(), b.items().size());
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    const HealthItem &x = a.items()[i], &y = b.items()[i];
    if (x.kind != y.kind || x.count != y.count || x.where != y.where)
      return fmt::format("{}: {} {} {}, and {} {} {}", name, x.kind, x.count, x.where, y.kind, y.count, y.where);
  }
  return "";
}

}  // namespace detail

// "" where the Timelines are the same to the last id; else the first difference.
inline std::string difference(const Timeline& a, const Timeline& b) {
  using detail::column_difference;
  const SliceColumns &s = a.slices, &t = b.slices;
  for (const std::string& found :
       {detail::names_difference("names", a.names, b.names),
        detail::names_difference("details", a.details, b.details),
        column_difference("start", s.start, t.start),
        column_difference("duration", s.duration, t.duration),
        column_difference("name", s.name, t.name),
        column_difference("track", s.track, t.track),
        column_difference("kind", s.kind, t.kind),
        column_difference("correlation", s.correlation, t.correlation),
        column_difference("external", s.external, t.external),
        column_difference("detail", s.detail, t.detail),
        column_difference("order", a.order, b.order),
        column_difference("first", a.first, b.first),
        column_difference("sequences", a.sequences, b.sequences,
                          [](const SequenceFact& x, const SequenceFact& y) {
                            return x.slice == y.slice && x.sequence == y.sequence && x.forward_thread == y.forward_thread;
                          }),
        column_difference(
            "python", a.python, b.python,
            [](const PythonFact& x, const PythonFact& y) { return x.slice == y.slice && x.id == y.id && x.parent == y.parent && x.module == y.module; }),
        column_difference("transfers", a.transfers, b.transfers,
                          [](const TransferFact& x, const TransferFact& y) { return x.slice == y.slice && x.bytes == y.bytes; }),
        column_difference("syncs", a.syncs, b.syncs,
                          [](const SyncFact& x, const SyncFact& y) {
                            return x.slice == y.slice && x.wait_on_stream == y.wait_on_stream && x.wait_on_record_correlation == y.wait_on_record_correlation;
                          }),
        column_difference("flows", a.flows, b.flows,
                          [](const FlowEnd& x, const FlowEnd& y) {
                            return x.id == y.id && x.time == y.time && x.track == y.track && x.kind == y.kind && x.starts == y.starts;
                          }),
        column_difference("memory", a.memory, b.memory,
                          [](const MemoryEvent& x, const MemoryEvent& y) {
                            return x.time == y.time && x.track == y.track && x.device_type == y.device_type && x.device == y.device && x.address == y.address &&
                                   x.bytes == y.bytes && x.total_allocated == y.total_allocated && x.total_reserved == y.total_reserved;
                          }),
        column_difference(
            "counters", a.counters, b.counters,
            [](const CounterSample& x, const CounterSample& y) { return x.time == y.time && x.track == y.track && x.name == y.name && x.value == y.value; }),
        column_difference(
            "instants", a.instants, b.instants,
            [](const Instant& x, const Instant& y) { return x.time == y.time && x.track == y.track && x.name == y.name && x.detail == y.detail; }),
        detail::health_difference("repairs", a.health.repairs, b.health.repairs),
        detail::health_difference("notes", a.health.notes, b.health.notes)})
    if (!found.empty()) return found;
  if (a.origin_ns != b.origin_ns) return "origin";
  if (a.tracks.size() != b.tracks.size() || a.devices.size() != b.devices.size() || a.ranks.size() != b.ranks.size())
    return "numbers of tracks, devices or ranks";
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    const Track &x = a.tracks[i], &y = b.tracks[i];
    if (x.kind != y.kind || x.process != y.process || x.thread != y.thread || x.owner_process != y.owner_process || x.device != y.device ||
        x.stream != y.stream || x.label != y.label || x.sort_index != y.sort_index)
      return fmt::format("track {}", i);
  }
  for (std::size_t i = 0; i < a.devices.size(); ++i)
    if (a.devices[i].label != b.devices[i].label || a.devices[i].has_slices != b.devices[i].has_slices || a.devices[i].gpu_name != b.devices[i].gpu_name)
      return fmt::format("device {}", i);
  for (std::size_t i = 0; i < a.ranks.size(); ++i)
    if (a.ranks[i].events != b.ranks[i].events || a.ranks[i].bytes != b.ranks[i].bytes || a.ranks[i].number != b.ranks[i].number)
      return fmt::format("rank {}", i);
  return "";
}

}  // namespace stepscope::test
