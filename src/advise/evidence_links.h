// What the rules about links within a node share: large collectives by group, and the share of the links that they reach.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "advise/evidence_collective.h"

namespace stepscope::on_device {

// The calls of one function in one group within a node, of 64 MiB and more: at least three, because one or two may have waited.
struct LinkUse {
  std::vector<const DeviceCollective*> calls;
  double reached = 0;         // of the links, by the fastest call
  bool few_channels = false;  // fewer than 8 blocks
};

struct SlowLinks {
  Picked picked;
  std::vector<Edit> edits;
  double slowest = 1;  // share of the links
};

// Of the groups for which is_slow() holds: their calls, sped up to `sound` of the links, at most so many times. Absent where the GPU's links are not known, or
// where the calls take less than 1 % of the step.
std::optional<SlowLinks> slow_links(const CollectiveEvidence& c, const std::function<bool(const LinkUse&)>& is_slow, double sound, double most_times);

}  // namespace stepscope::on_device
