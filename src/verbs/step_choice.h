// Which steps --steps means, and what time they cover on the host and on each device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "facts/facts.h"

namespace stepscope {

class StepChoice {
 public:
  // "all", "last", "5", "3-5".
  static Result<StepChoice> parse(const std::string& text);

  bool all() const { return kind_ == Kind::all; }
  // Whether any of the ranks has such a step; an error says which steps there are.
  Result<void> check(const Timeline& timeline, const Facts& facts, const std::vector<RankId>& ranks) const;
  // Time from the first to the last chosen step; absent where the rank or device has none of them. Meaningless for all().
  std::optional<Interval> host_window(const RankSteps& steps) const;
  std::optional<Interval> device_window(const DeviceFacts& device, const RankSteps& steps) const;

 private:
  enum class Kind { all, last, range };
  bool contains(std::int64_t number, const RankSteps& steps) const;
  Kind kind_ = Kind::all;
  std::int64_t first_ = 0, last_ = 0;  // of a range, both included
  std::string text_;
};

}  // namespace stepscope
