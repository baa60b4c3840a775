// The windows whose length a replay tells: steps on the thread that marks them, their windows on devices, and whole captures of devices without steps.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

class Windows {
 public:
  explicit Windows(Draft& draft) : draft_(draft), s_(draft.timeline.slices) {}

  void mark() {
    for (std::uint32_t rank = 0; rank < draft_.facts.steps.size(); ++rank) mark_host(RankId{rank});
    for (const DeviceFacts& device : draft_.facts.devices) mark_device(device);
    std::ranges::stable_sort(draft_.lifted.windows, [](const GraphWindow& a, const GraphWindow& b) {
      if (a.rank != b.rank) return a.rank < b.rank;
      // no_id is the largest number, and the host comes first.
      const auto order = [](const GraphWindow& w) { return w.device == no_id<DeviceId> ? 0 : index(w.device) + 1; };
      return order(a) < order(b);
    });
  }

 private:
  // The thread on which steps are marked: the one that has a slice beginning with the step.
  TrackId marking_thread(RankId rank, const std::vector<Step>& steps) const {
    TrackId best = no_id<TrackId>;
    std::size_t most = 0;
    for (std::uint32_t track = 0; track < draft_.parts.size(); ++track) {
      if (draft_.parts[track].empty() || draft_.timeline.tracks[track].rank != rank) continue;
      const auto slices = draft_.timeline.on_track(TrackId{track});
      std::size_t begun = 0;
      for (const Step& step : steps) {
        const auto at = std::ranges::lower_bound(slices, step.annotation.begin, {}, [&](SliceId id) { return s_.start[id]; });
        begun += at != slices.end() && s_.start[*at] == step.annotation.begin;
      }
      if (begun > most) most = begun, best = TrackId{track};
    }
    return best;
  }

  // The start of the part that begins at this time, or the end of the thread's last part.
  std::optional<Moment> moment_on(TrackId thread, Nanoseconds time) const {
    const std::vector<ThreadPart>& parts = draft_.parts[index(thread)];
    const auto at = std::ranges::lower_bound(parts, time, {}, &ThreadPart::begin);
    if (at != parts.end() && at->begin == time) {
      // A part that waits begins when its wait is over: the time at which it begins to wait is the end of the one before it.
      if (at != parts.begin()) return Moment::end((at - 1)->completion == no_id<OpId> ? (at - 1)->op : (at - 1)->completion);
      return Moment::start(at->op);
    }
    if (at != parts.begin() && (at - 1)->end == time) return Moment::end((at - 1)->completion == no_id<OpId> ? (at - 1)->op : (at - 1)->completion);
    return std::nullopt;
  }

  void mark_host(RankId rank) {
    const std::vector<Step>& steps = draft_.facts.steps[index(rank)].steps;
    if (steps.empty()) return;
    const TrackId thread = marking_thread(rank, steps);
    if (thread == no_id<TrackId>) return;
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      const Nanoseconds begin = steps[i].annotation.begin, end = begin + steps[i].step_time;
      const auto from = moment_on(thread, begin), to = moment_on(thread, end);
      if (from && to && end > begin)
        draft_.lifted.windows.push_back(
            {.rank = rank, .step = i, .number = steps[i].number, .outlier = steps[i].outlier, .begin = *from, .end = *to, .measured = {begin, end}});
    }
  }

  bool is_compute(SliceId id) const { return draft_.facts.activity[id] == ActivityClass::compute; }

  bool is_lifted(SliceId id) const { return draft_.lifted.operation_of[id] != no_id<OpId>; }

  // The compute operation of a device that starts at this time.
  std::optional<Moment> start_at(const DeviceFacts& device, Nanoseconds time) const {
    const auto first = std::ranges::lower_bound(device.slices, time, {}, [&](SliceId id) { return s_.start[id]; });
    for (auto at = first; at != device.slices.end() && s_.start[*at] == time; ++at)
      if (is_compute(*at) && is_lifted(*at)) return Moment::start(draft_.lifted.operation_of[*at]);
    return std::nullopt;
  }
  std::optional<Moment> end_at(const DeviceFacts& device, Interval window) const {
    const auto first = std::ranges::lower_bound(device.slices, window.begin, {}, [&](SliceId id) { return s_.start[id]; });
    for (auto at = first; at != device.slices.end() && s_.start[*at] <= window.end; ++at)
      if (is_compute(*at) && is_lifted(*at) && s_.end(*at) == window.end) return Moment::end(draft_.lifted.operation_of[*at]);
    return std::nullopt;
  }

  void mark_device(const DeviceFacts& device) {
    const std::vector<Step>& steps = draft_.facts.steps[index(device.rank)].steps;
    for (const StepWindow& window : device.windows) {
      const auto from = start_at(device, window.window.begin);
      auto to = start_at(device, window.window.end);
      if (!to) to = end_at(device, window.window);
      if (!from || !to) continue;
      draft_.lifted.windows.push_back({.rank = device.rank,
                                       .device = device.device,
                                       .step = window.step,
                                       .number = window.number,
                                       .outlier = steps[window.step].outlier,
                                       .begin = *from,
                                       .end = *to,
                                       .measured = window.window});
    }
    const std::span<const SliceId> slices = draft_.lifted_of(device.slices);
    if (!device.windows.empty() || slices.empty()) return;
    SliceId last = slices.front();
    for (const SliceId id : slices)
      if (s_.end(id) > s_.end(last)) last = id;
    draft_.lifted.windows.push_back({.rank = device.rank,
                                     .device = device.device,
                                     .step = no_step,
                                     .begin = Moment::start(draft_.lifted.operation_of[slices.front()]),
                                     .end = Moment::end(draft_.lifted.operation_of[last]),
                                     .measured = {s_.start[slices.front()], s_.end(last)}});
  }

  Draft& draft_;
  const SliceColumns& s_;
};

}  // namespace

void mark_windows(Draft& draft) {
  Windows(draft).mark();
}

}  // namespace stepscope
