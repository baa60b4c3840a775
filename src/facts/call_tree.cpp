// Which slice encloses which on a thread. Profilers stop their clocks in the order in which calls return, but round times and record late, so that a child
// may seem to end shortly after its parent: up to `tolerance` it still counts as enclosed.
#include "facts/derive.h"

namespace stepscope {

namespace {

// Integer-microsecond traces round start and duration down by themselves: a child can then end up to 1 µs after its parent.
constexpr Nanoseconds tolerance = 1'000;

}  // namespace

void find_call_tree(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  facts.parent.resize(s.size(), no_id<SliceId>);
  struct Open {
    Nanoseconds end;
    SliceId id;
  };
  std::vector<Open> open;  // the slices that enclose the present time, outermost first
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].kind != TrackKind::thread) continue;
    open.clear();
    for (const SliceId id : timeline.on_track(TrackId{static_cast<std::uint32_t>(t)})) {
      const Nanoseconds start = s.start[id], end = start + s.duration[id];
      // A slice that ends too late to be enclosed by `open.back()` outlives it: nothing later can be a child of that one only, so it is closed for good.
      // This keeps the work linear for any input.
      while (!open.empty() && (open.back().end <= start || end > open.back().end + tolerance)) open.pop_back();
      if (!open.empty()) facts.parent[id] = open.back().id;
      open.push_back({end, id});
    }
  }
}

}  // namespace stepscope
