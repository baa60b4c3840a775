// FLOPs and bytes of the operators that a device ran, what they reached, and what the GPU could have reached (METRICS.md, Work). The question also answers with
// the FLOP utilisation (mfu.cpp), because both need the work of every call.
//
// One row per (operator, shapes): sums over its calls. Device time = durations of the kernels counted for it (operator_work.h), summed. Achieved rates = FLOPs
// and bytes over device time. Bound = Σ over calls of max(FLOPs / rate, bytes / bandwidth); efficiency = bound / device time.
// Bytes assume that each tensor crosses the memory once: what stays in a cache can beat the bound.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/operator_work.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

struct Sums {
  std::int64_t calls = 0, recomputed = 0, kernels = 0;
  double flops = 0, bytes = 0;
  Nanoseconds device = 0;
  double bound_seconds = 0, compute_bound_seconds = 0;
  Nanoseconds bounded = 0;  // device time of calls whose bound is known

  void add(const CallWork& call, const Work& work, const std::optional<Bound>& bound) {
    ++calls;
    recomputed += call.recomputed;
    kernels += call.kernels;
    flops += work.flops;
    bytes += work.bytes;
    device += call.device_time;
    if (!bound) return;
    bound_seconds += bound->seconds;
    if (bound->by_compute) compute_bound_seconds += bound->seconds;
    bounded += call.device_time;
  }
  bool has_bound() const { return bounded == device && device > 0; }
  Nanoseconds bound_ns() const { return static_cast<Nanoseconds>(bound_seconds * 1e9 + 0.5); }
};

struct Row {
  std::string_view name, category;
  std::string shape, type;
  Sums sums;
};

std::vector<Row> rows_by_operator(const Scene& scene, const OperatorWork& work) {
  std::map<std::tuple<NameId, std::string_view, double, double, DataType>, std::size_t> places;
  constexpr std::size_t unseen = ~std::size_t{0};
  std::vector<std::array<std::size_t, 2>> row_of(work.known.size(), {unseen, unseen});  // by known work, and whether it ran in TF32
  std::vector<Row> rows;
  for (const CallWork& call : work.calls) {
    const KnownWork& known = work.known[call.known];
    const DataType type = rate_type(known, call);
    std::size_t& place = row_of[call.known][type == DataType::tf32 ? 1 : 0];
    if (place == unseen) {
      place = places.try_emplace({known.name, known.work.description, known.work.flops, known.work.bytes, type}, rows.size()).first->second;
      if (place == rows.size())
        rows.push_back(
            {scene.timeline.names[known.name], operator_category_name(known.cost->category), known.work.description, std::string(data_type_name(type)), {}});
    }
    rows[place].sums.add(call, known.work, scene.gpu == nullptr ? std::nullopt : roofline_bound(*scene.gpu, known.work, type));
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.sums.device > b.sums.device; });
  return rows;
}

// Columns that both tables end with, and their cells.
std::vector<ColumnHeader> sums_columns() {
  return {{"calls", "Calls", Unit::count},
          {"kernels", "Kernels", Unit::count, false},
          {"device_ns", "Device", Unit::nanoseconds},
          {"share", "Share", Unit::ratio},
          {"flops", "FLOPs", Unit::flops, false},
          {"bytes", "Bytes", Unit::bytes, false},
          {"achieved_flops_per_s", "Achieved", Unit::flops_per_second},
          {"achieved_bytes_per_s", "Moved", Unit::bytes_per_second},
          {"intensity", "Intensity", Unit::flops_per_byte, false},
          {"bound_ns", "Bound", Unit::nanoseconds, false},
          {"above_bound_ns", "Above bound", Unit::nanoseconds, false},
          {"bound_by", "Bound by", Unit::none},
          {"efficiency", "Efficiency", Unit::ratio}};
}

