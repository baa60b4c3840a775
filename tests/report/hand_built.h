// Findings written by hand, with the keys of the real questions, for tests of the reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyze/findings.h"
#include "facts/facts.h"
#include "report/report.h"
#include "timeline/timeline.h"

namespace stepscope::hand_built {

inline Value ns(std::int64_t value) {
  return Value{value};
}

struct Times {
  std::int64_t span, compute, communication, exposed_communication, exposed_memory;
  std::int64_t host, launch, scheduling;
  std::int64_t idle() const { return span - compute - exposed_communication - exposed_memory; }
};

inline Section all_section(const Times& t) {
  Section all{.key = "all", .title = "Time breakdown", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 10};
  all.figures = {{"span_ns", "Span", Unit::nanoseconds, ns(t.span)},
                 {"idle_ns", "Idle", Unit::nanoseconds, ns(t.idle())},
                 {"compute_ns", "Compute", Unit::nanoseconds, ns(t.compute)},
                 {"communication_ns", "Communication", Unit::nanoseconds, ns(t.communication)},
                 {"exposed_communication_ns", "Exposed communication", Unit::nanoseconds, ns(t.exposed_communication)},
                 {"exposed_memory_ns", "Exposed copies", Unit::nanoseconds, ns(t.exposed_memory)}};
  return all;
}

using Steps = std::vector<std::pair<std::int64_t, Times>>;  // step time and the device's times

inline Section idle_section(const Times& t, const Steps& steps) {
  Section idle{.key = "idle_by_cause", .title = "Idle time, by cause", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 20};
  idle.figures = {{"host_ns", "Waiting for the host", Unit::nanoseconds, ns(t.host)},
                  {"launch_ns", "Launching", Unit::nanoseconds, ns(t.launch)},
                  {"scheduling_ns", "Gaps between queued kernels", Unit::nanoseconds, ns(t.scheduling)},
                  {"host_framework_ns", "host: framework and Python", Unit::nanoseconds, ns(t.host)}};
  Table table{.key = "by_step",
              .title = "Idle time by step",
              .columns = {{"step", "Step"},
                          {"host_ns", "Host", Unit::nanoseconds},
                          {"launch_ns", "Launch", Unit::nanoseconds},
                          {"scheduling_ns", "Scheduling", Unit::nanoseconds}},
              .rows = {}};
  std::int64_t number = 3;
  for (const auto& [step_time, times] : steps) table.rows.push_back({ns(number++), ns(times.host), ns(times.launch), ns(times.scheduling)});
  if (!steps.empty()) idle.tables.push_back(std::move(table));
  return idle;
}

inline Section steps_section(const Steps& steps, const std::vector<std::int64_t>& outliers) {
  Section section{
      .key = "steps", .title = "Steps", .summary = "Steps by ProfilerStep annotations.", .figures = {}, .tables = {}, .caveats = {}, .prominence = 15};
  Table table{.key = "steps",
              .title = "Steps",
              .columns = {{"step", "Step"},
                          {"step_time_ns", "Step time", Unit::nanoseconds},
                          {"span_ns", "Span", Unit::nanoseconds},
                          {"idle_ns", "Idle", Unit::nanoseconds},
                          {"compute_ns", "Compute", Unit::nanoseconds},
                          {"communication_ns", "Communication", Unit::nanoseconds},
                          {"exposed_communication_ns", "Exposed communication", Unit::nanoseconds},
                          {"exposed_memory_ns", "Exposed copies", Unit::nanoseconds},
                          {"outlier", "Outlier"}},
              .rows = {}};
  std::int64_t number = 3;
  for (const auto& [step_time, t] : steps) {
    const bool outlier = std::find(outliers.begin(), outliers.end(), number) != outliers.end();
    table.rows.push_back({ns(number), ns(step_time), ns(t.span), ns(t.idle()), ns(t.compute), ns(t.communication), ns(t.exposed_communication),
                          ns(t.exposed_memory), Value{outlier}});
    ++number;
  }
  section.tables.push_back(std::move(table));
  return section;
}

inline Section kernels_section() {
  Section section{.key = "kernels", .title = "Kernels", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 30};
  section.tables.push_back(
      {.key = "kernels",
       .title = "Kernels",
       .columns = {{"name", "Name", Unit::none, false},
                   {"short_name", "Kernel"},
                   {"class", "Class"},
                   {"count", "Count", Unit::count},
                   {"total_ns", "Total", Unit::nanoseconds},
                   {"share", "Share", Unit::ratio},
                   {"median_ns", "Median", Unit::nanoseconds}},
       .rows = {
           {std::string("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"),
            std::string("vectorized_elementwise_kernel<CUDAFunctor_add<float>>"), std::string("compute"), std::int64_t{1200}, ns(90'000'000), 0.45, ns(75'000)},
           {std::string("ampere_bf16_s16816gemm_128x128_tn"), std::string("ampere_bf16_s16816gemm_128x128_tn"), std::string("compute"), std::int64_t{96},
            ns(80'500'000), 0.4025, ns(838'000)},
           {std::string("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), std::string("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
            std::string("communication"), std::int64_t{7}, ns(29'500'000), 0.1475, ns(4'200'000)}}});
  return section;
}

inline Section health_section(bool damaged) {
  Section health{.key = "health", .title = "Capture health", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 0};
  const std::vector<ColumnHeader> columns = {{"kind", "Kind"}, {"count", "Count", Unit::count}, {"where", "First seen"}, {"explanation", "Explanation"}};
  Table repairs{.key = "repairs", .title = "Repairs", .columns = columns, .rows = {}}, notes{.key = "notes", .title = "Notes", .columns = columns, .rows = {}};
  if (damaged)
    repairs.rows.push_back({std::string("truncated"), std::int64_t{1}, std::string("byte 3813"),
                            std::string("The file ends inside an event; the events before it are analysed.")});
  notes.rows.push_back(
      {std::string("no_shapes"), std::int64_t{1}, std::string(""), std::string("No shapes were recorded (record_shapes=True), so no FLOPs are known.")});
  health.tables = {std::move(repairs), std::move(notes)};
  return health;
}

struct Case {
  Timeline timeline;
  Facts facts;
  Findings findings;
  ReportInput input() const { return {timeline, facts, findings, 0.0412, 0.0231}; }
  void add_rank(std::int64_t number, std::vector<Section> device_sections, std::vector<Section> rank_sections = {}) {
    Rank rank;
    rank.number = number;
    rank.file = "traces/rank" + std::to_string(number) + ".json.gz";
    rank.events = 12'345;
    timeline.ranks.push_back(rank);
    RankFindings found{.rank = number, .file = rank.file, .sections = std::move(rank_sections), .devices = {}};
    if (!device_sections.empty()) {
      found.devices.push_back(
          {.device = std::to_string(number), .gpu = "h100-sxm", .gpu_reported = "NVIDIA H100 80GB HBM3", .sections = std::move(device_sections)});
    }
    findings.ranks.push_back(std::move(found));
  }
};

}  // namespace stepscope::hand_built
