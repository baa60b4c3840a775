#include "analyze/host_activity.h"

#include <algorithm>
#include <vector>

namespace stepscope {

namespace {

struct Open {
  Nanoseconds end;
  HostActivity activity;
};

HostActivity activity_of(const Timeline& timeline, const Facts& facts, SliceId id, const std::vector<Open>& open) {
  const SliceColumns& s = timeline.slices;
  if (facts.phase[id] == Phase::data) return HostActivity::data_loading;
  const SliceKind kind = s.kind[id];
  if (is_api_call(kind)) {
    const bool in_blocking_call = !open.empty() && open.back().activity == HostActivity::synchronisation;
    return in_blocking_call || facts.api_calls[s.name[id]].blocks ? HostActivity::synchronisation : HostActivity::framework;
  }
  const bool framework = kind == SliceKind::operation || kind == SliceKind::python_function || kind == SliceKind::annotation;
  return framework ? HostActivity::framework : HostActivity::other;
}

// One thread's slices as a stack, from any moment on.
class ThreadReplay {
 public:
  ThreadReplay(const Timeline& timeline, const Facts& facts, TrackId thread) : timeline_(timeline), facts_(facts), slices_(timeline.on_track(thread)) {}

  // Adds what the thread did in the waits, which are disjoint and by begin.
  void add(std::span<const Interval> waits, std::array<Nanoseconds, host_activity_count>& sums) {
    for (const Interval& wait : waits) {
      go_to(wait.begin);
      Nanoseconds now = wait.begin;
      while (now < wait.end) {
        const HostActivity activity = open_.empty() ? HostActivity::other : open_.back().activity;
        Nanoseconds until = wait.end;
        if (!open_.empty()) until = std::min(until, open_.back().end);
        if (next_ < slices_.size()) until = std::min(until, timeline_.slices.start[slices_[next_]]);
        sums[static_cast<std::size_t>(activity)] += std::max<Nanoseconds>(0, until - now);
        now = std::max(now, until);
        step(now);
      }
    }
  }

 private:
  // Closes what has ended by `time` and opens what has started.
  void step(Nanoseconds time) {
    const SliceColumns& s = timeline_.slices;
    while (true) {
      const bool opens = next_ < slices_.size() && s.start[slices_[next_]] <= time;
      const Nanoseconds close_by = opens ? s.start[slices_[next_]] : time;
      while (!open_.empty() && open_.back().end <= close_by) open_.pop_back();
      if (!opens) return;
      open(slices_[next_++]);
    }
  }
  void open(SliceId id) { open_.push_back({timeline_.slices.end(id), activity_of(timeline_, facts_, id, open_)}); }

  // Between waits most slices are skipped: what is open at `time` are the last slice that started and its ancestors, as far as they have not ended.
  void go_to(Nanoseconds time) {
    const SliceColumns& s = timeline_.slices;
    constexpr std::size_t worth_a_jump = 64;
    if (next_ + worth_a_jump >= slices_.size() || s.start[slices_[next_ + worth_a_jump]] > time) return step(time);
    std::size_t reach = worth_a_jump;  // doubled until it is beyond
    while (next_ + reach < slices_.size() && s.start[slices_[next_ + reach]] <= time) reach *= 2;
    const auto last = slices_.begin() + static_cast<std::ptrdiff_t>(std::min(slices_.size(), next_ + reach));
    const auto first = slices_.begin() + static_cast<std::ptrdiff_t>(next_ + reach / 2);
    const auto target = std::upper_bound(first, last, time, [&](Nanoseconds t, SliceId id) { return t < s.start[id]; });
    // A deep stack would make every jump dear: then the slices between are replayed one by one, which is linear for any input.
    ancestors_.clear();
    for (SliceId id = *(target - 1); id != no_id<SliceId>; id = facts_.parent[id]) {
      if (ancestors_.size() == deepest) return step(time);
      ancestors_.push_back(id);
    }
    next_ = static_cast<std::size_t>(target - slices_.begin());
    open_.clear();
    for (auto id = ancestors_.rbegin(); id != ancestors_.rend(); ++id)
      if (s.end(*id) > time) open(*id);
  }

  static constexpr std::size_t deepest = 256;
  const Timeline& timeline_;
  const Facts& facts_;
  std::span<const SliceId> slices_;
  std::size_t next_ = 0;  // the first slice that has not started
  std::vector<Open> open_;
  std::vector<SliceId> ancestors_;
};

}  // namespace

std::array<Nanoseconds, host_activity_count> host_activities(const Timeline& timeline, const Facts& facts, std::span<const IdlePart> parts, Interval window) {
  std::vector<std::vector<Interval>> waits(timeline.tracks.size());
  for (const IdlePart& part : parts) {
    const Interval inside{std::max(part.interval.begin, window.begin), std::min(part.interval.end, window.end)};
    if (part.cause == IdleCause::host && inside.end > inside.begin) waits[index(timeline.slices.track[facts.launch[part.next]])].push_back(inside);
  }
  std::array<Nanoseconds, host_activity_count> sums{};
  for (std::size_t t = 0; t < waits.size(); ++t)
    if (!waits[t].empty()) ThreadReplay(timeline, facts, TrackId{static_cast<std::uint32_t>(t)}).add(waits[t], sums);
  return sums;
}

}  // namespace stepscope
