// A small timeline written in a test, in nanoseconds; its facts are the real ones.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "facts/facts.h"
#include "timeline/builder.h"

namespace stepscope {

class SmallTimeline {
 public:
  explicit SmallTimeline(std::string_view process = "1000") : process_(process), rank_(builder_.add_rank({})) {}

  RankId rank() const { return rank_; }
  RankId add_rank() { return rank_ = builder_.add_rank({}); }
  void in_process(std::string_view process) { process_ = process; }
  TrackId thread(std::string_view name) { return builder_.track(rank_, TrackKind::thread, process_, name); }
  TrackId stream(std::int64_t number, std::string_view device_label = "0") {
    const DeviceId device = builder_.device(rank_, device_label);
    const TrackId track = builder_.track(rank_, TrackKind::stream, device_label, std::to_string(number), device, number);
    builder_.track(track).owner_process = builder_.names().intern(process_);
    return track;
  }

  SliceId slice(SliceKind kind, TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint64_t correlation = no_number,
                std::uint64_t external = no_number) {
    return builder_.add_slice(kind, track, start, duration, builder_.names().intern(name), correlation, external);
  }
  SliceId operation(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint64_t external = no_number) {
    return slice(SliceKind::operation, track, name, start, duration, no_number, external);
  }
  // An operator that autograd numbered: forward_thread 0 where it is a forward one.
  SliceId numbered(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::int64_t sequence, std::uint64_t forward_thread) {
    const SliceId id = operation(track, name, start, duration);
    builder_.add(SequenceFact{id, sequence, forward_thread});
    return id;
  }
  SliceId annotation(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration) {
    return slice(SliceKind::annotation, track, name, start, duration);
  }
  SliceId call(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint64_t correlation = no_number) {
    return slice(SliceKind::runtime_call, track, name, start, duration, correlation);
  }
  SliceId kernel(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds duration, std::uint64_t correlation = no_number,
                 std::uint64_t external = no_number) {
    return slice(SliceKind::kernel, track, name, start, duration, correlation, external);
  }
  // A launch of 1 ns at `launched` and its kernel.
  SliceId launched_kernel(TrackId thread, TrackId stream, std::string_view name, Nanoseconds launched, Nanoseconds start, Nanoseconds duration) {
    call(thread, "cudaLaunchKernel", launched, 1, ++last_correlation_);
    return kernel(stream, name, start, duration, last_correlation_);
  }
  TimelineBuilder& builder() { return builder_; }
  // The first slice must start at 0, because a Timeline's times start there.
  void finish(const FactOptions& options = {}) {
    timeline = builder_.finish();
    facts = derive(timeline, options);
  }

  Timeline timeline;
  Facts facts;

 private:
  TimelineBuilder builder_;
  std::string process_;
  RankId rank_;
  std::uint64_t last_correlation_ = 1'000'000;
};

}  // namespace stepscope
