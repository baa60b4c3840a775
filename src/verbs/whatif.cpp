// what_if: read the traces, derive the facts, lift, edit, replay; then what changed.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "analyze/path_owner.h"
#include "analyze/time_moved.h"
#include "analyze/value.h"
#include "edit/edit.h"
#include "lift/lift.h"
#include "machine/gpu.h"
#include "read/reader.h"
#include "simulate/critical_path.h"
#include "simulate/replay.h"
#include "simulate/step_length.h"
#include "verbs/device_gpu.h"
#include "verbs/stepscope.h"

namespace stepscope {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr std::size_t most_names = 100;  // of operations whose time changed

// An edit with what it did and what it saved on top of those before it.
struct Applied {
  std::string text;
  EditEffect effect;
  double saved_ns = 0;
};

struct Outcome {
  std::vector<std::uint32_t> windows;
  double before_ns = 0, after_ns = 0, optimistic_ns = 0, pessimistic_ns = 0;
  std::vector<Applied> applied;
  ReplayTimes before, after;
  Graph edited;
};

Result<std::vector<Edit>> understood(const WhatIfOptions& options) {
  std::vector<Edit> edits;
  if (!options.edits_file.empty()) {
    Result<std::vector<Edit>> read = read_edits(options.edits_file);
    if (!read) return std::unexpected(read.error());
    edits = *std::move(read);
  }
  for (const std::string& text : options.edits) {
    Result<Edit> edit = parse_edit(text);
    if (!edit) return std::unexpected(edit.error());
    edits.push_back(*std::move(edit));
  }
  if (edits.empty())
    return std::unexpected(Error{"", std::nullopt, "nothing is to be changed", "Say what: --edit \"scale name=*gemm* by=0.5\"", Error::Kind::unusable});
  return edits;
}

// Of the first device whose GPU is known.
const Gpu* gpu_of(const Timeline& timeline, const Facts& facts) {
  for (const DeviceFacts& device : facts.devices)
    if (const Gpu* gpu = gpu_of_device(timeline, device)) return gpu;
  return nullptr;
}

Result<Outcome> run_edits(const EditScene& scene, std::span<const Edit> edits) {
  Outcome outcome;
  outcome.windows = representative_windows(scene.lifted);
  outcome.before = replay(scene.lifted.graph);
  outcome.before_ns = step_length(scene.lifted, outcome.before, outcome.windows);
  outcome.edited = scene.lifted.graph.copy();
  double last = outcome.before_ns, best = outcome.before_ns, worst = outcome.before_ns;
  for (const Edit& edit : edits) {
    Result<std::vector<EditEffect>> effects = apply_edits(scene, std::span(&edit, 1), outcome.edited);
    if (!effects) return std::unexpected(effects.error());
    replay(outcome.edited, outcome.after);
    const double now = step_length(scene.lifted, outcome.after, outcome.windows), saved = last - now;
    const EditEffect& effect = effects->front();
    best -= saved * effect.optimistic;
    worst -= saved * effect.pessimistic;
    outcome.applied.push_back({edit_text(edit), effect, saved});
    last = now;
  }
  outcome.after_ns = last;
  outcome.optimistic_ns = std::max(0.0, std::min({best, worst, last}));
  outcome.pessimistic_ns = std::max({best, worst, last});
  return outcome;
}

std::string duration_text(double ns) {
  return format_duration(static_cast<Nanoseconds>(std::llround(ns)));
}

// "−9.2 %", "+3.1 %", "±0 %".
std::string change_text(double before, double after) {
  const double percent = before > 0 ? 100 * (after - before) / before : 0;
  if (std::abs(percent) < 0.005) return "±0 %";
  return fmt::format("{}{:.{}f} %", percent < 0 ? "−" : "+", std::abs(percent), std::abs(percent) < 10 ? 2 : 1);
}

// Whether some operations take longer, and no operation and no lag takes less.
bool only_longer(const Graph& before, const Graph& after) {
  bool any = false;
  for (std::uint32_t row = 1; row < before.size(); ++row) {
    const Nanoseconds was = before.operations.duration[OpId{row}], is = after.operations.duration[OpId{row}];
    if (is < was) return false;
    any |= is > was;
  }
  if (before.dependencies.size() != after.dependencies.size()) return false;
  for (std::uint32_t i = 0; i < before.dependencies.size(); ++i)
    if (after.dependencies.lag[i] < before.dependencies.lag[i]) return false;
  return any;
}

Section step_section(const EditScene& scene, const Outcome& outcome) {
  Section section{.key = "step", .title = "Step time"};
  const bool steps = std::ranges::any_of(outcome.windows, [&](std::uint32_t row) { return scene.lifted.windows[row].step != no_step; });
  if (!steps) section.title = "Time of the capture";
  section.summary =
      fmt::format("{} instead of {} ({})", duration_text(outcome.after_ns), duration_text(outcome.before_ns), change_text(outcome.before_ns, outcome.after_ns));
  if (duration_text(outcome.optimistic_ns) != duration_text(outcome.pessimistic_ns))
    section.summary += fmt::format("; between {} and {}", duration_text(outcome.optimistic_ns), duration_text(outcome.pessimistic_ns));
  section.summary += ".";
  const double saved = outcome.before_ns - outcome.after_ns;
  section.figures = {{"before_ns", "Before", Unit::nanoseconds, outcome.before_ns},
                     {"after_ns", "After", Unit::nanoseconds, outcome.after_ns},
                     {"saved_ns", "Saved", Unit::nanoseconds, saved},
                     {"saved_share", "Saved share", Unit::ratio, share(saved, outcome.before_ns)},
                     {"optimistic_ns", "At best", Unit::nanoseconds, outcome.optimistic_ns},
                     {"pessimistic_ns", "At worst", Unit::nanoseconds, outcome.pessimistic_ns}};

  Table table{.key = "windows",
              .title = "Means by device and host",
              .columns = {{"rank", "Rank"},
                          {"place", "Where"},
                          {"windows", steps ? "Steps" : "Windows", Unit::count},
                          {"measured_ns", "Measured", Unit::nanoseconds},
                          {"before_ns", "Before", Unit::nanoseconds},
                          {"after_ns", "After", Unit::nanoseconds},
                          {"saved_share", "Saved", Unit::ratio}},
              .rows = {}};
  // The chosen windows, and the host's steps beside them.
  std::set<std::pair<RankId, std::uint32_t>> chosen_steps;
  for (const std::uint32_t row : outcome.windows) chosen_steps.insert({scene.lifted.windows[row].rank, scene.lifted.windows[row].step});
  struct Mean {
    std::int64_t count = 0;
    double measured = 0, before = 0, after = 0;
  };
  std::vector<std::pair<std::pair<RankId, DeviceId>, Mean>> means;
  for (const GraphWindow& window : scene.lifted.windows) {
    if (!chosen_steps.contains({window.rank, window.step})) continue;
    const std::pair<RankId, DeviceId> key{window.rank, window.device};
    if (means.empty() || means.back().first != key) means.push_back({key, {}});
    Mean& mean = means.back().second;
    ++mean.count;
    mean.measured += static_cast<double>(window.measured.length());
    mean.before += static_cast<double>(outcome.before[window.end] - outcome.before[window.begin]);
    mean.after += static_cast<double>(outcome.after[window.end] - outcome.after[window.begin]);
  }
  for (const auto& [key, mean] : means) {
    const auto n = static_cast<double>(mean.count);
    const bool host = key.second == no_id<DeviceId>;
    table.rows.push_back({whole(scene.timeline.ranks[index(key.first)].number),
                          text(host ? "host" : "device " + scene.timeline.devices[index(key.second)].label), whole(mean.count), mean.measured / n,
                          mean.before / n, mean.after / n, share(mean.before - mean.after, mean.before)});
  }
  section.tables.push_back(std::move(table));
  section.caveats.push_back(
      steps ? "Means of the steps that are neither first nor last nor outliers, unless there are no others; of several ranks the longest of each step."
            : "No steps were found: the times are those of the whole capture.");
  if (saved > 0 && only_longer(scene.lifted.graph, outcome.edited))
    section.caveats.push_back(
        "No operation became shorter: this is no gain. The first of these steps begins later than it did, behind work that was queued on the device before "
        "it, by more than the last one ends later; in a run that goes on like this, a step takes no less than before.");
  return section;
}

Section edits_section(const Outcome& outcome) {
  Section section{.key = "edits", .title = "What was changed"};
  section.figures = {{"edits", "Edits", Unit::count, whole(outcome.applied.size())}};
  Table table{.key = "by_edit",
              .title = "Edits in order; each saves on top of those before it",
              .columns = {{"edit", "Edit"},
                          {"operations", "Operations", Unit::count},
                          {"saved_ns", "Saved", Unit::nanoseconds},
                          {"pessimistic_ns", "At worst", Unit::nanoseconds},
                          {"optimistic_ns", "At best", Unit::nanoseconds},
                          {"effect", "Effect", Unit::none, false}},
              .rows = {}};
  for (const Applied& one : outcome.applied) {
    const double worst = one.saved_ns * one.effect.pessimistic, best = one.saved_ns * one.effect.optimistic;
    table.rows.push_back({text(one.text), whole(one.effect.operations), one.saved_ns, std::min(worst, best), std::max(worst, best), text(one.effect.summary)});
    section.summary += (section.summary.empty() ? "" : "; ") + one.effect.summary;
    for (const std::string& caveat : one.effect.caveats)
      if (std::ranges::find(section.caveats, caveat) == section.caveats.end()) section.caveats.push_back(caveat);
  }
  section.summary += ".";
  section.tables.push_back(std::move(table));
  return section;
}

Section moved_section(const EditScene& scene, const Outcome& outcome) {
  const TimeMoved moved = time_moved(scene.lifted, outcome.edited, outcome.before, outcome.after, outcome.windows);
  Section section{.key = "moved", .title = "Where the time moved"};
  section.summary = fmt::format("The device is busy for {} instead of {}, and idle for {} instead of {}.", duration_text(moved.busy_after_ns),
                                duration_text(moved.busy_before_ns), duration_text(moved.idle_after_ns), duration_text(moved.idle_before_ns));
  section.figures = {{"busy_before_ns", "Busy before", Unit::nanoseconds, moved.busy_before_ns},
                     {"busy_after_ns", "Busy after", Unit::nanoseconds, moved.busy_after_ns},
                     {"idle_before_ns", "Idle before", Unit::nanoseconds, moved.idle_before_ns},
                     {"idle_after_ns", "Idle after", Unit::nanoseconds, moved.idle_after_ns}};
  const auto table = [](std::string key, std::string title, std::string first) {
    return Table{.key = std::move(key),
                 .title = std::move(title),
                 .columns = {{"name", std::move(first)},
                             {"class", "Class"},
                             {"operations", "Operations", Unit::count},
                             {"before_ns", "Before", Unit::nanoseconds},
                             {"after_ns", "After", Unit::nanoseconds},
                             {"change_ns", "Change", Unit::nanoseconds}},
                 .rows = {}};
  };
  const auto add = [](Table& target, const MovedTime& one) {
    target.rows.push_back({text(one.name), text(operation_class_name(one.operation_class)), std::round(one.operations * 10) / 10, one.before_ns, one.after_ns,
                           one.after_ns - one.before_ns});
  };
  Table classes = table("by_class", "Time by class, summed over operations, per step", "Class");
  classes.columns.erase(classes.columns.begin());
  for (const MovedTime& one : moved.by_class) {
    add(classes, one);
    classes.rows.back().erase(classes.rows.back().begin());
  }
  Table names = table("by_name", "Device operations whose own time changed, per step", "Operation");
  for (const MovedTime& one : moved.by_name)
    if (std::abs(one.after_ns - one.before_ns) > 0.5 && names.rows.size() < most_names) add(names, one);
  section.tables.push_back(std::move(classes));
  if (!names.rows.empty()) section.tables.push_back(std::move(names));
  return section;
}

// The operators that the critical paths of the windows go through, before and after; what most is left of comes first.
Table operators_on_path(const EditScene& scene, const Outcome& outcome) {
  struct Sums {
    double before = 0, after = 0;
  };
  std::map<std::string, Sums> operators;
  const double n = std::max(1.0, static_cast<double>(outcome.windows.size()));
  for (const std::uint32_t row : outcome.windows) {
    const GraphWindow& window = scene.lifted.windows[row];
    const auto add = [&](const Graph& graph, const ReplayTimes& times, double Sums::* sum) {
      const PathOwners owners(scene.timeline, scene.facts, graph, window.rank);
      for (const PathPart& part : critical_path(graph, times, window.begin, window.end).parts)
        operators[owners.operator_of(part)].*sum += static_cast<double>(part.interval.length()) / n;
    };
    add(scene.lifted.graph, outcome.before, &Sums::before);
    add(outcome.edited, outcome.after, &Sums::after);
  }
  std::vector<std::pair<std::string, Sums>> order(operators.begin(), operators.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return a.second.after != b.second.after ? a.second.after > b.second.after : a.second.before > b.second.before;
  });
  if (order.size() > most_names) order.resize(most_names);
  Table table{.key = "by_operator",
              .title = "Operators on it, with what they launched and what waited for it, mean of the windows",
              .columns = {{"operator", "Operator"},
                          {"before_ns", "Before", Unit::nanoseconds},
                          {"after_ns", "After", Unit::nanoseconds},
                          {"change_ns", "Change", Unit::nanoseconds}},
              .rows = {}};
  for (const auto& [name, sums] : order) table.rows.push_back({text(name), sums.before, sums.after, sums.after - sums.before});
  return table;
}

