// Which framework operators the time went to: CPU time on every thread, and the device time that they launched.
//
// Own device time of an operator = durations of the slices that it launched as the innermost operator; total = with those of the operators inside it, an
// operator inside one of the same name counted once. Own CPU time = not covered by an operator inside; API calls and Python count as the operator's own.
// Durations are summed (not united), and device time without an operator is a row of its own: each table sums to the device total.

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/call_stack.h"
#include "analyze/question.h"
#include "analyze/rank_rows.h"
#include "analyze/value.h"
#include "cost/operator_cost.h"

namespace stepscope {

namespace {

// The phases of the table: as facts/phases.cpp has them, with recomputed forward apart.
enum class Part : std::uint8_t { forward, recomputed, backward, optimizer, data, other };
constexpr std::size_t part_count = 6;
constexpr std::string_view part_names[part_count] = {"forward", "recomputed forward", "backward", "optimizer", "data", "other"};

Part part_of(const Facts& facts, SliceId id) {
  static constexpr Part parts[phase_count] = {Part::forward, Part::backward, Part::optimizer, Part::data, Part::other};  // by Phase
  return facts.recomputed[id] != 0 ? Part::recomputed : parts[static_cast<std::size_t>(facts.phase[id])];
}

// What a row of any of the tables sums up.
struct Sums {
  std::int64_t calls = 0, slices = 0;
  Nanoseconds cpu_own = 0, device_own = 0;
  Sums& operator+=(const Sums& more) {
    calls += more.calls;
    slices += more.slices;
    cpu_own += more.cpu_own;
    device_own += more.device_own;
    return *this;
  }
};

struct ByName : Sums {
  Nanoseconds cpu_total = 0, device_total = 0;
  std::array<Nanoseconds, part_count> device_by_part{};
  std::uint32_t open = 0;  // frames of this name that are open now
  // Own time without a total: of a call that outlasts one of its name in which it began.
  bool seen() const { return calls != 0 || slices != 0 || cpu_total != 0 || cpu_own != 0; }
};

struct Answer {
  std::vector<ByName> names;  // by NameId
  std::array<Sums, part_count> parts;
  Sums unattributed;               // no operator launched it
  Sums unattributed_without_part;  // nor is its phase known
  Nanoseconds device_total = 0;
};

// Device slices: totals, and what each operator call launched itself.
RankColumn<Nanoseconds> sum_device_slices(const Scene& scene, Answer& answer) {
  const Timeline& timeline = scene.timeline;
  RankColumn<Nanoseconds> launched(scene);
  for_each_device_slice(scene, [&](SliceId id) {
    const Nanoseconds duration = timeline.slices.duration[id];
    const SliceId operation = scene.facts.operation[id];
    const Part part = part_of(scene.facts, id);
    const Sums one{.calls = 0, .slices = 1, .cpu_own = 0, .device_own = duration};
    answer.device_total += duration;
    const bool attributed = operation != no_id<SliceId> && launched.contains(operation);
    if (attributed) {
      launched[operation] += duration;
      ByName& name = answer.names[index(timeline.slices.name[operation])];
      name += one;
      name.device_by_part[static_cast<std::size_t>(part)] += duration;
    } else {
      answer.unattributed += one;
    }
    if (!attributed && part == Part::other)
      answer.unattributed_without_part += one;
    else
      answer.parts[static_cast<std::size_t>(part)] += one;
  });
  return launched;
}

// Operator calls: CPU time, and device time with the operators inside.
void walk_operators(const Scene& scene, const RankColumn<Nanoseconds>& launched, Answer& answer) {
  struct Call {
    ByName* name = nullptr;
    Sums* part = nullptr;
    Nanoseconds duration = 0, device = 0;  // device: of what it and the operators inside launched
  };
  using Frame = StackFrame<Call>;
  const SliceColumns& s = scene.timeline.slices;
  const Interval window = scene.whole_capture ? all_time : scene.window;
  const auto enter = [&](Frame& frame, Frame*) {
    Call& call = frame.payload;
    call.name = &answer.names[index(s.name[frame.slice])];
    call.part = &answer.parts[static_cast<std::size_t>(part_of(scene.facts, frame.slice))];
    call.duration = std::max<Nanoseconds>(0, std::min(s.end(frame.slice), window.end) - std::max(s.start[frame.slice], window.begin));
    call.device = launched[frame.slice];
    const bool counts = window.contains(s.start[frame.slice]);
    call.name->calls += counts;
    call.part->calls += counts;
    if (call.name->open++ == 0) call.name->cpu_total += call.duration;
  };
  const auto leave = [](Frame& frame, Frame* around) {
    const Call& call = frame.payload;
    const Nanoseconds own = call.duration - frame.inner;
    call.name->cpu_own += own;
    call.part->cpu_own += own;
    if (--call.name->open == 0) call.name->device_total += call.device;
    if (around != nullptr) around->payload.device += call.device;
  };
  const auto skip = [](SliceKind kind) { return kind != SliceKind::operation; };
  const auto is_operator = [](SliceKind) { return true; };
  for (const TrackId track : tracks_of_rank(scene)) {
    if (scene.timeline.tracks[index(track)].kind == TrackKind::stream) continue;
    walk_call_stack<Call>(scene.timeline, scene.facts.operation, track, window, skip, is_operator, enter, leave);
  }
}

constexpr std::string_view unattributed_name = "(unattributed)";

Table names_table(const Scene& scene, const Answer& answer, const std::vector<OperatorCategory>& categories) {
  Table table{.key = "by_name",
              .title = "Operators",
              .columns = {{"name", "Operator"},
                          {"category", "Category"},
                          {"calls", "Calls", Unit::count},
                          {"cpu_total_ns", "CPU, total", Unit::nanoseconds, false},
                          {"cpu_own_ns", "CPU, own", Unit::nanoseconds},
                          {"kernels", "Launched", Unit::count},
                          {"device_own_ns", "Device, own", Unit::nanoseconds},
                          {"device_total_ns", "Device, total", Unit::nanoseconds},
                          {"share", "Own share", Unit::ratio}},
              .rows = {}};
  for (const std::string_view part : part_names) {
    std::string key(part);
    std::ranges::replace(key, ' ', '_');
    table.columns.push_back({"device_" + key + "_ns", "Device, " + std::string(part), Unit::nanoseconds, false});
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < answer.names.size(); ++i)
    if (answer.names[i].seen()) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const ByName &x = answer.names[a], &y = answer.names[b];
    return std::tuple(-x.device_own, -x.cpu_own, a) < std::tuple(-y.device_own, -y.cpu_own, b);
  });
  const auto row_of = [&](std::string_view name, std::string_view category, const Sums& sums, Value cpu_total, Nanoseconds device_total) {
    return std::vector<Value>{text(name),
                              text(category),
                              whole(sums.calls),
                              std::move(cpu_total),
                              whole(sums.cpu_own),
                              whole(sums.slices),
                              whole(sums.device_own),
                              whole(device_total),
                              share(sums.device_own, answer.device_total)};
  };
  const auto add_unattributed = [&] {
    if (answer.unattributed.slices == 0) return;
    table.rows.push_back(row_of(unattributed_name, "", answer.unattributed, absent(), answer.unattributed.device_own));
    table.rows.back().resize(table.columns.size());
  };
  bool placed = false;
  for (const std::size_t i : order) {
    const ByName& sums = answer.names[i];
    if (!placed && sums.device_own < answer.unattributed.device_own) {
      add_unattributed();
      placed = true;
    }
    table.rows.push_back(row_of(scene.timeline.names[NameId{static_cast<std::uint32_t>(i)}], operator_category_name(categories[i]), sums, whole(sums.cpu_total),
                                sums.device_total));
    for (const Nanoseconds device : sums.device_by_part) table.rows.back().push_back(whole(device));
  }
  if (!placed) add_unattributed();
  return table;
}

