#include "advise/evidence_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/intervals.h"
#include "base/statistics.h"
#include "cost/arguments.h"
#include "cost/roofline.h"
#include "facts/recorded_argument.h"
#include "simulate/step_length.h"

namespace stepscope::on_device {

DeviceEvidence::DeviceEvidence(const AdviceScene& the_scene) : scene(the_scene) {
  const SliceColumns& s = scene.timeline.slices;
  const std::vector<DeviceFacts>& devices = scene.facts.devices;
  counted_windows_.resize(devices.size());
  compute_.resize(devices.size());
  for (const std::uint32_t row : representative_windows(scene.lifted)) {
    const GraphWindow& window = scene.lifted.windows[row];
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (devices[d].device != window.device) continue;
      counted_windows_[d].push_back(window.measured);
      span += static_cast<double>(window.measured.length());
      windows += 1;
    }
  }
  std::uint32_t windows_before = 0;
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    std::ranges::sort(counted_windows_[d], {}, &Interval::begin);
    std::vector<Interval> compute;
    const std::uint32_t first_window = windows_before;
    windows_before += static_cast<std::uint32_t>(counted_windows_[d].size());
    for (const SliceId id : devices[d].slices) {
      const OpId op = scene.lifted.operation_of[id];
      if (op == no_id<OpId>) continue;
      DeviceSlice one{.slice = id, .op = op, .time = {s.start[id], s.end(id)}, .activity = scene.facts.activity[id], .device = d};
      const auto after = std::ranges::upper_bound(counted_windows_[d], one.time.begin, {}, &Interval::begin);
      one.counted = after != counted_windows_[d].begin() && std::prev(after)->contains(one.time.begin);
      if (one.counted) one.window = first_window + static_cast<std::uint32_t>(after - counted_windows_[d].begin()) - 1;
      if (one.activity == ActivityClass::compute) compute.push_back(one.time);
      trains_ |= one.counted && scene.facts.phase[id] == Phase::backward;
      slices.push_back(one);
    }
    std::ranges::sort(compute, {}, &Interval::begin);
    compute_[d] = merge_intervals(compute);
  }
}

std::string DeviceEvidence::amount(double ns) const {
  return fmt::format("{} per step ({})", time_text(per_step(ns)), percent(share(ns)));
}

std::string_view DeviceEvidence::operator_name(const DeviceSlice& one) const {
  const SliceId operation = scene.facts.operation[one.slice];
  return operation == no_id<SliceId> ? std::string_view{} : name(operation);
}

double DeviceEvidence::counted(ActivityClass activity) const {
  double sum = 0;
  for (const DeviceSlice& one : slices)
    if (one.counted && one.activity == activity) sum += static_cast<double>(one.duration());
  return sum;
}

std::optional<double> DeviceEvidence::blocks(const DeviceSlice& one) const {
  const auto grid = recorded_argument(scene.timeline.detail_of(one.slice), "grid");
  if (!grid) return std::nullopt;
  double product = 1;
  int numbers = 0;
  for (const char* at = grid->data(); at < grid->data() + grid->size();) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(at, grid->data() + grid->size(), number);
    if (error == std::errc{}) {
      product *= static_cast<double>(number);
      ++numbers;
      at = end;
    } else {
      ++at;
    }
  }
  return numbers > 0 && product > 0 ? std::optional(product) : std::nullopt;
}

std::optional<double> DeviceEvidence::multiprocessors(const DeviceSlice& one) const {
  const Device& device = scene.timeline.devices[index(scene.facts.devices[one.device].device)];
  if (device.multiprocessors > 0) return static_cast<double>(device.multiprocessors);
  if (scene.gpu != nullptr && scene.gpu->multiprocessors) return static_cast<double>(*scene.gpu->multiprocessors);
  return std::nullopt;
}

int DeviceEvidence::capability(const DeviceSlice& one) const {
  const Device& device = scene.timeline.devices[index(scene.facts.devices[one.device].device)];
  if (scene.gpu != nullptr && scene.gpu->vendor != "NVIDIA") return 0;
  return device.compute_major > 0 && device.compute_major < 100 ? 10 * device.compute_major + device.compute_minor : 0;
}

