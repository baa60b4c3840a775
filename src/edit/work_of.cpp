#include "edit/work_of.h"

namespace stepscope {

namespace {

constexpr int most_nested = 10'000;

bool names_tf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos || kernel.find("s1688") != std::string_view::npos;
}

}  // namespace

const Work* WorkOf::work_of_call(SliceId call) {
  const SliceColumns& s = scene_.timeline.slices;
  const std::uint64_t key = static_cast<std::uint64_t>(s.name[call]) << 32 | static_cast<std::uint64_t>(s.detail[call]);
  const auto [found, fresh] = known_.try_emplace(key);
  if (fresh) {
    const OperatorCost* cost = find_operator_cost(scene_.timeline.name_of(call));
    const std::optional<OperatorCall> recorded = cost == nullptr ? std::nullopt : arguments(call);
    if (recorded) found->second = cost->work(*recorded);
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<OperatorCall> WorkOf::arguments(SliceId call) const {
  return parse_operator_call(scene_.timeline.name_of(call), scene_.timeline.detail_of(call));
}

WorkOf::Found WorkOf::of(OpId op) {
  const SliceId slice = graph_.operations.origin[op];
  if (slice == no_id<SliceId>) return {};
  int level = 0;
  for (SliceId at = scene_.facts.operation[slice]; at != no_id<SliceId> && level < most_nested; at = scene_.facts.operation[at], ++level) {
    const Work* work = work_of_call(at);
    if (work == nullptr) continue;
    const bool tf32 = work->matrix_units && work->type == DataType::fp32 && names_tf32(graph_.name_of(op));
    return {at, work, tf32 ? DataType::tf32 : work->type};
  }
  return {};
}

}  // namespace stepscope
