// A thread's slices replayed as a call stack, with the nesting that facts/call_tree.cpp found. Some slices are frames (a question's choice: operators,
// modules, …), the others are looked through. Time of a frame = its own part + its inner frames', exactly, also where records overlap or overhang:
// an inner frame counts up to the end of the one around it, and not again what its elder sibling covered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

template <class Payload>
struct StackFrame {
  SliceId slice{};
  Nanoseconds begin = 0, end = 0;  // in the window, as cut by the frame around it and its elder siblings
  Nanoseconds covered_until = 0;   // by inner frames so far
  Nanoseconds inner = 0;           // time of the inner frames
  bool first_visit = true;         // false when it is entered again, because a slice that is not nested in it came between its inner ones
  Payload payload{};

  Nanoseconds time() const { return first_visit ? end - begin : 0; }
  Nanoseconds own() const { return time() - inner; }  // once it is left
};

inline constexpr Interval all_time{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};

// Visits the slices of one track in order. is_frame(slice) chooses; enter(frame, around) and leave(frame, around) see each frame and the one around it
// (null at the top). skip(kind): kinds of slices that hold no frames and are not looked at. Linear in the slices of the track.
template <class Payload, class Skip, class IsFrame, class Enter, class Leave>
void walk_call_stack(const Timeline& timeline, const Facts& facts, TrackId track, Interval window, Skip skip, IsFrame is_frame, Enter enter, Leave leave) {
  using Frame = StackFrame<Payload>;
  struct Open {
    SliceId slice;
    bool is_frame;
  };
  const SliceColumns& s = timeline.slices;
  std::vector<Open> open;
  std::vector<Frame> frames;
  Nanoseconds top_covered_until = window.begin;

  const auto around = [&](std::size_t depth) -> Frame* { return depth == 0 ? nullptr : &frames[depth - 1]; };
  const auto close_last = [&] {
    if (open.back().is_frame) {
      leave(frames.back(), around(frames.size() - 1));
      frames.pop_back();
    }
    open.pop_back();
  };
  const auto push = [&](SliceId id, bool first_visit) {
    const bool frame_wanted = is_frame(id);
    open.push_back({id, frame_wanted});
    if (!frame_wanted) return;
    Frame* outer = around(frames.size());
    Nanoseconds& covered_until = outer != nullptr ? outer->covered_until : top_covered_until;
    Frame frame;
    frame.slice = id;
    frame.first_visit = first_visit;
    frame.begin = std::max(s.start[id], first_visit ? covered_until : window.begin);
    frame.end = std::max(frame.begin, std::min({s.end(id), window.end, outer != nullptr ? outer->end : window.end}));
    frame.covered_until = frame.begin;
    if (first_visit) {
      covered_until = std::max(covered_until, frame.end);
      if (outer != nullptr) outer->inner += frame.time();
    }
    frames.push_back(frame);
    enter(frames.back(), around(frames.size() - 1));
  };

  std::vector<SliceId> lost;
  for (const SliceId id : timeline.on_track(track)) {
    if (skip(s.kind[id])) continue;
    const SliceId parent = facts.parent[id];
    while (!open.empty() && open.back().slice != parent) close_last();
    if (open.empty() && parent != no_id<SliceId>) {
      // The parent was closed by a slice that is not nested in it: open it again with all that is around it.
      lost.clear();
      for (SliceId up = parent; up != no_id<SliceId> && lost.size() < s.size(); up = facts.parent[up]) lost.push_back(up);
      for (auto outermost = lost.rbegin(); outermost != lost.rend(); ++outermost) push(*outermost, false);
    }
    push(id, true);
  }
  while (!open.empty()) close_last();
}

}  // namespace stepscope
