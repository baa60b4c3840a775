#include "analyze/idle_parts.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stepscope {

namespace {

// What a device needs to start the next of slices that are queued: typically 1–3 µs, measured up to 20 (METRICS.md).
constexpr Nanoseconds longest_scheduling_gap = 20'000;

constexpr int most_waits_looked_at = 256;  // recorded waits before one slice: keeps the work linear for any input

constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::min();

}  // namespace

std::string_view idle_cause_key(IdleCause cause) {
  static constexpr std::string_view keys[idle_cause_count] = {"host_ns",  "launch_ns",  "scheduling_ns", "dependency_ns",
                                                              "graph_ns", "unknown_ns", "unlinked_ns"};
  return keys[static_cast<std::size_t>(cause)];
}

std::string_view idle_cause_title(IdleCause cause) {
  static constexpr std::string_view titles[idle_cause_count] = {"Waiting for the host",
                                                                "Launching",
                                                                "Gaps between queued kernels",
                                                                "Waiting for other work",
                                                                "Gaps inside CUDA/HIP graphs",
                                                                "For an unknown reason",
                                                                "Before work without a launch record"};
  return titles[static_cast<std::size_t>(cause)];
}

Nanoseconds IdleSums::total() const {
  return std::accumulate(by_cause.begin(), by_cause.end(), Nanoseconds{0});
}

IdleSums sum_idle(std::span<const IdlePart> parts, Interval window) {
  IdleSums sums;
  // Disjoint and by begin: the ends rise as well.
  const auto first = std::ranges::upper_bound(parts, window.begin, {}, [](const IdlePart& part) { return part.interval.end; });
  for (auto part = first; part != parts.end() && part->interval.begin < window.end; ++part)
    sums[part->cause] += std::min(part->interval.end, window.end) - std::max(part->interval.begin, window.begin);
  return sums;
}

IdleParts::IdleParts(const Timeline& timeline, const Facts& facts, const DeviceFacts& device) : timeline_(timeline), facts_(facts) {
  const SliceColumns& s = timeline.slices;
  for (const SliceId id : facts.wait_calls)
    if (timeline.track_of(id).rank == device.rank) wait_calls_.push_back(s.start[id]);
  for (const SyncFact& sync : timeline.syncs)
    if (timeline.track_of(sync.slice).device == device.device && sync.wait_on_stream >= 0) stream_waits_.push_back(sync);
  std::ranges::sort(stream_waits_, {}, [&](const SyncFact& sync) { return s.start[sync.slice]; });
  if (facts.kernel_launches[index(device.rank)].records_were_lost())
    for (const UnrecordedStretch& stretch : facts.unrecorded_stretches)
      if (stretch.rank == device.rank) unrecorded_.push_back(stretch);
}

std::vector<IdlePart> IdleParts::of(std::span<const SliceId> slices) const {
  const SliceColumns& s = timeline_.slices;
  std::vector<IdlePart> parts;
  Nanoseconds free_since = never;     // the end of all slices so far
  SliceId previous = no_id<SliceId>;  // the slice that ended last
  for (const SliceId id : slices) {
    const Nanoseconds start = s.start[id];
    if (free_since != never && start > free_since) {
      const SliceId launch = facts_.launch[id];
      if (launch == no_id<SliceId>) {
        add_part(parts, {{free_since, start}, IdleCause::unlinked, id});
      } else if (s.start[launch] >= free_since) {
        const Nanoseconds launched = std::min(start, s.start[launch]);  // clocks may disagree: a launch that seems to begin after its slice
        if (launched > free_since) add_part(parts, {{free_since, launched}, IdleCause::host, id});
        if (start > launched) add_part(parts, {{launched, start}, IdleCause::launch, id});
      } else {
        add_part(parts, {{free_since, start}, cause_of_queued(id, previous, start - free_since), id});
      }
    }
    if (free_since == never || s.end(id) >= free_since) {
      free_since = s.end(id);
      previous = id;
    }
  }
  return parts;
}

IdleCause IdleParts::cause_of_queued(SliceId next, SliceId previous, Nanoseconds gap) const {
  const SliceId launch = facts_.launch[next];
  if (facts_.graph_launch[launch] != 0 && facts_.launch[previous] == launch) return IdleCause::graph;
  if (evidenced_wait(next, previous, gap)) return IdleCause::dependency;
  return gap <= longest_scheduling_gap ? IdleCause::scheduling : IdleCause::unknown;
}

// Whether `next` waited for `previous`, which ran on another stream: the trace says so (a recorded wait of the stream), or a wait for an event was queued
// between their launches and the gap is no longer than the hand-over from one stream to another takes.
bool IdleParts::evidenced_wait(SliceId next, SliceId previous, Nanoseconds gap) const {
  const SliceColumns& s = timeline_.slices;
  if (s.track[next] == s.track[previous]) return false;
  const SliceId cause = facts_.launch[previous];
  if (cause == no_id<SliceId>) return false;
  const Interval between{s.start[cause], s.start[facts_.launch[next]]};
  const auto recorded = std::ranges::upper_bound(stream_waits_, s.start[next], {}, [&](const SyncFact& sync) { return s.start[sync.slice]; });
  int looked_at = 0;
  for (auto wait = recorded; wait != stream_waits_.begin() && looked_at < most_waits_looked_at; ++looked_at) {
    --wait;
    if (s.start[wait->slice] < between.begin) break;
    if (s.track[wait->slice] == s.track[next] && wait->wait_on_stream == timeline_.track_of(previous).stream) return true;
  }
  if (gap > longest_scheduling_gap) return false;
  const auto call = std::ranges::lower_bound(wait_calls_, between.begin);
  return call != wait_calls_.end() && *call < between.end;
}

// Where records were lost, what looks like waiting may have been work. Gaps before slices without a launch record are unexplained as they are.
void IdleParts::add_part(std::vector<IdlePart>& parts, IdlePart part) const {
  if (unrecorded_.empty() || part.cause == IdleCause::unlinked) {
    parts.push_back(part);
    return;
  }
  auto stretch = std::ranges::upper_bound(unrecorded_, part.interval.begin, {}, [](const UnrecordedStretch& other) { return other.interval.end; });
  Nanoseconds at = part.interval.begin;
  for (; stretch != unrecorded_.end() && stretch->interval.begin < part.interval.end; ++stretch) {
    const Nanoseconds begin = std::max(at, stretch->interval.begin), end = std::min(part.interval.end, stretch->interval.end);
    if (begin >= end) continue;
    if (begin > at) parts.push_back({{at, begin}, part.cause, part.next});
    parts.push_back({{begin, end}, IdleCause::unknown, part.next});
    at = end;
  }
  if (at < part.interval.end) parts.push_back({{at, part.interval.end}, part.cause, part.next});
}

}  // namespace stepscope
