// How much launched work waits for each stream: the host's lead over the device.
//
// Queue length of a stream = launches begun whose (first) slice has not started yet: +1 at the start of the launch call, −1 at the start of its first slice
// on that stream. The mean is weighted by time, from the first launch to the last slice's start (or over the chosen steps). A graph launch counts once.
// Launches without a device record and slices without a launch record are not in it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyze/question.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

// CUDA's queue of a stream holds this many launches: the next launch call blocks until one starts.
constexpr std::int64_t full_queue = 1024;

struct Stream {
  std::int64_t number = -1;
  std::vector<Nanoseconds> arrivals, departures;
  SliceId last_launch = no_id<SliceId>;
};

struct Lengths {
  Interval over;
  double length_time = 0;  // launches · ns
  std::int64_t longest = 0;
  Nanoseconds empty = 0, full = 0;
};

Lengths measure(Stream& stream, const Interval* window) {
  for (auto* times : {&stream.arrivals, &stream.departures})
    if (!std::ranges::is_sorted(*times)) std::ranges::sort(*times);
  Lengths result;
  result.over = window != nullptr ? *window : Interval{stream.arrivals.front(), std::max(stream.arrivals.back(), stream.departures.back())};
  std::size_t arrived = 0, departed = 0;
  const std::size_t count = stream.arrivals.size();
  Nanoseconds now = result.over.begin;
  while (now < result.over.end) {
    while (arrived < count && stream.arrivals[arrived] <= now) ++arrived;
    while (departed < count && stream.departures[departed] <= now) ++departed;
    Nanoseconds next = result.over.end;
    if (arrived < count) next = std::min(next, stream.arrivals[arrived]);
    if (departed < count) next = std::min(next, stream.departures[departed]);
    const auto length = static_cast<std::int64_t>(arrived - departed);
    const Nanoseconds time = next - now;
    result.length_time += static_cast<double>(length) * static_cast<double>(time);
    result.longest = std::max(result.longest, length);
    if (length == 0) result.empty += time;
    if (length >= full_queue) result.full += time;
    now = next;
  }
  return result;
}

std::vector<Stream> streams_of(const Scene& scene) {
  const SliceColumns& s = scene.timeline.slices;
  constexpr std::uint32_t unseen = 0xFFFF'FFFFu;
  std::vector<std::uint32_t> stream_of_track(scene.timeline.tracks.size(), unseen);
  std::vector<Stream> streams;
  for (const SliceId id : scene.device->slices) {
    const SliceId launch = scene.facts.launch[id];
    if (launch == no_id<SliceId>) continue;
    std::uint32_t& place = stream_of_track[index(s.track[id])];
    if (place == unseen) {
      place = static_cast<std::uint32_t>(streams.size());
      streams.push_back({.number = scene.timeline.track_of(id).stream, .arrivals = {}, .departures = {}});
    }
    Stream& stream = streams[place];
    if (launch == stream.last_launch) continue;
    stream.last_launch = launch;
    stream.arrivals.push_back(s.start[launch]);
    stream.departures.push_back(std::max(s.start[launch], s.start[id]));
  }
  std::ranges::stable_sort(streams, [](const Stream& a, const Stream& b) { return a.arrivals.size() > b.arrivals.size(); });
  return streams;
}

std::vector<Section> answer_queue(const Scene& scene) {
  std::vector<Stream> streams = streams_of(scene);
  Section section{.key = "queue", .title = "Launch queue", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 60};
  Table table{.key = "streams",
              .title = "Launches waiting, by stream",
              .columns = {{"stream", "Stream"},
                          {"launches", "Launches", Unit::count},
                          {"mean_length", "Mean length"},
                          {"max_length", "Longest"},
                          {"empty_ns", "Empty", Unit::nanoseconds},
                          {"empty_share", "Empty", Unit::ratio},
                          {"full_ns", "Full", Unit::nanoseconds}},
              .rows = {}};
  Nanoseconds full = 0;
  std::int64_t longest = 0;
  for (Stream& stream : streams) {
    const auto launches =
        static_cast<std::int64_t>(std::ranges::count_if(stream.arrivals, [&](Nanoseconds t) { return scene.whole_capture || scene.window.contains(t); }));
    const Lengths lengths = measure(stream, scene.whole_capture ? nullptr : &scene.window);
    if (launches == 0 && lengths.longest == 0) continue;
    const Nanoseconds time = lengths.over.length();
    full = std::max(full, lengths.full);
    longest = std::max(longest, lengths.longest);
    table.rows.push_back({whole(stream.number), whole(launches), time > 0 ? Value{lengths.length_time / static_cast<double>(time)} : absent(),
                          whole(lengths.longest), whole(lengths.empty), share(lengths.empty, time), whole(lengths.full)});
    if (section.summary.empty() && time > 0)
      section.summary =
          fmt::format("On the busiest stream ({}), {:.1f} launches wait on average, at most {}; it is empty {:.0f} % of the time.", stream.number,
                      lengths.length_time / static_cast<double>(time), lengths.longest, 100.0 * static_cast<double>(lengths.empty) / static_cast<double>(time));
  }
  if (table.rows.empty()) return {};
  section.figures = {{"full_ns", "Longest time at a full queue", Unit::nanoseconds, whole(full)}};
  section.tables.push_back(std::move(table));
  // A queue that holds clearly more than CUDA's is another one (AMD's is larger): nothing blocked there.
  if (full > 0 && longest <= full_queue + full_queue / 16)
    section.caveats.push_back(
        fmt::format("For {}, {} launches waited: the queue was full, and further launch calls blocked until one started. Their cost then is waiting, not work.",
                    format_duration(full), full_queue));
  else if (full > 0)
    section.caveats.push_back(
        fmt::format("Up to {} launches waited: the limit of {} at which CUDA's launch calls block does not hold for this device.", longest, full_queue));
  return {std::move(section)};
}

}  // namespace

extern const Question queue_question;
const Question queue_question{"queue", "How far does the host run ahead of each stream?", Scope::device, answer_queue};

}  // namespace stepscope
