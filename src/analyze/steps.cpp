// How long did each step take, and where did its time go? Per rank the step times as the host saw them, per device the same figures as for the whole capture.
#include <fmt/core.h>

#include <algorithm>

#include "analyze/breakdown.h"
#include "analyze/value.h"
#include "base/spread.h"

namespace stepscope {

namespace {

bool in_window(const Scene& scene, Interval step) {
  return scene.whole_capture || (step.begin < scene.window.end && step.end > scene.window.begin);
}

std::vector<Section> answer_times(const Scene& scene) {
  const RankSteps& steps = scene.facts.steps[index(scene.rank)];
  Section section{.key = "step_times", .title = "Steps", .prominence = 15};
  if (steps.steps.empty()) return {};
  std::vector<Nanoseconds> steady, all;
  Table table{
      .key = "steps",
      .title = "Step times as the host saw them",
      .columns = {{"step", "Step"}, {"begin_ns", "Begin", Unit::nanoseconds, false}, {"step_time_ns", "Step time", Unit::nanoseconds}, {"outlier", "Left out"}},
      .rows = {}};
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (!in_window(scene, {step.annotation.begin, step.annotation.begin + std::max<Nanoseconds>(step.step_time, 1)})) continue;
    const bool edge = i == 0 || i + 1 == steps.steps.size();
    table.rows.push_back({step.number, step.annotation.begin, step.step_time,
                          !step.outlier ? absent()
                                        : text(i == 0 ? "first"
                                               : edge ? "last"
                                                      : "far from the median")});
    all.push_back(step.step_time);
    if (!step.outlier) steady.push_back(step.step_time);
  }
  if (table.rows.empty()) return {};
  if (steady.empty())
    section.caveats.push_back("Too few steps: the first and the last are no steady state. The figures are of all steps shown");
  else if (steady.size() < all.size())
    section.caveats.push_back("First, last and outlying steps are shown, but left out of the figures");
  if (steps.source != StepSource::profiler_step)
    section.caveats.push_back("Nothing in the trace marks steps for the profiler: call prof.step() once per step (torch.profiler.profile with a schedule)");
  const Spread times = spread(steady.empty() ? std::span<Nanoseconds>(all) : std::span<Nanoseconds>(steady));
  section.figures = {{"source", "Found by", Unit::none, text(steps.found_by)},
                     {"step_count", "Steps", Unit::count, whole(table.rows.size())},
                     {"steady_steps", "Steady steps", Unit::count, whole(steady.size())},
                     {"mean_ns", "Mean", Unit::nanoseconds, times.total / std::max<std::int64_t>(1, times.count)},
                     {"median_ns", "Median", Unit::nanoseconds, times.median},
                     {"min_ns", "Shortest", Unit::nanoseconds, times.minimum},
                     {"p90_ns", "90th percentile", Unit::nanoseconds, times.p90},
                     {"max_ns", "Longest", Unit::nanoseconds, times.maximum}};
  section.summary = fmt::format("Step {} (median of {}); found by {}", format_duration(times.median), times.count, steps.found_by);
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

std::vector<Section> answer_device(const Scene& scene) {
  const RankSteps& steps = scene.facts.steps[index(scene.rank)];
  const std::vector<const StepWindow*> shown = steps_in_window(scene);
  if (shown.empty()) return {};
  // Steps that the profiler marked are the array "steps". What we inferred has a name of its own, so that nobody takes it for a mark in the trace.
  const bool marked = steps.source == StepSource::profiler_step;
  Section section{.key = marked ? "steps" : "inferred_steps", .title = marked ? "Steps on the device" : "Inferred steps on the device", .prominence = 30};
  Table table{.key = section.key, .title = section.title, .columns = {{"step", "Step"}, {"step_time_ns", "Step time", Unit::nanoseconds}}, .rows = {}};
  std::vector<Interval> windows;
  for (const StepWindow* step : shown) windows.push_back(step->window);
  const std::vector<Breakdown> results = breakdowns(scene.timeline, scene.facts, scene.device->slices, windows);
  for (const Figure& figure : breakdown_figures({}))
    table.columns.push_back({figure.key, figure.title, figure.unit, figure.key != "busy_ns" && figure.key != "slices"});
  table.columns.push_back({"outlier", "Left out"});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Step& step = steps.steps[shown[i]->step];
    std::vector<Value> row{step.number, step.step_time};
    for (Figure& figure : breakdown_figures(results[i])) row.push_back(std::move(figure.value));
    row.emplace_back(step.outlier);
    table.rows.push_back(std::move(row));
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace

extern const Question step_times_question;
const Question step_times_question{.name = "step_times", .help = "How long did each step take?", .scope = Scope::rank, .answer = answer_times};
extern const Question steps_question;
const Question steps_question{.name = "steps", .help = "Where did the time of each step go, on each device?", .scope = Scope::device, .answer = answer_device};

}  // namespace stepscope
