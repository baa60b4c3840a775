// What a trace records of events and synchronisations: the calls by their correlation ids, and streams by their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lift/draft.h"

namespace stepscope {

class SyncCalls {
 public:
  explicit SyncCalls(const Draft& draft);

  // Start of the call that records an event, lets a stream wait, or synchronises, by rank and correlation id.
  std::optional<Nanoseconds> call_start(RankId rank, std::uint64_t correlation) const;
  // The synchronisation row that a call wrote; null = none was recorded.
  const SyncFact* record_of(SliceId call) const;
  // A stream of the rank by number, of the device if several have it; null = nothing ran on it.
  const Stream* stream(RankId rank, DeviceId device, std::int64_t number) const;
  // What a stream has to do at a time: its last operation that was launched before, and those of other streams for whose events it was told to wait since then
  // (and so on). At most `most_found`.
  std::vector<const StreamSlice*> work_before(const Stream& stream, Nanoseconds time) const;
  // Whether a row says that a stream (not a thread) waits.
  bool is_stream_wait(const SyncFact& sync) const;

 private:
  static std::uint64_t key(RankId rank, std::uint64_t correlation) { return correlation * 0x9E37'79B9'7F4A'7C15u ^ index(rank); }

  struct StreamWait {
    Nanoseconds called = 0;
    const Stream* on = nullptr;
    Nanoseconds event = 0;  // when the event was recorded
  };
  static constexpr std::size_t most_found = 32;

  const Draft& draft_;
  std::unordered_map<const Stream*, std::vector<StreamWait>> waits_;  // of each stream, by call
  std::unordered_map<std::uint64_t, Nanoseconds> starts_;
  std::unordered_map<std::uint64_t, const SyncFact*> records_;
};

}  // namespace stepscope
