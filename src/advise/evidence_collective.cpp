#include "advise/evidence_collective.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/intervals.h"

namespace stepscope::on_device {

CollectiveEvidence::CollectiveEvidence(const AdviceScene& scene) : e(scene) {
  // Compute kernels of each device by start, with their phase and whether they multiply matrices.
  struct Compute {
    Nanoseconds start = 0;
    Phase phase{};
    bool product = false;
  };
  std::vector<std::vector<Compute>> compute(scene.facts.devices.size());
  std::vector<char> product(e.slices.size(), 0);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row)
    product[row] = has_any_text(e.name(e.slices[row]), {"gemm", "Cijk", "nvjet", "cutlass", "matmul"}) ||
                   e.around(e.slices[row], [](std::string_view name) { return operator_category(name) == OperatorCategory::gemm; }) != no_id<SliceId>;
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity == ActivityClass::compute) compute[one.device].push_back({one.time.begin, e.phase(one), product[row] != 0});
  }
  std::vector<SliceId> transients(scene.facts.start_transients.begin(), scene.facts.start_transients.end());
  std::ranges::sort(transients);
  for (std::uint32_t row = 0; row < e.slices.size(); ++row) {
    const DeviceSlice& one = e.slices[row];
    if (one.activity != ActivityClass::communication) continue;
    // The first collectives of a capture wait for ranks that still start their profilers.
    if (std::ranges::binary_search(transients, one.slice)) continue;
    DeviceCollective found{.row = row, .call = collective_call(scene.timeline, scene.facts, one.slice), .group = {}};
    if (!found.call.group.empty() || !found.call.group_ranks.empty()) found.group = found.call.group + " " + found.call.group_ranks;
    found.exposed = e.exposed(one);
    found.phase = e.phase(one);
    const std::vector<Compute>& mine = compute[one.device];
    const auto next = std::ranges::upper_bound(mine, one.time.begin, {}, &Compute::start);
    if (found.phase != Phase::forward && found.phase != Phase::backward)
      for (auto back = next; back != mine.begin() && next - back < 20;) {
        --back;
        if (back->phase == Phase::other) continue;
        found.phase = back->phase;
        break;
      }
    bool before = false, after = false;
    for (auto back = next; back != mine.begin() && next - back < 4;) before |= (--back)->product;
    for (auto on = next; on != mine.end() && on - next < 4; ++on) after |= on->product;
    found.between_products = before && after;
    all.push_back(std::move(found));
  }
  for (const DeviceCollective& one : all) {
    const bool reduces = one.call.function == CollectiveFunction::all_reduce || one.call.function == CollectiveFunction::reduce_scatter;
    if (reduces && one.phase == Phase::forward && one.between_products && one.call.bytes.value_or(0) >= 1 << 20 && !one.group.empty())
      tensor_groups_.insert(one.group);
  }
  const Graph& graph = scene.lifted.graph;
  for (std::uint32_t row = 0; row < graph.size(); ++row) {
    const OpId op{row};
    if (graph.operations.operation_class[op] != OperationClass::transfer) continue;
    for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op); ++i)
      if (graph.dependencies.kind[i] == DependencyKind::collective) transfer_of_[graph.dependencies.moment[i].operation()] = op;
  }
}

bool CollectiveEvidence::context_parallel(const DeviceCollective& one) const {
  const auto says = [](std::string_view name) {
    return has_any_text(name, {"WithCP", "ring_attention", "RingAttention", "context_parallel", "ContextParallel", "Ulysses"});
  };
  for (const Rank& rank : e.scene.timeline.ranks)
    for (const ProcessGroup& group : rank.groups)
      if (group.name == one.call.group && !group.name.empty() && has_any_text(group.description, {"context_parallel", "CONTEXT_PARALLEL", "mesh_cp"}))
        return true;
  return e.around(slice(one), says) != no_id<SliceId>;
}

bool CollectiveEvidence::point_to_point(const DeviceCollective& one) const {
  using enum CollectiveFunction;
  return one.call.function == send_receive || one.call.function == send || one.call.function == receive;
}

bool CollectiveEvidence::gradient_reduction(const DeviceCollective& one) const {
  const bool reduces = one.call.function == CollectiveFunction::all_reduce || one.call.function == CollectiveFunction::reduce_scatter;
  // A few values (norms, losses, flags) are no gradients.
  return reduces && one.phase == Phase::backward && one.call.bytes.value_or(1 << 20) >= 4'096 && !tensor_parallel(one) && !context_parallel(one);
}

bool CollectiveEvidence::parameter_gather(const DeviceCollective& one) const {
  return one.call.function == CollectiveFunction::all_gather && one.call.bytes.value_or(1 << 20) >= 4'096 && !tensor_parallel(one) && !context_parallel(one);
}

std::map<std::uint32_t, double> CollectiveEvidence::free_compute(std::initializer_list<Phase> phases) const {
  std::map<std::uint32_t, std::array<std::vector<Interval>, 2>> by_window;
  for (const DeviceSlice& one : e.slices) {
    if (!one.counted) continue;
    if (one.activity == ActivityClass::communication) by_window[one.window][1].push_back(one.time);
    if (one.activity == ActivityClass::compute && std::ranges::find(phases, e.phase(one)) != phases.end()) by_window[one.window][0].push_back(one.time);
  }
  std::map<std::uint32_t, double> free;
  for (auto& [window, families] : by_window) {
    for (auto& intervals : families) {
      std::ranges::sort(intervals, {}, &Interval::begin);
      intervals = merge_intervals(intervals);
    }
    free[window] = static_cast<double>(difference_length(families[0], families[1]));
  }
  return free;
}

