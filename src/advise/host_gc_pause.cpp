// host.gc_pause: Python collects garbage: a launching thread does nothing that is recorded for milliseconds, now and then, at other times on each rank.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr Nanoseconds shortest = 5'000'000;
constexpr double most_steps = 0.5;  // in which pauses occur: ours; what happens in every step is the program's own
constexpr double least_share = 0.005;

bool names_collection(std::string_view name) {
  return has_text(name, "Python GC") || has_text(name, "gc.collect") || has_text(name, "built-in method collect of");
}

std::vector<Change> changes() {
  return {{"PyTorch", Change::Form::code, "gc.disable() before training, and gc.collect(1) every N steps, on all ranks in the same step"},
          {"Megatron-LM", Change::Form::flag, "--manual-gc --manual-gc-interval 100"},
          {"torchtitan", Change::Form::flag, "--training.gc_freq 50"}};
}

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const IdleTime idle = idle_time(scene, steps);
  const ThreadOperations threads(scene);
  const Graph& graph = scene.lifted.graph;
  const SliceColumns& s = scene.timeline.slices;

  std::vector<SliceId> named;
  std::vector<OpId> operations;
  Nanoseconds starved = 0;
  std::size_t pauses = 0;
  for (const SliceId id : steps.on_threads()) {
    if (is_api_call(s.kind[id]) || !names_collection(scene.timeline.name_of(id))) continue;
    named.push_back(id);
    append(operations, threads.within(s.track[id], {s.start[id], s.end(id)}));
    starved += idle.overlap(scene, scene.timeline.track_of(id).rank, {s.start[id], s.end(id)});
    ++pauses;
  }
  if (named.empty()) {
    // Long time without any record on a launching thread while its device is idle, in few of the steps.
    // Paused steps are often left out of means, so that all but the first and last are looked at.
    const IdleTime all_idle = idle_time_of_all(scene);
    bool in_steady = false;
    std::set<std::pair<RankId, Nanoseconds>> paused_steps;
    std::size_t all_steps = 0;
    for (const RankSteps& rank : scene.facts.steps) all_steps += rank.steps.size() > 2 ? rank.steps.size() - 2 : 0;
    for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
      if (!threads.launches(TrackId{track})) continue;
      const RankId rank = scene.timeline.tracks[track].rank;
      for (const OpId op : threads.of(TrackId{track})) {
        const Interval time = threads.time(op);
        if (graph.operations.operation_class[op] != OperationClass::python || time.length() < shortest) continue;
        const std::vector<Step>& own = scene.facts.steps[index(rank)].steps;
        const auto step = std::ranges::find_if(own, [&](const Step& one) { return one.annotation.contains(time.begin) && one.annotation.end >= time.end; });
        if (step == own.end() || step == own.begin() || step + 1 == own.end()) continue;
        const Nanoseconds in_idle = all_idle.overlap(scene, rank, time);
        if (in_idle * 2 < time.length()) continue;
        paused_steps.insert({rank, step->annotation.begin});
        in_steady |= steps.on_host(rank, time.begin);
        operations.push_back(op);
        starved += in_idle;
        ++pauses;
        const auto slices = scene.timeline.on_track(TrackId{track});
        const auto after = std::ranges::lower_bound(slices, time.end, {}, [&](SliceId id) { return s.start[id]; });
        if (after != slices.end()) named.push_back(*after);
      }
    }
    if (operations.empty() || all_steps < 3 || static_cast<double>(paused_steps.size()) > most_steps * static_cast<double>(all_steps)) return {};
    Finding found;
    found.title = "Pauses of a launching thread, as of Python's garbage collection";
    found.observation =
        fmt::format("In {} of {} steps a launching thread does nothing that is recorded for more than 5 ms ({}), and the device is idle for {} of it.",
                    paused_steps.size(), all_steps, times_text(pauses, "pause", "pauses"), format_duration(starved));
    found.confidence = Confidence::low;
    found.evidence = std::move(named);
    found.would_settle = "Recorded collections (the profiler's record_python_gc_info), or the same steps with gc.disable().";
    if (steps.share(starved) < least_share) return {};
    if (in_steady)
      found.edits = {edit_of("free", std::move(operations))};
    else
      found.unknown = "It happens in steps that are left out of means: how often must be known to spread it over all steps.";
    found.changes = changes();
    return {std::move(found)};
  }
  if (steps.share(starved) < least_share) return {};
  Finding found;
  found.title = "Python's garbage collection pauses the step";
  found.observation =
      fmt::format("{} of garbage in the steps take {}; the device is idle for {} of that ({}).", times_text(pauses, "collection", "collections"),
                  format_duration(total_time(scene, named)), format_duration(starved), percent(steps.share(starved)));
  if (!operations.empty())
    found.edits = {edit_of("free", std::move(operations))};
  else
    found.unknown = "The collections are a part of longer stretches of Python whose other time is not known.";
  found.evidence = most_telling(scene, std::move(named));
  found.changes = changes();
  found.confidence = Confidence::high;
  return {std::move(found)};
}

}  // namespace

extern const Rule host_gc_pause_rule{
    .name = "host.gc_pause",
    .help = "Python's garbage collection pauses the launching thread.",
    .guard = "Pauses that come in every step; pauses that the device's queue hides; captures of fewer than three steps.",
    .source = "torchtitan, training.gc_freq; Megatron-LM, --manual-gc; 5 ms: proposed; at most half of the steps: ours",
    .detect = detect,
};

}  // namespace stepscope