// Rows (name, sums) by device time; those without anything are left out.
Table sums_table(std::string_view key, std::string_view title, std::string_view first_column, std::vector<std::pair<std::string_view, Sums>> rows, bool sorted,
                 Nanoseconds device_total) {
  Table table{.key = std::string(key),
              .title = std::string(title),
              .columns = {{std::string(key == "phases" ? "phase" : "category"), std::string(first_column)},
                          {"calls", "Calls", Unit::count},
                          {"cpu_own_ns", "CPU", Unit::nanoseconds},
                          {"kernels", "Launched", Unit::count},
                          {"device_ns", "Device", Unit::nanoseconds},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  std::erase_if(rows, [](const auto& row) { return row.second.calls == 0 && row.second.slices == 0 && row.second.cpu_own == 0; });
  if (sorted)
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
      return std::pair(-a.second.device_own, -a.second.cpu_own) < std::pair(-b.second.device_own, -b.second.cpu_own);
    });
  for (const auto& [name, sums] : rows)
    table.rows.push_back(
        {text(name), whole(sums.calls), whole(sums.cpu_own), whole(sums.slices), whole(sums.device_own), share(sums.device_own, device_total)});
  return table;
}

std::string percent(Nanoseconds part, Nanoseconds all) {
  return std::to_string((part * 100 + all / 2) / all) + " %";
}

