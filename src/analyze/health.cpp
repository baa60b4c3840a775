// How far can the capture be trusted, and which answers does it lack? What was repaired, what is worth knowing, which records are missing and how to get them.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyze/question.h"
#include "analyze/value.h"
#include "facts/collective_call.h"

namespace stepscope {

namespace {

void add_items(const HealthList& list, Table& table) {
  for (const HealthItem& item : list.items()) table.rows.push_back({text(item.kind), whole(item.count), text(item.where), text(item.explanation)});
}

Table item_table(std::string key, std::string title) {
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{"kind", "Kind", Unit::none, false}, {"count", "Count", Unit::count}, {"where", "First at"}, {"explanation", "What was found"}},
          .rows = {}};
}

// What the records of a capture are, over all ranks.
struct Recorded {
  std::uint64_t device_slices = 0, linked = 0, operations = 0, api_calls = 0, python = 0, communication = 0;
  std::uint64_t before_launch = 0;  // slices that begin before the call that launched them
  SliceId first_before = no_id<SliceId>;
  Nanoseconds longest_before = 0;
  bool shapes = false, collective_sizes = false, collective_groups = false, modules = false, marked_steps = false;
};

// Looking for an argument's name in details costs time: the first rows that have details tell.
constexpr std::uint64_t details_looked_at = 20'000, collectives_looked_at = 2'000;

Recorded recorded(const Timeline& timeline, const Facts& facts) {
  const SliceColumns& s = timeline.slices;
  Recorded r;
  std::uint64_t operation_details = 0, communication_seen = 0;
  const auto says = [&](std::size_t row, std::string_view argument) { return timeline.details[s.detail[row]].find(argument) != std::string_view::npos; };
  for (std::size_t row = 0; row < s.size(); ++row) {
    const SliceKind kind = s.kind[row];
    r.operations += kind == SliceKind::operation;
    r.api_calls += is_api_call(kind);
    r.python += kind == SliceKind::python_function;
    if (kind == SliceKind::operation && s.detail[row] != NameId{0} && operation_details < details_looked_at && !r.shapes) {
      ++operation_details;
      r.shapes = says(row, "\"Input Dims\"");
      r.modules |= says(row, "\"Module Hierarchy\"");
    }
    if (!is_device_activity(kind)) continue;
    ++r.device_slices;
    if (const SliceId launch = facts.launch[row]; launch != no_id<SliceId>) {
      ++r.linked;
      if (const Nanoseconds before = s.start[launch] - s.start[row]; before > 0) {
        if (r.before_launch++ == 0) r.first_before = SliceId{static_cast<std::uint32_t>(row)};
        r.longest_before = std::max(r.longest_before, before);
      }
    }
    if (facts.activity[row] != ActivityClass::communication) continue;
    ++r.communication;
    if ((!r.collective_sizes || !r.collective_groups) && communication_seen++ < collectives_looked_at) {
      const CollectiveCall call = collective_call(timeline, facts, SliceId{static_cast<std::uint32_t>(row)});
      r.collective_sizes |= call.bytes.has_value();
      r.collective_groups |= call.group_size.has_value();
    }
  }
  for (const Rank& rank : timeline.ranks) r.shapes |= rank.records_shapes.value_or(false);
  for (const PythonFact& fact : timeline.python) r.modules |= fact.module != 0xFFFF'FFFFu;
  for (const RankSteps& steps : facts.steps) r.marked_steps |= steps.source == StepSource::profiler_step;
  return r;
}

// A file that ends early lacks what would have stood behind its end, whatever the profiler recorded.
bool is_cut_off(const Timeline& timeline) {
  return timeline.health.repairs.count("truncated") != 0 || timeline.health.repairs.count("damaged_compression") != 0;
}