void append_sums(std::vector<Value>& cells, const Sums& sums, Nanoseconds compute_time) {
  const bool bounded = sums.has_bound();
  const Value more[] = {whole(sums.calls),
                        whole(sums.kernels),
                        whole(sums.device),
                        share(sums.device, compute_time),
                        sums.flops,
                        sums.bytes,
                        per_second(sums.flops, sums.device),
                        per_second(sums.bytes, sums.device),
                        sums.bytes > 0 ? Value{sums.flops / sums.bytes} : absent(),
                        whole_if(bounded, sums.bound_ns()),
                        whole_if(bounded, sums.device - sums.bound_ns()),
                        bounded ? text(2 * sums.compute_bound_seconds > sums.bound_seconds ? "compute" : "memory") : absent(),
                        bounded ? Value{sums.bound_seconds * 1e9 / static_cast<double>(sums.device)} : absent()};
  cells.insert(cells.end(), std::begin(more), std::end(more));
}

Table operators_table(const std::vector<Row>& rows, Nanoseconds compute_time) {
  Table table{.key = "work",
              .title = "Operators by shape",
              .columns = {{"name", "Operator"}, {"shape", "Shape"}, {"type", "Type", Unit::none, false}, {"category", "Category", Unit::none, false}},
              .rows = {}};
  std::ranges::copy(sums_columns(), std::back_inserter(table.columns));
  table.columns.push_back({"recomputed_calls", "Recomputed", Unit::count, false});
  for (const Row& row : rows) {
    std::vector<Value> cells{text(row.name), text(row.shape), text(row.type), text(row.category)};
    append_sums(cells, row.sums, compute_time);
    cells.push_back(whole(row.sums.recomputed));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table categories_table(const std::vector<Row>& rows, Nanoseconds compute_time) {
  std::map<std::string_view, Sums> sums;
  for (const Row& row : rows) {
    Sums& sum = sums[row.category];
    sum.calls += row.sums.calls;
    sum.kernels += row.sums.kernels;
    sum.flops += row.sums.flops;
    sum.bytes += row.sums.bytes;
    sum.device += row.sums.device;
    sum.bound_seconds += row.sums.bound_seconds;
    sum.compute_bound_seconds += row.sums.compute_bound_seconds;
    sum.bounded += row.sums.bounded;
  }
  std::vector<std::pair<std::string_view, Sums>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.device > b.second.device; });
  Table table{.key = "by_category", .title = "By category", .columns = {{"category", "Category"}}, .rows = {}};
  std::ranges::copy(sums_columns(), std::back_inserter(table.columns));
  for (const auto& [category, sum] : sorted) {
    std::vector<Value> cells{text(category)};
    append_sums(cells, sum, compute_time);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table uncovered_table(const Scene& scene, const OperatorWork& work) {
  constexpr std::string_view reasons[] = {"launched by no known operator", "no formula", "arguments not recorded"};
  Table table{.key = "without_formula",
              .title = "Compute time without a formula",
              .columns = {{"name", "Operator"},
                          {"category", "Category"},
                          {"kernels", "Kernels", Unit::count},
                          {"device_ns", "Device", Unit::nanoseconds},
                          {"share", "Share", Unit::ratio},
                          {"reason", "Why"}},
              .rows = {}};
  for (const Uncovered& row : work.uncovered) {
    const std::string_view name = scene.timeline.names[row.name];
    table.rows.push_back({row.reason == NoWork::no_operator ? text("(none)") : text(name),
                          row.reason == NoWork::no_operator ? absent() : text(operator_category_name(operator_category(name))), whole(row.kernels),
                          whole(row.device_time), share(row.device_time, work.compute_time), text(reasons[static_cast<std::size_t>(row.reason)])});
  }
  return table;
}

std::string percent(double part, double all) {
  const double ratio = all <= 0 ? 0 : 100 * part / all;
  return fmt::format("{:.{}f} %", ratio, ratio < 9.95 ? 1 : 0);
}

std::string summary_of(const std::vector<Row>& rows, const OperatorWork& work, const Sums& all) {
  std::string summary =
      "Operators with a formula took " + percent(static_cast<double>(work.covered_time), static_cast<double>(work.compute_time)) + " of the compute time";
  if (all.bounded == 0) return summary + ".";
  summary += " and ran at " + percent(all.bound_seconds * 1e9, static_cast<double>(all.bounded)) + " of what the GPU could do";
  const auto above = [](const Row& row) { return row.sums.has_bound() ? row.sums.device - row.sums.bound_ns() : Nanoseconds{0}; };
  const auto worst = std::ranges::max_element(rows, {}, above);
  if (worst != rows.end() && above(*worst) > 0)
    summary += "; farthest above its bound: " + std::string(worst->name) + " " + worst->shape + ", by " + format_duration(above(*worst));
  return summary + ".";
}

std::vector<std::string> caveats_of(const Scene& scene, const OperatorWork& work, const std::vector<Row>& rows) {
  std::vector<std::string> caveats;
  if (!work.shapes_recorded) {
    caveats.push_back("The shapes of the operators were not recorded, so that FLOPs and bytes are not known: profile with record_shapes=True.");
    return caveats;
  }
  if (scene.gpu == nullptr) {
    caveats.push_back("The GPU is not known, so that there are no bounds: name it with --gpu.");
  } else {
    caveats.push_back("Rates of " + scene.gpu->title + " (" + scene.gpu->confidence + "): " + scene.gpu->source);
    if (std::ranges::any_of(rows,
                            [](const Row& row) { return row.sums.has_bound() && row.sums.bound_seconds * 1e9 > 1.02 * static_cast<double>(row.sums.device); }))
      caveats.push_back(
          "More than 100 % means that tensors stayed in a cache, that a convolution was computed by a method with fewer FLOPs (Winograd), or that fp32 ran as "
          "TF32 unseen.");
  }
  return caveats;
}

std::vector<Section> answer_work(const Scene& scene) {
  const OperatorWork work = find_operator_work(scene);
  if (work.compute_time == 0) return {};
  const std::vector<Row> rows = rows_by_operator(scene, work);
  Sums all;
  for (const Row& row : rows) {
    all.flops += row.sums.flops;
    all.bytes += row.sums.bytes;
    all.bound_seconds += row.sums.bound_seconds;
    all.bounded += row.sums.bounded;
  }
  Section section{
      .key = "work", .title = "Work and roofline", .summary = {}, .figures = {}, .tables = {}, .caveats = caveats_of(scene, work, rows), .prominence = 45};
  if (!work.shapes_recorded) {
    section.figures = {{"compute_ns", "Compute time, summed", Unit::nanoseconds, whole(work.compute_time)},
                       {"coverage", "Coverage", Unit::ratio, share(work.covered_time, work.compute_time)}};
    return {utilisation_section(scene, work), std::move(section)};
  }
  section.figures = {{"compute_ns", "Compute time, summed", Unit::nanoseconds, whole(work.compute_time)},
                     {"covered_ns", "With a formula", Unit::nanoseconds, whole(work.covered_time)},
                     {"coverage", "Coverage", Unit::ratio, share(work.covered_time, work.compute_time)},
                     {"flops", "FLOPs", Unit::flops, rows.empty() ? absent() : Value{all.flops}},
                     {"bytes", "Bytes", Unit::bytes, rows.empty() ? absent() : Value{all.bytes}},
                     {"bound_ns", "Roofline bound", Unit::nanoseconds, whole_if(all.bounded > 0, static_cast<Nanoseconds>(all.bound_seconds * 1e9 + 0.5))},
                     {"efficiency", "Efficiency", Unit::ratio, all.bounded > 0 ? Value{all.bound_seconds * 1e9 / static_cast<double>(all.bounded)} : absent()}};
  section.summary = summary_of(rows, work, all);
  if (!rows.empty()) {
    section.tables.push_back(operators_table(rows, work.compute_time));
    section.tables.push_back(categories_table(rows, work.compute_time));
  }
  if (!work.uncovered.empty()) section.tables.push_back(uncovered_table(scene, work));
  return {utilisation_section(scene, work), std::move(section)};
}

}  // namespace

extern const Question work_question{
    "work", "How much did the operators compute and move, how near did they come to what the GPU can do, and what was the FLOP utilisation (MFU)?",
    Scope::device, answer_work};

}  // namespace stepscope
