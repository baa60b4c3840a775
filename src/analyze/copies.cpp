// Memory copies and fills on a device, by direction and by the kind of memory at each end: "Memcpy HtoD (Pinned -> Device)".
//
// Rate = bytes / summed duration, in 1e9 bytes per second, over the slices whose bytes were recorded; absent where none were.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyze/question.h"
#include "analyze/value.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

struct Kind {
  bool fill = false;
  std::string direction;  // "HtoD"; "" = not said
  std::string from, to;   // "Pinned", "Pageable", "Device", "Host", …; "" = not said
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

struct Row {
  Kind kind;
  std::int64_t count = 0, with_bytes = 0, bytes = 0;
  Nanoseconds total = 0, total_with_bytes = 0;
};

// "Memcpy HtoD (Pinned -> Device)", "Memset (Device)". The direction may also stand in the argument "kind".
Kind kind_of(std::string_view name, std::string_view detail, bool fill) {
  Kind kind{.fill = fill, .direction = {}, .from = {}, .to = {}};
  const std::size_t open = name.find(" ("), close = name.rfind(')');
  if (const std::size_t blank = name.find(' '); !fill && blank != std::string_view::npos && blank + 1 < name.size() && blank < open)
    kind.direction = name.substr(blank + 1, open == std::string_view::npos ? open : open - blank - 1);
  if (open != std::string_view::npos && close != std::string_view::npos && close > open + 2) {
    const std::string_view ends = name.substr(open + 2, close - open - 2);
    const std::size_t arrow = ends.find(" -> ");
    if (arrow == std::string_view::npos) {
      kind.to = ends;
    } else {
      kind.from = ends.substr(0, arrow);
      kind.to = ends.substr(arrow + 4);
    }
  }
  if (!fill && kind.direction.empty())
    if (const auto recorded = recorded_argument(detail, "kind")) kind.direction = *recorded;
  return kind;
}

// Bytes of a slice; −1 = not recorded.
std::int64_t bytes_of(const Timeline& timeline, SliceId id) {
  const auto found = std::ranges::lower_bound(timeline.transfers, id, {}, &TransferFact::slice);
  return found != timeline.transfers.end() && found->slice == id ? found->bytes : -1;
}

std::vector<Row> rows_of(const Scene& scene) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  constexpr std::uint32_t unseen = 0xFFFF'FFFFu;
  std::vector<Row> rows;
  std::vector<std::uint32_t> row_of_name(timeline.names.size(), unseen);
  for (const SliceId id : scene.device_slices()) {
    if (s.kind[id] != SliceKind::copy && s.kind[id] != SliceKind::fill) continue;
    std::uint32_t& place = row_of_name[index(s.name[id])];
    if (place == unseen) {
      const Kind kind = kind_of(timeline.name_of(id), timeline.detail_of(id), s.kind[id] == SliceKind::fill);
      const auto same = std::ranges::find(rows, kind, &Row::kind);
      place = static_cast<std::uint32_t>(same - rows.begin());
      if (same == rows.end()) rows.push_back({.kind = kind});
    }
    Row& row = rows[place];
    ++row.count;
    row.total += s.duration[id];
    if (const std::int64_t bytes = bytes_of(timeline, id); bytes >= 0) {
      ++row.with_bytes;
      row.bytes += bytes;
      row.total_with_bytes += s.duration[id];
    }
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) { return a.total != b.total ? a.total > b.total : a.kind < b.kind; });
  return rows;
}

std::vector<Section> answer_copies(const Scene& scene) {
  const std::vector<Row> rows = rows_of(scene);
  if (rows.empty()) return {};
  Row all;
  for (const Row& row : rows) {
    all.count += row.count;
    all.with_bytes += row.with_bytes;
    all.bytes += row.bytes;
    all.total += row.total;
    all.total_with_bytes += row.total_with_bytes;
  }
  Section section{.key = "copies", .title = "Copies and fills", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 58};
  Table table{.key = "by_kind",
              .title = "By direction and memory",
              .columns = {{"operation", "Operation"},
                          {"direction", "Direction"},
                          {"from", "From"},
                          {"to", "To"},
                          {"count", "Count", Unit::count},
                          {"bytes", "Bytes", Unit::bytes},
                          {"total_ns", "Time", Unit::nanoseconds},
                          {"rate_bytes_per_s", "Rate", Unit::bytes_per_second},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  const auto or_absent = [](const std::string& words) {
    Value value;
    if (!words.empty()) value = words;
    return value;
  };
  for (const Row& row : rows)
    table.rows.push_back({text(row.kind.fill ? "fill" : "copy"), or_absent(row.kind.direction), or_absent(row.kind.from), or_absent(row.kind.to),
                          whole(row.count), whole_if(row.with_bytes != 0, row.bytes), whole(row.total),
                          per_second(row.with_bytes != 0 ? static_cast<double>(row.bytes) : 0.0, row.total_with_bytes), share(row.total, all.total)});
  section.tables.push_back(std::move(table));
  section.figures = {{"count", "Copies and fills", Unit::count, whole(all.count)},
                     {"total_ns", "Time, summed", Unit::nanoseconds, whole(all.total)},
                     {"bytes", "Bytes", Unit::bytes, whole_if(all.with_bytes != 0, all.bytes)}};
  section.summary = fmt::format("{} copies and fills take {}, summed.", all.count, format_duration(all.total));
  if (all.with_bytes != all.count)
    section.caveats.push_back(fmt::format("{} of {} copies and fills have no byte count in this capture: bytes and rates speak of the others.",
                                          all.count - all.with_bytes, all.count));
  return {std::move(section)};
}

}  // namespace

extern const Question copies_question;
const Question copies_question{"copies", "What was copied or filled, between which memories, how fast?", Scope::device, answer_copies};

}  // namespace stepscope