std::vector<DeviceCall> DeviceEvidence::calls() {
  std::vector<DeviceCall> found;
  std::map<SliceId, std::size_t> place;
  const SliceColumns& s = scene.timeline.slices;
  for (std::uint32_t row = 0; row < slices.size(); ++row) {
    const DeviceSlice& one = slices[row];
    if (one.activity != ActivityClass::compute) continue;
    SliceId at = scene.facts.operation[one.slice];
    for (int level = 0; at != no_id<SliceId> && level < 200; at = scene.facts.operation[at], ++level) {
      const auto [known, fresh] = known_by_name_.try_emplace({s.name[at], s.detail[at]}, nullptr);
      if (fresh) {
        Known& made = known_.emplace_back();
        made.cost = find_operator_cost(name(at));
        if (made.cost != nullptr)
          if (auto call = parse_operator_call(name(at), scene.timeline.details[s.detail[at]])) {
            made.work = made.cost->work(*call);
            made.call = std::move(*call);
          }
        known->second = &made;
      }
      if (!known->second->work) continue;
      const auto [where, first] = place.try_emplace(at, found.size());
      if (first)
        found.push_back({.operation = at,
                         .cost = known->second->cost,
                         .work = &*known->second->work,
                         .arguments = &known->second->call,
                         .type = known->second->work->type,
                         .rows = {}});
      DeviceCall& call = found[where->second];
      call.rows.push_back(row);
      call.time += one.duration();
      if (one.counted) call.counted += one.duration();
      if (call.type == DataType::fp32 && call.work->matrix_units && has_any_text(name(one), {"tf32", "s1688"})) call.type = DataType::tf32;
      break;
    }
  }
  return found;
}

Nanoseconds DeviceEvidence::exposed(const DeviceSlice& one) const {
  const std::vector<Interval>& compute = compute_[one.device];
  Nanoseconds left = one.duration();
  auto at = std::ranges::upper_bound(compute, one.time.begin, {}, &Interval::end);
  for (; at != compute.end() && at->begin < one.time.end; ++at) left -= std::min(at->end, one.time.end) - std::max(at->begin, one.time.begin);
  return std::max<Nanoseconds>(0, left);
}

double DeviceEvidence::exposed_union(const std::vector<std::uint32_t>& rows) const {
  double sum = 0;
  for (std::uint32_t d = 0; d < compute_.size(); ++d) {
    std::vector<Interval> chosen;
    for (const std::uint32_t row : rows)
      if (slices[row].device == d && slices[row].counted) chosen.push_back(slices[row].time);
    std::ranges::sort(chosen, {}, &Interval::begin);
    sum += static_cast<double>(difference_length(merge_intervals(chosen), compute_[d]));
  }
  return sum;
}

std::optional<double> bound_ns(const Gpu* gpu, const Work& work, DataType type) {
  if (gpu == nullptr) return std::nullopt;
  const std::optional<Bound> bound = roofline_bound(*gpu, work, type);
  return bound ? std::optional(bound->seconds * 1e9) : std::nullopt;
}