bool CollectiveEvidence::has_experts() const {
  return std::ranges::any_of(e.slices, [&](const DeviceSlice& one) {
    return has_any_text(e.operator_name(one), {"grouped_mm", "GroupedLinear", "GroupedGemm", "moe", "MoE", "topk"}) ||
           has_any_text(e.name(one), {"grouped_gemm", "moe_", "deep_ep::"});
  });
}

double CollectiveEvidence::exposed(const std::vector<const DeviceCollective*>& chosen) const {
  std::vector<std::uint32_t> rows;
  for (const DeviceCollective* one : chosen) rows.push_back(one->row);
  return e.exposed_union(rows);
}

void CollectiveEvidence::shorten(ScaleEdits& edits, const DeviceCollective& one, double hidden) const {
  const double duration = static_cast<double>(slice(one).duration());
  if (duration <= 0) return;
  edits.add(slice(one).op, 1 - hidden / duration);
  if (const auto transfer = transfer_of_.find(slice(one).op); transfer != transfer_of_.end()) edits.add(transfer->second, 1 - hidden / duration);
}

std::vector<OpId> CollectiveEvidence::operations(const std::vector<const DeviceCollective*>& chosen) const {
  std::vector<OpId> operations;
  for (const DeviceCollective* one : chosen) {
    operations.push_back(slice(*one).op);
    if (const auto transfer = transfer_of_.find(slice(*one).op); transfer != transfer_of_.end()) operations.push_back(transfer->second);
  }
  std::ranges::sort(operations);
  const auto same = std::ranges::unique(operations);
  operations.erase(same.begin(), same.end());
  return operations;
}

Picked CollectiveEvidence::picked(const std::vector<const DeviceCollective*>& chosen) const {
  Picked picked(e);
  for (const DeviceCollective* one : chosen) picked.add(one->row, static_cast<double>(one->exposed));
  return picked;
}

std::optional<double> CollectiveEvidence::bus_bandwidth(const DeviceCollective& one) const {
  const auto factor = bus_factor(one.call.function, one.call.group_size);
  const Nanoseconds duration = slice(one).duration();
  if (!factor || !one.call.bytes || duration <= 0) return std::nullopt;
  return static_cast<double>(*one.call.bytes) * *factor / static_cast<double>(duration) * 1e9;
}

Arrivals arrivals_of(const AdviceScene& scene) {
  Arrivals found;
  const Graph& graph = scene.lifted.graph;
  for (std::uint32_t row = 0; row < graph.size(); ++row) {
    const OpId transfer{row};
    if (graph.operations.operation_class[transfer] != OperationClass::transfer) continue;
    std::vector<std::pair<Nanoseconds, OpId>> members;
    for (std::uint32_t i = graph.first_dependency(transfer); i < graph.end_dependency(transfer); ++i)
      if (graph.dependencies.kind[i] == DependencyKind::collective) {
        const OpId member = graph.dependencies.moment[i].operation();
        members.emplace_back(scene.times.start(member), member);
      }
    if (members.size() < 2) continue;
    std::ranges::sort(members);
    const auto [latest, late] = members.back();
    ++found.transfers;
    ++found.last[graph.place_of(late).rank];
    found.cost[graph.place_of(late).rank] += static_cast<double>(latest - members[members.size() - 2].first);
    for (const auto& [start, member] : members) {
      found.waited += static_cast<double>(latest - start);
      found.transferred += static_cast<double>(graph.operations.duration[transfer]);
      if (graph.operations.origin[member] != no_id<SliceId>) found.waits.emplace_back(static_cast<double>(latest - start), graph.operations.origin[member]);
    }
  }
  std::ranges::stable_sort(found.waits, [](const auto& a, const auto& b) { return a.first > b.first; });
  return found;
}

std::vector<SliceId> Arrivals::longest_waits() const {
  std::vector<SliceId> slices;
  for (std::size_t i = 0; i < waits.size() && i < 10; ++i) slices.push_back(waits[i].second);
  return slices;
}

std::map<std::uint32_t, Interval> steady_states(const DeviceEvidence& e) {
  std::map<std::uint32_t, Interval> steady;
  for (const DeviceSlice& one : e.slices) {
    if (!one.counted || one.activity != ActivityClass::compute) continue;
    Interval& state = steady.try_emplace(one.window, Interval{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()}).first->second;
    if (e.phase(one) == Phase::backward) state.begin = std::min(state.begin, one.time.begin);
    if (e.phase(one) == Phase::forward && e.scene.facts.recomputed[one.slice] == 0) state.end = std::max(state.end, one.time.end);
  }
  return steady;
}

std::string_view remark_of_one_rank(const DeviceEvidence& evidence) {
  return evidence.one_rank() ? " The trace of one rank does not tell how much of it is waiting for other ranks." : "";
}

void settle_by_ranks(Finding& finding, const DeviceEvidence& evidence, std::string_view otherwise) {
  finding.confidence = evidence.one_rank() ? Confidence::low : Confidence::medium;
  finding.would_settle = evidence.one_rank() ? wait_or_transfer : otherwise;
}

}  // namespace stepscope::on_device