// What the critical paths of the windows are made of, before and after.
Section path_section(const EditScene& scene, const Outcome& outcome) {
  std::array<double, path_part_kind_count> before{}, after{};
  const double n = std::max(1.0, static_cast<double>(outcome.windows.size()));
  for (const std::uint32_t row : outcome.windows) {
    const GraphWindow& window = scene.lifted.windows[row];
    const CriticalPath was = critical_path(scene.lifted.graph, outcome.before, window.begin, window.end);
    const CriticalPath is = critical_path(outcome.edited, outcome.after, window.begin, window.end);
    for (std::size_t kind = 0; kind < path_part_kind_count; ++kind) {
      before[kind] += static_cast<double>(was.by_kind[kind]) / n;
      after[kind] += static_cast<double>(is.by_kind[kind]) / n;
    }
  }
  Section section{.key = "critical_path", .title = "Critical path"};
  Table table{.key = "by_kind",
              .title = "What the step's length is made of, mean of the windows",
              .columns = {{"kind", "Part", Unit::none, false},
                          {"title", "Part"},
                          {"before_ns", "Before", Unit::nanoseconds},
                          {"after_ns", "After", Unit::nanoseconds},
                          {"change_ns", "Change", Unit::nanoseconds}},
              .rows = {}};
  std::size_t longest = 0;
  for (std::size_t kind = 0; kind < path_part_kind_count; ++kind) {
    if (after[kind] > after[longest]) longest = kind;
    if (before[kind] <= 0 && after[kind] <= 0) continue;
    const auto part = static_cast<PathPartKind>(kind);
    table.rows.push_back({text(path_part_kind_name(part)), text(path_part_kind_title(part)), before[kind], after[kind], after[kind] - before[kind]});
  }
  std::ranges::stable_sort(table.rows, std::ranges::greater{}, [](const std::vector<Value>& row) { return std::get<double>(row[2]); });
  double length = 0;
  for (const double part : after) length += part;
  if (length > 0)
    section.summary =
        fmt::format("Most of what is left: {} ({:.0f} %).", path_part_kind_title(static_cast<PathPartKind>(longest)), 100 * after[longest] / length);
  section.tables.push_back(std::move(table));
  section.tables.push_back(operators_on_path(scene, outcome));
  return section;
}

}  // namespace

