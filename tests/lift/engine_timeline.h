// Writes a run of a Program as a Kineto trace would hold it: operators, calls with correlation ids, device slices, synchronisation records, step annotations.
// What no profiler records (signals between threads, latencies, which work waits for which) is not in it.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "engine.h"
#include "facts/facts.h"
#include "timeline/builder.h"

namespace stepscope {

// What a slice stands for in the program, the same in every run of it.
struct SliceOrigin {
  std::uint32_t rank = 0, thread = 0, row = 0;  // thread: of an action; no_thread = row is a device work
  bool record = false;                          // of a synchronisation, on the device's rows
  auto operator<=>(const SliceOrigin&) const = default;
};
inline constexpr std::uint32_t no_thread = 0xFFFF'FFFFu;

struct WrittenRun {
  Timeline timeline;
  Facts facts;
  std::vector<SliceOrigin> origins;  // per slice
  std::map<SliceOrigin, SliceId> slices;
};

class RunWriter {
 public:
  static WrittenRun write(const Program& program, const std::vector<RankRun>& run) {
    RunWriter writer;
    for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) writer.write_rank(program, run, rank);
    WrittenRun written{.timeline = writer.builder_.finish(), .facts = {}, .origins = std::move(writer.origins_), .slices = {}};
    for (std::uint32_t row = 0; row < written.origins.size(); ++row) written.slices[written.origins[row]] = SliceId{row};
    written.facts = derive(written.timeline, {});
    return written;
  }

 private:
  void write_rank(const Program& program, const std::vector<RankRun>& runs, std::uint32_t number) {
    const RankProgram& rank = program.ranks[number];
    const RankRun& run = runs[number];
    const RankId id = builder_.add_rank({});
    builder_.rank(id).number = number;
    builder_.rank(id).world_size = static_cast<std::int64_t>(program.ranks.size());
    builder_.rank(id).file = fmt::format("rank{}.json", number);
    const std::string process = fmt::format("{}", 1000 + number), device_label = fmt::format("{}", number);
    const DeviceId device = builder_.device(id, device_label);
    const auto stream_track = [&](std::int64_t stream) {
      const TrackId track = builder_.track(id, TrackKind::stream, device_label, std::to_string(stream), device, stream);
      builder_.track(track).owner_process = builder_.names().intern(process);
      return track;
    };
    std::uint64_t correlation = 0, external = 0;
    std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> recorded;  // of an event: the record's correlation id and its stream
    for (std::size_t t = 0; t < rank.threads.size(); ++t) {
      const TrackId thread = builder_.track(id, TrackKind::thread, process, std::to_string(1000 + number + 7 * t));
      const auto& actions = rank.threads[t];
      std::vector<std::uint64_t> open;
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const Action& action = actions[i];
        const Interval when = run.actions[t][i];
        if (action.removed) continue;
        const std::int64_t stream = rank.streams[action.stream];
        SliceOrigin origin{.rank = number, .thread = static_cast<std::uint32_t>(t), .row = static_cast<std::uint32_t>(i)};
        const auto slice = [&](SliceKind kind, TrackId track, std::string_view name, Interval interval, std::uint64_t own, NameId detail = NameId{0}) {
          origins_.push_back(origin);
          return builder_.add_slice(kind, track, interval.begin, interval.length(), builder_.names().intern(name), own, open.empty() ? no_number : open.back(),
                                    detail);
        };
        const auto call = [&](std::string_view name) { slice(SliceKind::runtime_call, thread, name, when, ++correlation); };
        const auto end_of = [&](Do begins, Do ends) {
          int depth = 0;
          for (std::size_t j = i;; ++j)
            if (actions[j].what == begins)
              ++depth;
            else if (actions[j].what == ends && --depth == 0)
              return run.actions[t][j].end;
        };
        // A record of the device about a wait, inside the call.
        const auto sync = [&](std::string_view name, std::int64_t on, std::int64_t waited_stream, std::uint64_t record) {
          origin.record = true;
          const Interval inside{when.begin + when.length() / 10, when.end - when.length() / 10};
          builder_.add(SyncFact{slice(SliceKind::device_sync, stream_track(on), name, inside, correlation), waited_stream, record});
        };
        const auto works = [&] {
          for (std::uint32_t w = action.first_work; w < action.first_work + action.works; ++w) {
            const DeviceWork& work = rank.works[w];
            origin = {.rank = number, .thread = no_thread, .row = w};
            slice(work.kind, stream_track(rank.streams[work.stream]), work.name, run.works[w], correlation, detail_of(program, work));
          }
        };
        switch (action.what) {
          case Do::enter: {
            open.push_back(++external);
            const SliceId op =
                slice(action.annotation ? SliceKind::annotation : SliceKind::operation, thread, action.name, {when.begin, end_of(Do::enter, Do::leave)},
                      no_number, action.shapes.empty() ? NameId{0} : builder_.details().intern(action.shapes));
            if (action.sequence >= 0) builder_.add(SequenceFact{op, action.sequence, action.backward ? 1u : 0u});
            break;
          }
          case Do::leave:
            open.pop_back();
            break;
          case Do::launch:
            call(action.works > 1                                        ? "cudaGraphLaunch"
                 : rank.works[action.first_work].kind == SliceKind::copy ? "cudaMemcpyAsync"
                 : rank.works[action.first_work].kind == SliceKind::fill ? "cudaMemsetAsync"
                                                                         : "cudaLaunchKernel");
            works();
            break;
          case Do::blocking_copy:
            call("cudaMemcpy"), works();
            break;
          case Do::record:
            call("cudaEventRecord"), recorded[action.number] = {correlation, stream};
            break;
          case Do::wait:
            call("cudaStreamWaitEvent");
            if (const auto event = recorded.find(action.number); event != recorded.end())  // an edit may record it later: nobody lifts that run
              sync("Stream Wait Event", stream, event->second.second, event->second.first);
            break;
          case Do::sync_stream:
            call("cudaStreamSynchronize"), sync("Stream Sync", stream, -1, no_number);
            break;
          case Do::sync_event:
            call("cudaEventSynchronize");
            if (const auto event = recorded.find(action.number); event != recorded.end()) sync("Event Sync", -1, event->second.second, event->second.first);
            break;
          case Do::sync_device:
            call("cudaDeviceSynchronize"), sync("Context Sync", -1, -1, no_number);
            break;
          case Do::begin_step:
            slice(SliceKind::annotation, thread, fmt::format("ProfilerStep#{}", action.number), {when.begin, end_of(Do::begin_step, Do::end_step)}, no_number);
            break;
          default:
            break;
        }
      }
    }
  }

  NameId detail_of(const Program& program, const DeviceWork& work) {
    if (work.message == 0) return NameId{0};
    // A program of one rank stands for one of two whose other trace is not there.
    const std::size_t members = std::max<std::size_t>(2, program.ranks.size());
    std::string ranks;
    for (std::size_t rank = 0; rank < members; ++rank) ranks += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
    return builder_.details().intern(fmt::format(
        R"("Collective name": "allreduce", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {}, "dtype": "Float", "Process Group Name": "0", )"
        R"("Process Group Description": "default_pg", "Process Group Ranks": "[{}]"{})",
        work.message / 4, work.message / 4, members, ranks, work.collective < 0 ? "" : fmt::format(", \"Seq\": {}", work.collective)));
  }

  TimelineBuilder builder_;
  std::vector<SliceOrigin> origins_;
};

}  // namespace stepscope
