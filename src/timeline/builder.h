// The only way to make a Timeline: add ranks, tracks and rows, then finish(). Rows may come in any order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "timeline/timeline.h"

namespace stepscope {

class TimelineBuilder {
 public:
  RankId add_rank(Rank rank);
  Rank& rank(RankId id) { return timeline_.ranks[index(id)]; }

  // Tracks and devices are found again by their keys: (rank, process, thread, device, stream) and (rank, label).
  TrackId track(RankId rank, TrackKind kind, std::string_view process, std::string_view thread, DeviceId device = no_id<DeviceId>, std::int64_t stream = -1);
  Track& track(TrackId id) { return timeline_.tracks[index(id)]; }
  DeviceId device(RankId rank, std::string_view label);
  Device& device(DeviceId id) { return timeline_.devices[index(id)]; }

  NameTable& names() { return timeline_.names; }
  NameTable& details() { return timeline_.details; }
  CaptureHealth& health() { return timeline_.health; }
  std::size_t slice_count() const { return timeline_.slices.size(); }

  // Absolute times in ns; finish() subtracts the earliest start.
  SliceId add_slice(SliceKind kind, TrackId track, Nanoseconds start, Nanoseconds duration, NameId name, std::uint64_t correlation = no_number,
                    std::uint64_t external = no_number, NameId detail = NameId{0});
  void add(const SequenceFact& fact) { timeline_.sequences.push_back(fact); }
  void add(const PythonFact& fact) { timeline_.python.push_back(fact); }
  void add(const TransferFact& fact) { timeline_.transfers.push_back(fact); }
  void add(const SyncFact& fact) { timeline_.syncs.push_back(fact); }
  void add(const FlowEnd& flow) { timeline_.flows.push_back(flow); }
  void add(const MemoryEvent& event) { timeline_.memory.push_back(event); }
  void add(const CounterSample& sample) { timeline_.counters.push_back(sample); }
  void add(const Instant& instant) { timeline_.instants.push_back(instant); }

  // Direct access for bulk writers (a reader that commits whole blocks of rows). All slice columns must be left equally long.
  SliceColumns& slices() { return timeline_.slices; }
  Timeline& unfinished() { return timeline_; }

  // Appends everything that other holds, as if it had been added to this builder after what is here; other is empty afterwards. Its health items' places
  // are prefixed ("rank003.json: "). The caller sees to it that both together have fewer than 2^32 − 1 slices.
  void append(TimelineBuilder&& other, std::string_view place_prefix);
  // From the earliest time of any row to the latest (starts, not ends, of slices); absent where there is no row. O(rows).
  std::optional<Interval> time_range() const;
  // Adds by to the time of every row. The caller sees to it that nothing overflows.
  void move_in_time(Nanoseconds by);

  // Sorts each track, sorts the fact lists by slice, makes times relative to the earliest start and marks devices with activity. The builder is empty
  // afterwards. threads: how many may work on it; the result is the same.
  Timeline finish(int threads = 1);

 private:
  // Rows of tracks and devices by a hash of their keys. Rows that were added past track() and device() are taken in when one of them is asked for.
  class RowIndex {
   public:
    std::span<const std::uint32_t> candidates(std::uint64_t hash) const;
    void bring_up_to(std::size_t rows, const std::function<std::uint64_t(std::size_t)>& hash_of);

   private:
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> rows_;
    std::size_t indexed_ = 0;
  };
  Timeline timeline_;
  RowIndex track_index_, device_index_;
};

}  // namespace stepscope