Result<WhatIf> what_if(const WhatIfOptions& options) {
  const Result<std::vector<Edit>> edits = understood(options);
  if (!edits) return std::unexpected(edits.error());
  std::optional<Gpu> given;
  if (!options.gpu.empty()) {
    Result<Gpu> gpu = find_gpu(options.gpu);
    if (!gpu) return std::unexpected(gpu.error());
    given = *std::move(gpu);
  }

  WhatIf result;
  const Clock::time_point begin = Clock::now();
  const Result<Timeline> timeline = read_timeline(options.paths, {.threads = options.threads, .progress = options.progress});
  if (!timeline) return std::unexpected(timeline.error());
  result.read_seconds = seconds_since(begin);

  if (options.progress != nullptr) options.progress->stage("replaying");
  const Clock::time_point read = Clock::now();
  const Facts facts = derive(*timeline, {});
  const Lifted lifted = lift(*timeline, facts);
  if (lifted.graph.size() <= 1 || representative_windows(lifted).empty()) {
    result.nothing_to_analyse = Error{timeline->ranks.size() == 1 ? timeline->ranks.front().file : std::string(), std::nullopt,
                                      "the trace holds neither device activity nor steps: there is nothing to replay",
                                      "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and let the profiler run over whole steps",
                                      Error::Kind::nothing_to_analyse};
    return result;
  }
  const EditScene scene{*timeline, facts, lifted, given ? &*given : gpu_of(*timeline, facts)};
  const Result<Outcome> outcome = run_edits(scene, *edits);
  if (!outcome) return std::unexpected(outcome.error());
  result.sections = {step_section(scene, *outcome), edits_section(*outcome), moved_section(scene, *outcome), path_section(scene, *outcome)};
  result.analysis_seconds = seconds_since(read);
  return result;
}

}  // namespace stepscope
