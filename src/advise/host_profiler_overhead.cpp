// host.profiler_overhead: the profiler's own work ("overhead" records) lies on a launching thread while the device waits.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.02;          // of the step
constexpr std::size_t most_operations = 256;  // that one finding shortens, the longest overlaps first: ours, keeps the work bounded

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const ThreadOperations threads(scene);
  std::vector<std::vector<Interval>> overheads(scene.timeline.ranks.size());
  std::vector<SliceId> records;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    const RankId rank = scene.timeline.tracks[track].rank;
    for (const Interval& step : steps.host(rank)) {
      const auto slices = scene.timeline.on_track(TrackId{track});
      auto at = std::ranges::lower_bound(slices, step.begin, {}, [&](SliceId id) { return s.start[id]; });
      for (; at != slices.end() && s.start[*at] < step.end; ++at)
        if (s.kind[*at] == SliceKind::overhead && s.duration[*at] > 0) {
          records.push_back(*at);
          overheads[index(rank)].push_back({s.start[*at], s.end(*at)});
        }
    }
  }
  Nanoseconds total = 0;
  for (std::vector<Interval>& own : overheads) {
    std::ranges::sort(own, {}, &Interval::begin);
    own = merge_intervals(own);
    for (const Interval& one : own) total += one.length();
  }
  if (records.empty() || steps.share(total) < least_share) return {};
  // Which parts of launching threads it lies in: only on the thread that the record stands on, or, of records on rows of their own, in launch calls that are
  // longer than the record.
  std::vector<std::pair<Nanoseconds, OpId>> shortened;
  for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
    if (!threads.launches(TrackId{track})) continue;
    std::map<OpId, Nanoseconds> lost;
    for (const SliceId id : records) {
      if (s.track[id] != TrackId{track}) continue;
      const auto& all = threads.of(TrackId{track});
      auto at = std::ranges::lower_bound(all, s.start[id], {}, [&](OpId op) { return threads.time(op).end; });
      for (; at != all.end() && threads.time(*at).begin < s.end(id); ++at)
        lost[*at] += std::max<Nanoseconds>(0, std::min(threads.time(*at).end, s.end(id)) - std::max(threads.time(*at).begin, s.start[id]));
    }
    for (const auto& [op, time] : lost)
      if (time > 0) shortened.emplace_back(time, op);
  }
  std::ranges::stable_sort(shortened, std::ranges::greater{}, &std::pair<Nanoseconds, OpId>::first);
  if (shortened.size() > most_operations) shortened.resize(most_operations);
  Finding found;
  found.title = "The profiler itself slows the run";
  found.observation = fmt::format("The profiler's own work takes {} per step ({}), most of it as {}.", format_duration(steps.per_step(total)),
                                  percent(steps.share(total)), scene.timeline.name_of(most_telling(scene, records).front()));
  for (const auto& [time, op] : shortened) {
    const Nanoseconds left = std::max<Nanoseconds>(0, scene.lifted.graph.operations.duration[op] - time);
    found.edits.push_back(edit_of("set", {op}, {{"to", fmt::format("{}ns", left)}}));
  }
  if (found.edits.empty()) found.unknown = "It runs on threads of the profiler's own: what it costs the launching threads, the trace does not say.";
  found.evidence = most_telling(scene, std::move(records));
  found.changes = {{"PyTorch", Change::Form::code, "profile(..., with_stack=False, record_shapes=False, profile_memory=False): record less, or fewer steps"},
                   {"environment", Change::Form::environment, "TEARDOWN_CUPTI=1"}};
  found.confidence = Confidence::medium;
  found.would_settle = "The step time without the profiler: this is a cost of measuring, not of training.";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_profiler_overhead_rule{
    .name = "host.profiler_overhead",
    .help = "The profiler's own work takes time of the step.",
    .guard = "Work of the profiler before and after the steps.",
    .source = "PyTorch issue 144455; 2 % of the step: proposed",
    .detect = detect,
};

}  // namespace stepscope