Table missing_table(const Timeline& timeline, const Recorded& r) {
  Table table{.key = "missing",
              .title = "Records that this capture lacks",
              .columns = {{"records", "Records"}, {"answers_absent", "Answers that are absent"}, {"profiler_option", "How to get them"}},
              .rows = {}};
  const auto lacks = [&](std::string_view records, std::string_view answers, std::string_view option) {
    const std::string remedy = (is_cut_off(timeline) ? "they may have stood in the part of the file that is missing; else " : "") + std::string(option);
    table.rows.push_back({text(records), text(answers), text(remedy)});
  };
  if (r.device_slices == 0)
    lacks("device activity", "time breakdown, idle causes, kernels, achieved rates",
          "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; the profiler must be able to use CUPTI or roctracer (another profiler may hold it, or "
          "permission is missing)");
  if (r.operations == 0) lacks("framework operators", "operators, phases, work, FLOPs", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (r.device_slices > 0 && r.linked == 0)
    lacks("launch calls with correlation ids", "idle time by cause, launch delays, operators of kernels, step windows on the device",
          "keep runtime and driver calls (cuda_runtime, cuda_driver) in the trace");
  if (r.operations > 0 && !r.shapes) lacks("input shapes of operators", "FLOPs, bytes, roofline, MFU", "record_shapes=True");
  if (r.operations > 0 && r.python == 0) lacks("Python stacks", "host time by Python function", "with_stack=True");
  if (r.operations > 0 && !r.modules) lacks("module calls", "time by module", "with_stack=True or with_modules=True");
  if (r.communication > 0 && (!r.collective_sizes || !r.collective_groups))
    lacks("arguments of collectives", r.collective_sizes ? "groups and bus bandwidth of collectives" : "bytes, groups and bandwidth of collectives",
          "PyTorch 2.2 or later records them with ProfilerActivity.CPU");
  if (timeline.memory.empty()) lacks("allocations", "memory over time", "profile_memory=True");
  if (r.device_slices > 0 && timeline.syncs.empty())
    lacks("waits of streams for events", "which queued gaps are waits for another stream",
          "experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)");
  if (!r.marked_steps)
    lacks("marked steps", "figures per step, unless steps can be inferred", "schedule=torch.profiler.schedule(...) and prof.step() after each step");
  return table;
}

void add_derived(const Timeline& timeline, const Facts& facts, const Recorded& r, Table& repairs, Table& notes) {
  if (facts.ambiguous_links != 0)
    repairs.rows.push_back({text("ambiguous_correlation"), whole(facts.ambiguous_links), text("correlation ids of runtime calls"),
                            text("Several launches claim one correlation id: their slices were paired with them in order of time")});
  if (r.device_slices == 0 && r.operations > 0)
    notes.rows.push_back({text("no_device_activity"), 1, text("the whole capture"),
                          fmt::format("No device activity in this trace: {}. What the CPU did is reported",
                                      is_cut_off(timeline) ? "it may have stood in the part of the file that is missing"
                                                           : "the device was not profiled, was not used, or its records were lost")});
  for (std::size_t rank = 0; rank < facts.kernel_launches.size(); ++rank) {
    const KernelLaunches& launches = facts.kernel_launches[rank];
    if (launches.without_record == 0) continue;
    const auto first = std::ranges::find(facts.unrecorded_stretches, RankId{static_cast<std::uint32_t>(rank)}, &UnrecordedStretch::rank);
    const std::string where =
        first == facts.unrecorded_stretches.end()
            ? std::string()
            : fmt::format("rank {}, {} to {}", timeline.ranks[rank].number, format_duration(first->launched.begin), format_duration(first->launched.end));
    notes.rows.push_back({text("launches_without_record"), whole(launches.without_record), where,
                          fmt::format("{:.1f} % of {} kernel launches have no device record{}",
                                      100.0 * static_cast<double>(launches.without_record) / static_cast<double>(launches.seen), launches.seen,
                                      launches.records_were_lost() ? ": busy time is a lower bound, and idle time there counts as unknown" : "")});
  }
  for (std::size_t rank = 0; rank < facts.steps.size(); ++rank) {
    if (facts.steps[rank].repeated == 0) continue;
    notes.rows.push_back(
        {text("repeated_step_numbers"), whole(facts.steps[rank].repeated), fmt::format("rank {}", timeline.ranks[rank].number),
         text("A step number is marked again at another time, as when the loop or the profiler ran twice: the last one of each number counts")});
  }
  for (std::size_t pattern = 0; pattern < facts.patterns.size(); ++pattern) {
    const auto matched = std::ranges::count(facts.pattern, static_cast<std::uint16_t>(pattern + 1));
    notes.rows.push_back({text("user_pattern"), whole(matched), text(""),
                          fmt::format("{} kernel name{} fall{} under your pattern \"{}\"", matched, matched == 1 ? "" : "s", matched == 1 ? "s" : "",
                                      facts.patterns[pattern].expression)});
  }
  if (const std::uint64_t unlinked = r.device_slices - r.linked; r.linked > 0 && unlinked * 100 > r.device_slices)
    notes.rows.push_back({text("slices_without_launch"), whole(unlinked), text(""),
                          fmt::format("{:.1f} % of {} device slices have no launch record: launched before the capture began, or their runtime calls were not "
                                      "recorded. Idle time before them has no cause",
                                      100.0 * static_cast<double>(unlinked) / static_cast<double>(r.device_slices), r.device_slices)});
  if (r.before_launch != 0)
    notes.rows.push_back({text("slices_before_launch"), whole(r.before_launch), fmt::format("at {}", format_duration(timeline.slices.start[r.first_before])),
                          fmt::format("Device slices that begin before their launch call, by up to {}: the clocks of device and host disagree by so much",
                                      format_duration(r.longest_before))});
  for (const SliceId id : facts.start_transients)
    notes.rows.push_back({text("profiler_start_transient"), 1,
                          fmt::format("rank {}, at {}", timeline.ranks[index(timeline.track_of(id).rank)].number, format_duration(timeline.slices.start[id])),
                          fmt::format("The first \"{}\" ran for {} while other ranks started their profiler: it is part of the breakdown, but no steady state",
                                      timeline.name_of(id), format_duration(timeline.slices.duration[id]))});
}

std::vector<Section> answer(const Scene& scene) {
  const Recorded r = recorded(scene.timeline, scene.facts);
  Section section{.key = "health", .title = "Capture health", .prominence = 5};
  Table repairs = item_table("repairs", "Repairs"), notes = item_table("notes", "Worth knowing");
  add_items(scene.timeline.health.repairs, repairs);
  add_items(scene.timeline.health.notes, notes);
  add_derived(scene.timeline, scene.facts, r, repairs, notes);
  Table missing = missing_table(scene.timeline, r);
  section.summary =
      repairs.rows.empty() ? "Nothing had to be repaired" : fmt::format("{} kinds of damage were repaired: totals may be partial", repairs.rows.size());
  if (repairs.rows.size() == 1) section.summary = "One kind of damage was repaired: totals may be partial";
  section.tables.push_back(std::move(repairs));
  section.tables.push_back(std::move(notes));
  section.tables.push_back(std::move(missing));
  return {std::move(section)};
}

}  // namespace

extern const Question health_question;
const Question health_question{.name = "health", .help = "How far can the capture be trusted, and what does it lack?", .scope = Scope::run, .answer = answer};

}  // namespace stepscope
