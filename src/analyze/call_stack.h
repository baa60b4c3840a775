// A thread's slices replayed as a call stack. Some slices are frames (a question's choice: operators, calls, …), the others are looked through.
// Time of a frame = its own part + its inner frames', exactly, also where records overlap or overhang: an inner frame counts up to the end of the one
// around it, and not again what its elder sibling covered.
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
  Payload payload{};

  Nanoseconds time() const { return end - begin; }
  Nanoseconds own() const { return time() - inner; }  // once it is left
};

inline constexpr Interval all_time{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};

// Visits the slices of one track in order. parents: per slice the one around it among those that are not skipped (Facts::parent, or Facts::operation where
// only operators are looked at). skip(kind): kinds of slices left aside. is_frame(kind) chooses the frames. enter(frame, around) and leave(frame, around)
// see each frame and the frame around it (null at the top). Linear in the slices of the track.
template <class Payload, class Skip, class IsFrame, class Enter, class Leave>
void walk_call_stack(const Timeline& timeline, const Column<SliceId>& parents, TrackId track, Interval window, Skip skip, IsFrame is_frame, Enter enter,
                     Leave leave) {
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
  for (const SliceId id : timeline.on_track(track)) {
    const SliceKind kind = s.kind[id];
    if (skip(kind)) continue;
    const SliceId parent = parents[id];
    while (!open.empty() && open.back().slice != parent) close_last();
    const bool wanted = is_frame(kind);
    open.push_back({id, wanted});
    if (!wanted) continue;
    Frame* outer = around(frames.size());
    Nanoseconds& covered_until = outer != nullptr ? outer->covered_until : top_covered_until;
    Frame frame;
    frame.slice = id;
    frame.begin = std::max(s.start[id], covered_until);
    frame.end = std::max(frame.begin, std::min({s.end(id), window.end, outer != nullptr ? outer->end : window.end}));
    frame.covered_until = frame.begin;
    covered_until = std::max(covered_until, frame.end);
    if (outer != nullptr) outer->inner += frame.time();
    frames.push_back(frame);
    enter(frames.back(), around(frames.size() - 1));
  }
  while (!open.empty()) close_last();
}

}  // namespace stepscope
