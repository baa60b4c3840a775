// Work beside the critical path: how much longer it may last before the step does.
#pragma once

#include "analyze/findings.h"
#include "analyze/path_owner.h"
#include "lift/lift.h"
#include "simulate/critical_path.h"

namespace stepscope {

// Of the operations on a device and of the collectives' transfers that start in the path's window and are not on it, by operator and class, those of most time
// first. least_slack_ns, median_slack_ns: of the operations that the window's end waits for (simulate/critical_path.h: slack); unawaited: those it does not.
Table table_beside_path(const Graph& graph, const ReplayTimes& times, const GraphWindow& window, const CriticalPath& path, const PathOwners& owners);

}  // namespace stepscope
