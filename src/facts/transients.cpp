// Profiler-start transients: the first collective on a stream spins until every rank has started its profiler, which can take seconds. Such a slice lasts more
// than ten times as long as the longest other one of its name, of which there must be a few to know what is usual.
#include <algorithm>
#include <unordered_map>

#include "facts/derive.h"

namespace stepscope {

namespace {

constexpr std::int64_t times_the_longest_other = 10;
constexpr std::size_t fewest_others = 3;
constexpr Nanoseconds shortest_transient = 1'000'000;

}  // namespace

void find_start_transients(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  for (const DeviceFacts& device : facts.devices) {
    struct Usual {
      SliceId first = no_id<SliceId>;
      std::size_t others = 0;
      Nanoseconds longest_other = 0;
    };
    std::unordered_map<std::uint64_t, Usual> by_stream_and_name;
    std::unordered_map<TrackId, SliceId> first_on_stream;
    for (const SliceId id : device.slices) {
      if (facts.activity[id] != ActivityClass::communication) continue;
      first_on_stream.try_emplace(s.track[id], id);
      Usual& usual = by_stream_and_name[(static_cast<std::uint64_t>(s.track[id]) << 32) | static_cast<std::uint64_t>(s.name[id])];
      if (usual.first == no_id<SliceId>) {
        usual.first = id;
        continue;
      }
      ++usual.others;
      usual.longest_other = std::max(usual.longest_other, s.duration[id]);
    }
    for (const auto& [key, usual] : by_stream_and_name) {
      const Nanoseconds duration = s.duration[usual.first];
      if (first_on_stream[s.track[usual.first]] != usual.first || usual.others < fewest_others) continue;
      if (duration >= shortest_transient && duration / times_the_longest_other > usual.longest_other) facts.start_transients.push_back(usual.first);
    }
  }
  std::sort(facts.start_transients.begin(), facts.start_transients.end());
}

}  // namespace stepscope
