#include "analyze/path_owner.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/kernel_name.h"
#include "facts/collective_call.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

constexpr std::string_view frame_prefix = "nn.Module: ";
constexpr std::string_view hierarchy_key = "Module Hierarchy";

bool is_module_call(const Timeline& timeline, SliceId slice) {
  if (timeline.slices.kind[slice] != SliceKind::python_function) return false;
  const auto found = std::ranges::lower_bound(timeline.python, slice, {}, &PythonFact::slice);
  return found != timeline.python.end() && found->slice == slice && found->module != 0xFFFF'FFFFu;
}

std::string_view module_name(const Timeline& timeline, SliceId slice) {
  std::string_view name = timeline.name_of(slice);
  if (name.starts_with(frame_prefix)) name.remove_prefix(frame_prefix.size());
  return name;
}

}  // namespace

std::string PathOwners::operator_of(const PathPart& part) const {
  std::string name;
  const SliceId slice = slice_of(part);
  if (slice == no_id<SliceId>) {
    name = std::string(graph_.name_of(part.operation));
    if (name.empty()) name = "(between operators)";
  } else {
    const SliceKind kind = timeline_.slices.kind[slice];
    const SliceId around = kind == SliceKind::operation ? slice : facts_.operation[slice];
    if (graph_.operations.operation_class[part.operation] == OperationClass::python) {
      name = kind == SliceKind::python_function ? "(Python)" : "(between operators)";
    } else if (around != no_id<SliceId>) {
      name = std::string(timeline_.name_of(around));
    } else {
      name = is_device_activity(kind) ? readable_kernel_name(timeline_.name_of(slice)) : std::string(timeline_.name_of(slice));
    }
  }
  const RankId rank = graph_.place_of(part.operation).rank;
  return rank == rank_ || rank == no_id<RankId> ? name : fmt::format("rank {}: {}", timeline_.ranks[index(rank)].number, name);
}

void PathOwners::find_modules() {
  if (sought_modules_) return;
  sought_modules_ = true;
  for (const PythonFact& fact : timeline_.python) {  // by slice: of each name the first row stands, earlier calls come first
    if (fact.module == 0xFFFF'FFFFu || timeline_.track_of(fact.slice).rank != rank_) continue;
    const auto [at, fresh] = first_call_.try_emplace(static_cast<std::uint32_t>(timeline_.slices.name[fact.slice]), fact.slice);
    if (!fresh && timeline_.slices.start[fact.slice] < timeline_.slices.start[at->second]) at->second = fact.slice;
  }
  if (!first_call_.empty()) return;
  for (std::uint32_t i = 0; i < timeline_.details.size() && !hierarchies_; ++i)
    hierarchies_ = timeline_.details[NameId{i}].find("\"Module Hierarchy\"") != std::string_view::npos;
}

bool PathOwners::has_modules() {
  find_modules();
  return !first_call_.empty() || hierarchies_;
}

std::string PathOwners::module_around(SliceId slice) const {
  for (SliceId up = slice; up != no_id<SliceId>; up = facts_.parent[up]) {
    if (hierarchies_ && timeline_.slices.kind[up] == SliceKind::operation) {
      const auto hierarchy = recorded_argument(timeline_.detail_of(up), hierarchy_key);
      if (hierarchy && !hierarchy->empty()) return std::string(*hierarchy);
    }
    if (!is_module_call(timeline_, up)) continue;
    const auto first = first_call_.find(static_cast<std::uint32_t>(timeline_.slices.name[up]));
    std::string path;
    for (SliceId outer = first == first_call_.end() ? up : first->second; outer != no_id<SliceId>; outer = facts_.parent[outer])
      if (is_module_call(timeline_, outer)) path.insert(0, std::string(module_name(timeline_, outer)) + (path.empty() ? "" : "/"));
    return path;
  }
  return {};
}

std::string PathOwners::module_of_slice(SliceId slice) {
  const bool on_device = is_device_activity(timeline_.slices.kind[slice]);
  if (std::string path = module_around(on_device ? facts_.launch[slice] : slice); !path.empty()) return path;
  if (timeline_.slices.kind[slice] != SliceKind::operation)
    if (std::string path = module_around(facts_.operation[slice]); !path.empty()) return path;
  for (SliceId up = timeline_.slices.kind[slice] == SliceKind::operation ? slice : facts_.operation[slice]; up != no_id<SliceId>; up = facts_.operation[up]) {
    const auto fact = std::ranges::lower_bound(timeline_.sequences, up, {}, &SequenceFact::slice);
    if (fact == timeline_.sequences.end() || fact->slice != up || !is_backward_operator(*fact)) continue;
    if (!forward_) forward_.emplace(timeline_, rank_);
    const SliceId forward = forward_->operator_of(*fact);
    return forward == no_id<SliceId> ? std::string() : module_around(forward);
  }
  return {};
}

std::string PathOwners::module_of(const PathPart& part) {
  find_modules();
  const RankId rank = graph_.place_of(part.operation).rank;
  if (rank != rank_ && rank != no_id<RankId>) return fmt::format("(rank {})", timeline_.ranks[index(rank)].number);
  const SliceId slice = slice_of(part);
  std::string path = slice == no_id<SliceId> ? std::string() : module_of_slice(slice);
  return path.empty() ? "(outside modules)" : path;
}

std::optional<std::string> PathOwners::collective_of(const PathPart& part) const {
  const OperationClass operation_class = graph_.operations.operation_class[part.operation];
  if (part.kind != PathPartKind::communication && !(part.kind == PathPartKind::other_rank && operation_class == OperationClass::communication))
    return std::nullopt;
  const SliceId slice = slice_of(part);
  if (slice == no_id<SliceId> || facts_.activity[slice] != ActivityClass::communication) return std::string(graph_.name_of(part.operation));
  const CollectiveCall call = collective_call(timeline_, facts_, slice);
  std::string name =
      call.function == CollectiveFunction::unknown ? readable_kernel_name(timeline_.name_of(slice)) : std::string(collective_function_name(call.function));
  if (!call.group.empty()) name += " in group " + call.group;
  return name;
}

}  // namespace stepscope
