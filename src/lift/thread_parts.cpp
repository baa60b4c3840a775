// CPU threads cut into parts: calls, framework operators' own time, the loading of data, and the time between (Python, annotations, nothing recorded).
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

// Times at which a thread's parts are cut although nothing changes there: where steps begin, so that a replay tells when.
std::vector<std::vector<Nanoseconds>> cuts_of_ranks(const Timeline& timeline, const Facts& facts) {
  std::vector<std::vector<Nanoseconds>> cuts(timeline.ranks.size());
  for (std::size_t rank = 0; rank < facts.steps.size(); ++rank) {
    for (const Step& step : facts.steps[rank].steps) cuts[rank].push_back(step.annotation.begin);
    if (!facts.steps[rank].steps.empty()) cuts[rank].push_back(facts.steps[rank].steps.back().annotation.end);
    std::ranges::sort(cuts[rank]);
  }
  return cuts;
}

class ThreadCutter {
 public:
  ThreadCutter(Draft& draft, TrackId track, std::span<const Nanoseconds> cuts)
      : draft_(draft), s_(draft.timeline.slices), facts_(draft.facts), track_(track), cuts_(cuts), parts_(draft.parts[index(track)]) {}

  void cut() {
    const std::span<const SliceId> slices = draft_.lifted_of(draft_.timeline.on_track(track_));
    if (slices.empty()) return;
    at_ = s_.start[slices.front()];
    next_cut_ = std::ranges::upper_bound(cuts_, at_) - cuts_.begin();
    Nanoseconds last = at_;
    for (const SliceId id : slices) {
      const SliceKind kind = s_.kind[id];
      if (kind == SliceKind::profiler) continue;
      last = std::max(last, s_.end(id));
      if (s_.start[id] < call_until_) continue;  // inside a call: its time
      if (is_api_call(kind)) {
        leave_until(s_.start[id]);
        call(id);
      } else if (const auto c = class_of(id)) {
        leave_until(s_.start[id]);
        const Nanoseconds end = open_.empty() ? s_.end(id) : std::min(s_.end(id), open_.back().end);
        if (end > at_) open_.push_back({end, id, *c});
      }
    }
    leave_until(last);
    while (!open_.empty()) open_.pop_back();
  }

 private:
  struct Open {
    Nanoseconds end;
    SliceId id;
    OperationClass operation_class;
  };

  // Of slices whose own time is a part of its own.
  std::optional<OperationClass> class_of(SliceId id) const {
    if (s_.kind[id] == SliceKind::operation) return facts_.phase[id] == Phase::data ? OperationClass::data_loading : OperationClass::framework;
    if (s_.kind[id] == SliceKind::annotation && facts_.phase[id] == Phase::data) return OperationClass::data_loading;
    return std::nullopt;
  }

  // Parts up to `until`: of the slices that are open, innermost first, and of none.
  void leave_until(Nanoseconds until) {
    while (!open_.empty() && open_.back().end <= until) {
      put(open_.back().end);
      open_.pop_back();
    }
    put(until);
  }

  // A part from at_ on, of the innermost open slice.
  void put(Nanoseconds end) {
    while (at_ < end) {
      Nanoseconds stop = end;
      if (next_cut_ < static_cast<std::ptrdiff_t>(cuts_.size()) && cuts_[static_cast<std::size_t>(next_cut_)] < end)
        stop = cuts_[static_cast<std::size_t>(next_cut_)];
      if (stop > at_) {
        const bool between = open_.empty();
        add({at_, stop}, between ? OperationClass::python : open_.back().operation_class, between ? no_id<SliceId> : open_.back().id);
        at_ = stop;
      }
      while (next_cut_ < static_cast<std::ptrdiff_t>(cuts_.size()) && cuts_[static_cast<std::size_t>(next_cut_)] <= at_) ++next_cut_;
    }
  }

  void call(SliceId id) {
    const ApiCall api = facts_.api_calls[s_.name[id]];
    const auto c = launches_work(api.role) ? OperationClass::launch : api.blocks ? OperationClass::synchronisation : OperationClass::api;
    Nanoseconds end = std::max(at_, s_.end(id));
    if (!open_.empty()) end = std::max(at_, std::min(end, open_.back().end));  // records may overhang
    const OpId op = add({at_, end}, c, id);
    draft_.lifted.operation_of[id] = op;
    at_ = call_until_ = end;
    while (next_cut_ < static_cast<std::ptrdiff_t>(cuts_.size()) && cuts_[static_cast<std::size_t>(next_cut_)] <= at_) ++next_cut_;
  }

  OpId add(Interval when, OperationClass c, SliceId owner) {
    if (place_ == no_id<PlaceId>)
      place_ = draft_.builder.place({.kind = PlaceKind::thread, .rank = draft_.timeline.tracks[index(track_)].rank, .track = track_});
    const NameId name = owner == no_id<SliceId> ? NameId{0} : s_.name[owner];
    const OpId op = draft_.add({.place = place_, .operation_class = c, .duration = when.length(), .name = name, .origin = owner}, when);
    if (owner != no_id<SliceId> && draft_.lifted.operation_of[owner] == no_id<OpId>) draft_.lifted.operation_of[owner] = op;
    parts_.push_back({.op = op, .begin = when.begin, .end = when.end, .owner = owner});
    return op;
  }

  Draft& draft_;
  const SliceColumns& s_;
  const Facts& facts_;
  const TrackId track_;
  const std::span<const Nanoseconds> cuts_;
  std::vector<ThreadPart>& parts_;
  PlaceId place_ = no_id<PlaceId>;
  std::vector<Open> open_;
  Nanoseconds at_ = 0, call_until_ = long_ago;
  std::ptrdiff_t next_cut_ = 0;
};

}  // namespace

void cut_threads(Draft& draft) {
  const std::vector<std::vector<Nanoseconds>> cuts = cuts_of_ranks(draft.timeline, draft.facts);
  draft.parts.resize(draft.timeline.tracks.size());
  for (std::uint32_t track = 0; track < draft.timeline.tracks.size(); ++track)
    if (draft.timeline.tracks[track].kind == TrackKind::thread) ThreadCutter(draft, TrackId{track}, cuts[index(draft.timeline.tracks[track].rank)]).cut();
}

}  // namespace stepscope
