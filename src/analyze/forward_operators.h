// The forward operator that a backward one belongs to, by autograd's sequence number.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "timeline/timeline.h"

namespace stepscope {

inline bool is_backward_operator(const SequenceFact& fact) {
  return fact.sequence >= 0 && fact.forward_thread != 0 && fact.forward_thread != no_number;
}

// The forward operators of a rank. Numbers count per thread, so that operators of several threads may carry one number; which track a "Fwd thread id" means is
// learnt from the numbers that only one thread carries.
class ForwardOperators {
 public:
  ForwardOperators(const Timeline& timeline, RankId rank);
  // Of the forward operators with one number the last one begun made the autograd node: the ones before it only foresaw the number. no_id = none.
  SliceId operator_of(const SequenceFact& backward) const;

 private:
  struct Row {
    std::int64_t sequence;
    TrackId track;
    Nanoseconds start, minus_duration;  // of those that start together the innermost comes last
    SliceId slice;
    friend auto operator<=>(const Row&, const Row&) = default;
  };
  std::span<const Row> with_number(std::int64_t sequence) const;
  std::vector<Row> rows_;
  std::map<std::uint64_t, TrackId> tracks_;  // by "Fwd thread id"
};

}  // namespace stepscope
