#include "analyze/host_activity.h"

#include <algorithm>
#include <limits>
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

// Adds time to the activities as far as it lies in the waits, which are disjoint and by begin; time only moves forward.
class Account {
 public:
  Account(std::span<const Interval> waits, std::array<Nanoseconds, host_activity_count>& sums) : waits_(waits), sums_(sums) {}
  void until(Nanoseconds time, HostActivity activity) {
    for (; next_ < waits_.size() && waits_[next_].begin < time; ++next_) {
      const Nanoseconds begin = std::max(now_, waits_[next_].begin);
      const Nanoseconds end = std::min(time, waits_[next_].end);
      if (end > begin) sums_[static_cast<std::size_t>(activity)] += end - begin;
      if (waits_[next_].end > time) break;
    }
    now_ = std::max(now_, time);
  }
  bool done() const { return next_ == waits_.size(); }

 private:
  std::span<const Interval> waits_;
  std::array<Nanoseconds, host_activity_count>& sums_;
  std::size_t next_ = 0;
  Nanoseconds now_ = std::numeric_limits<Nanoseconds>::min();
};

void on_thread(const Timeline& timeline, const Facts& facts, TrackId thread, std::span<const Interval> waits,
               std::array<Nanoseconds, host_activity_count>& sums) {
  const SliceColumns& s = timeline.slices;
  Account account(waits, sums);
  std::vector<Open> open;
  const auto close_until = [&](Nanoseconds time) {
    for (; !open.empty() && open.back().end <= time; open.pop_back()) account.until(open.back().end, open.back().activity);
  };
  for (const SliceId id : timeline.on_track(thread)) {
    if (account.done()) return;
    close_until(s.start[id]);
    account.until(s.start[id], open.empty() ? HostActivity::other : open.back().activity);
    open.push_back({s.end(id), activity_of(timeline, facts, id, open)});
  }
  close_until(std::numeric_limits<Nanoseconds>::max());
  account.until(std::numeric_limits<Nanoseconds>::max(), HostActivity::other);
}

}  // namespace

std::array<Nanoseconds, host_activity_count> host_activities(const Timeline& timeline, const Facts& facts, std::span<const IdlePart> parts, Interval window) {
  std::vector<std::vector<Interval>> waits(timeline.tracks.size());
  for (const IdlePart& part : parts) {
    const Interval inside{std::max(part.interval.begin, window.begin), std::min(part.interval.end, window.end)};
    if (part.cause == IdleCause::host && inside.end > inside.begin) waits[index(timeline.slices.track[facts.launch[part.next]])].push_back(inside);
  }
  std::array<Nanoseconds, host_activity_count> sums{};
  for (std::size_t t = 0; t < waits.size(); ++t)
    if (!waits[t].empty()) on_thread(timeline, facts, TrackId{static_cast<std::uint32_t>(t)}, waits[t], sums);
  return sums;
}

}  // namespace stepscope