std::vector<Section> answer_operators(const Scene& scene) {
  Answer answer;
  answer.names.resize(scene.timeline.names.size());
  const RankColumn<Nanoseconds> launched = sum_device_slices(scene, answer);
  walk_operators(scene, launched, answer);

  std::vector<OperatorCategory> categories(answer.names.size(), OperatorCategory::other);
  std::array<Sums, operator_category_count> by_category;
  Sums all;
  std::int64_t names = 0;
  for (std::size_t i = 0; i < answer.names.size(); ++i) {
    if (!answer.names[i].seen()) continue;
    categories[i] = operator_category(scene.timeline.names[NameId{static_cast<std::uint32_t>(i)}]);
    by_category[static_cast<std::size_t>(categories[i])] += answer.names[i];
    all += answer.names[i];
    ++names;
  }
  if (names == 0 && answer.unattributed.slices == 0) return {};

  std::vector<std::pair<std::string_view, Sums>> categories_rows, parts_rows;
  for (std::size_t i = 0; i < operator_category_count; ++i)
    categories_rows.emplace_back(operator_category_name(static_cast<OperatorCategory>(i)), by_category[i]);
  categories_rows.emplace_back(unattributed_name, answer.unattributed);
  for (std::size_t i = 0; i < part_count; ++i) parts_rows.emplace_back(part_names[i], answer.parts[i]);
  parts_rows.emplace_back(unattributed_name, answer.unattributed_without_part);

  Section section{.key = "operators", .title = "Operators", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 40};
  section.figures = {{"device_total_ns", "Device time, summed", Unit::nanoseconds, whole(answer.device_total)},
                     {"unattributed_ns", "Unattributed", Unit::nanoseconds, whole(answer.unattributed.device_own)},
                     {"cpu_ns", "CPU time in operators", Unit::nanoseconds, whole(all.cpu_own)},
                     {"calls", "Operator calls", Unit::count, whole(all.calls)},
                     {"names", "Operators", Unit::count, whole(names)}};
  const std::string unattributed = "unattributed " + format_duration(answer.unattributed.device_own);
  if (names == 0) {
    section.summary = "No operators were recorded: " + unattributed + ".";
  } else if (answer.device_total > 0) {
    const auto largest = std::ranges::max_element(by_category, {}, &Sums::device_own);
    if (largest->device_own > 0)
      section.summary = "Of the device time, " + percent(largest->device_own, answer.device_total) + " is " +
                        std::string(operator_category_name(static_cast<OperatorCategory>(largest - by_category.begin())));
    else
      section.summary = "Of the device time, none has an operator";
    section.summary += answer.unattributed.device_own > 0 ? "; " + unattributed + "." : ".";
  }
  section.tables.push_back(names_table(scene, answer, categories));
  section.tables.push_back(sums_table("categories", "By category", "Category", std::move(categories_rows), true, answer.device_total));
  section.tables.push_back(sums_table("phases", "By phase", "Phase", std::move(parts_rows), false, answer.device_total));
  if (names == 0)
    section.caveats.push_back("No framework operators were recorded (profile with ProfilerActivity.CPU to have them).");
  else if (answer.unattributed.device_own > 0)
    section.caveats.push_back(
        "Device time is unattributed where its launch was not recorded or lies outside every operator (kernels launched before the capture, "
        "CUDA graphs, Triton kernels launched from Python).");
  return {std::move(section)};
}

}  // namespace

extern const Question operators_question;
const Question operators_question{"operators", "Which framework operators took the CPU and the device time?", Scope::rank, answer_operators};

}  // namespace stepscope