double usual_efficiency(const Gpu* gpu, const std::vector<DeviceCall>& calls) {
  std::vector<double> reached;
  for (const DeviceCall& call : calls) {
    if (!call.work->matrix_units || call.type == DataType::fp32 || call.type == DataType::fp64 || call.time < 10'000) continue;
    if (const auto bound = bound_ns(gpu, *call.work, call.type)) reached.push_back(*bound / static_cast<double>(call.time));
  }
  if (reached.empty()) return 0.6;
  std::ranges::sort(reached);
  return std::clamp(reached[reached.size() / 2], 0.3, 0.9);
}

std::optional<Product> product_of(const OperatorCall& call) {
  const std::string_view name = call.name;
  const bool added = has_any_text(name, {"addmm", "baddbmm"}) && !has_text(name, "addmm_activation_");
  const bool plain = name == "aten::mm" || name == "aten::bmm" || name == "aten::matmul" || name == "aten::linear" || has_text(name, "_scaled_mm");
  if (!added && !plain) return std::nullopt;
  const Argument* a = tensor_argument(call, added ? 1 : 0);
  const Argument* b = tensor_argument(call, added ? 2 : 1);
  if (a == nullptr || b == nullptr || a->shape.size() < 2 || b->shape.size() < 2) return std::nullopt;
  const auto size = [](const Argument* tensor, std::size_t from_end) { return static_cast<double>(tensor->shape[tensor->shape.size() - from_end]); };
  Product product{.batch = 1, .m = size(a, 2), .n = size(b, 1), .k = size(a, 1)};
  double rest = 1;
  for (std::size_t i = 0; i + 2 < a->shape.size(); ++i) rest *= static_cast<double>(a->shape[i]);
  if (name == "aten::linear") product.n = size(b, 2);
  (b->shape.size() == 2 ? product.m : product.batch) *= rest;
  return product.m > 0 && product.n > 0 && product.k > 0 && product.batch > 0 ? std::optional(product) : std::nullopt;
}

std::optional<Tile> tile_of(std::string_view kernel) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto read = [&](std::size_t at) -> std::optional<Tile> {
    std::uint32_t rows = 0, columns = 0;
    const char* end = kernel.data() + kernel.size();
    const auto first = std::from_chars(kernel.data() + at, end, rows);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, columns);
    if (second.ec != std::errc{} || rows < 16 || columns < 16 || rows > 512 || columns > 512) return std::nullopt;
    return Tile{static_cast<double>(rows), static_cast<double>(columns)};
  };
  for (const std::string_view word : {"tilesize", "_MT"})
    if (const std::size_t at = kernel.find(word); at != std::string_view::npos) return read(at + word.size());
  // nvjet_hsh_128x256_64x4_…, ampere_bf16_s16816gemm_bf16_128x64_…; of cutlass names (…_16x16_128x2_…) the first pair is the tile.
  const std::size_t gemm = kernel.find("gemm"), nvjet = kernel.find("nvjet");
  std::size_t at = gemm != std::string_view::npos ? gemm : nvjet;
  for (; at != std::string_view::npos && at < kernel.size(); ++at)
    if (digit(kernel[at]) && !digit(kernel[at - 1]) && kernel[at - 1] == '_')
      if (const auto tile = read(at)) return tile;
  return std::nullopt;
}

void Picked::add(std::uint32_t row, std::optional<double> weight) {
  const DeviceSlice& one = evidence_.slices[row];
  rows_.push_back(row);
  if (!one.counted) return;
  time_ += static_cast<double>(one.duration());
  ++count_;
  weights_.emplace_back(weight.value_or(static_cast<double>(one.duration())), one.slice);
}

void Picked::add(const DeviceCall& call) {
  for (const std::uint32_t row : call.rows) add(row);
}

std::vector<OpId> Picked::operations() const {
  std::vector<OpId> operations;
  for (const std::uint32_t row : rows_) operations.push_back(evidence_.slices[row].op);
  std::ranges::sort(operations);
  const auto same = std::ranges::unique(operations);
  operations.erase(same.begin(), same.end());
  return operations;
}

std::vector<SliceId> Picked::evidence() const {
  std::vector<std::pair<double, SliceId>> sorted = weights_;
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<SliceId> slices;
  for (std::size_t i = 0; i < sorted.size() && i < 10; ++i) slices.push_back(sorted[i].second);
  return slices;
}

void ScaleEdits::add(OpId op, double factor) {
  const int thousandths = static_cast<int>(std::lround(std::clamp(factor, 0.0, 1.0) * 1000));
  if (thousandths < 1000) operations_[thousandths].push_back(op);
}

void ScaleEdits::add(const DeviceEvidence& evidence, const DeviceCall& call, double factor) {
  for (const std::uint32_t row : call.rows) add(evidence.slices[row].op, factor);
}

std::vector<Edit> ScaleEdits::edits() const {
  std::vector<Edit> edits;
  for (const auto& [thousandths, operations] : operations_) {
    std::vector<OpId> sorted = operations;
    std::ranges::sort(sorted);
    edits.push_back(edit_of("scale", std::move(sorted), {{"by", fmt::format("{:g}", thousandths / 1000.0)}}));
  }
  return edits;
}

std::string time_text(double ns) {
  return format_duration(static_cast<Nanoseconds>(std::llround(ns)));
}
std::string megabytes(double bytes) {
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

}  // namespace stepscope::on_device
