// A small timeline of several ranks, each with a thread and a communication stream of its own; times in nanoseconds on each rank's own clock.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "small_timeline.h"

namespace stepscope {

class SeveralRanks : public SmallTimeline {
 public:
  explicit SeveralRanks(std::int64_t ranks, std::int64_t world_size = 0) {
    for (std::int64_t number = 0; number < ranks; ++number) {
      const RankId id = number == 0 ? rank() : add_rank();
      builder().rank(id).number = number;
      builder().rank(id).world_size = world_size == 0 ? ranks : world_size;
      in_process(std::to_string(1000 + number));
      threads.push_back(thread("main"));
      streams.push_back(stream(20, std::to_string(number)));
    }
    operation(threads[0], "begin", 0, 1);  // a Timeline's times start with its first slice
  }

  // The arguments that newer traces record with a collective.
  static std::string arguments(std::string_view function, std::string_view group, std::string_view ranks, std::int64_t size,
                               std::optional<std::int64_t> sequence, std::int64_t elements = 1000) {
    std::string text = fmt::format(
        R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {}, "dtype": "Float", "Process Group Name": "{}", "Process Group Ranks": "{}")",
        function, elements, elements, size, group, ranks);
    if (sequence) text += fmt::format(R"(, "Seq": {})", *sequence);
    return text;
  }

  SliceId collective(std::size_t rank, Nanoseconds start, Nanoseconds end, std::string_view detail) {
    return builder().add_slice(SliceKind::kernel, streams[rank], start, end - start, builder().names().intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL()"),
                               no_number, no_number, builder().details().intern(detail));
  }
  // The same behind a launch of 1 ns.
  SliceId launched_collective(std::size_t rank, Nanoseconds launched, Nanoseconds start, Nanoseconds end, std::string_view detail) {
    call(threads[rank], "cudaLaunchKernel", launched, 1, ++correlation_);
    return builder().add_slice(SliceKind::kernel, streams[rank], start, end - start, builder().names().intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL()"),
                               correlation_, no_number, builder().details().intern(detail));
  }

  std::vector<TrackId> threads, streams;

 private:
  std::uint64_t correlation_ = 5'000'000;
};

}  // namespace stepscope
