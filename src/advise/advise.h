// All rules asked, and what they found ranked by gain: greedy and marginal (METRICS.md, Gain of a fix). The first is the one that alone saves most; each next
// one the one that saves most on top of those before it. Gains do not add.
#pragma once

#include <optional>
#include <vector>

#include "advise/rule.h"

namespace stepscope {

struct Advice {
  const Rule* rule = nullptr;
  Finding finding;
  // Per step, ns, of the replay with this and all those before it, against the replay with those before it. Absent where nothing can be replayed.
  std::optional<double> gain_ns;
  double alone_ns = 0;                           // the same without the others
  double pessimistic_ns = 0, optimistic_ns = 0;  // the band of gain_ns by what the edits say of themselves
  std::vector<std::string> caveats;              // of the edits
};

struct AdviceList {
  double step_ns = 0;          // the replayed step before any edit
  double after_all_ns = 0;     // with all the edits of the list
  std::vector<Advice> advice;  // by gain; those without a gain last
};

struct AdviceOptions {
  double least_share = 0.005;  // of the step: gains below are left out (ours: what a run's own spread hides)
};

AdviceList advise(const AdviceScene& scene, const AdviceOptions& options = {});

}  // namespace stepscope
