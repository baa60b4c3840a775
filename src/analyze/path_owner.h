// Whose a part of the critical path is: the operator, the module and the collective that its time is counted for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/forward_operators.h"
#include "facts/facts.h"
#include "graph/graph.h"
#include "simulate/critical_path.h"
#include "timeline/timeline.h"

namespace stepscope {

// Of one rank; lags belong to the operation that waited.
class PathOwners {
 public:
  PathOwners(const Timeline& timeline, const Facts& facts, const Graph& graph, RankId rank) : timeline_(timeline), facts_(facts), graph_(graph), rank_(rank) {}

  // The innermost operator that ran, or that launched what ran or waited; failing that, the name of the call or kernel, else "(Python)" or "(between
  // operators)". Of another rank's work with that rank's number before it.
  std::string operator_of(const PathPart& part) const;
  // "GPT/Block_3/Linear_7": the innermost module around the work or its launch, of backward work that of its forward operator, as in the module table;
  // "(outside modules)" where there is none.
  std::string module_of(const PathPart& part);
  bool has_modules();
  // "all-reduce", with its group where it has a name; absent where the part is no communication.
  std::optional<std::string> collective_of(const PathPart& part) const;

 private:
  SliceId slice_of(const PathPart& part) const { return graph_.operations.origin[part.operation]; }
  std::string module_around(SliceId slice) const;
  std::string module_of_slice(SliceId slice);
  void find_modules();

  const Timeline& timeline_;
  const Facts& facts_;
  const Graph& graph_;
  RankId rank_;
  bool sought_modules_ = false;
  bool hierarchies_ = false;                               // modules are said by operators' arguments, not by Python frames
  std::unordered_map<std::uint32_t, SliceId> first_call_;  // by the frame's name: the first call of that module, which shows its whole path
  std::optional<ForwardOperators> forward_;
};

}  // namespace stepscope
