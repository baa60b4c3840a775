// Where the optimizer's part of each step begins, by the host's clock, and what copies an operator made.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "advise/rule.h"

namespace stepscope {

class OptimizerTime {
 public:
  explicit OptimizerTime(const AdviceScene& scene);

  // Whether a time lies behind the last backward operator of a step and before the end of its optimizer's first range: where gradients are clipped and checked.
  bool before_update(RankId rank, Nanoseconds time) const;
  // The optimizer's ranges ("Optimizer.step#…", outermost) of a rank, by begin.
  std::span<const SliceId> ranges(RankId rank) const { return ranges_[index(rank)]; }
  // The copies that an operator (the innermost around their launch) made.
  std::span<const SliceId> copies_of(SliceId operation) const;

 private:
  std::vector<std::vector<SliceId>> ranges_;
  std::vector<std::vector<Interval>> updates_;  // from the last backward operator's end to the end of the optimizer's range, by begin
  std::unordered_map<SliceId, std::vector<SliceId>> copies_;
};

}  // namespace stepscope
