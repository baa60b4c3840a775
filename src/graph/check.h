// The invariants of a Graph.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace stepscope {

// What is wrong, the first 20 violations in words; empty = nothing. O(operations + dependencies).
std::vector<std::string> check(const Graph& graph);

}  // namespace stepscope
