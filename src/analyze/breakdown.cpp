// Where did the device's time go? Computation, communication and copies that nothing hid, and idling: they sum to the span.
#include "analyze/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "analyze/value.h"
#include "base/intervals.h"

namespace stepscope {

namespace {

constexpr std::size_t class_count = 3;
constexpr std::size_t compute = 0b001, communication = 0b010, memory = 0b100;
static_assert(static_cast<std::size_t>(ActivityClass::compute) == 0 && static_cast<std::size_t>(ActivityClass::communication) == 1 &&
              static_cast<std::size_t>(ActivityClass::memory) == 2);

Breakdown from_sweep(const CoverageSweep<class_count>& sweep, Interval window, std::int64_t slices) {
  Breakdown result;
  result.slices = slices;
  result.span = window.length();
  result.busy = sweep.covered(compute | communication | memory);
  result.idle = result.span - result.busy;
  result.compute = sweep.covered(compute);
  result.communication = sweep.covered(communication);
  result.memory = sweep.covered(memory);
  result.exposed_communication = sweep.covered(communication, compute);
  result.exposed_memory = sweep.covered(memory, compute | communication);
  if (result.communication > 0)
    result.overlap = static_cast<double>(result.communication - result.exposed_communication) / static_cast<double>(result.communication);
  return result;
}

std::string percent(Nanoseconds part, Nanoseconds whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

std::vector<Section> answer(const Scene& scene) {
  const Interval window = device_window(scene);
  Breakdown whole = breakdowns(scene.timeline, scene.facts, scene.device->slices, std::span(&window, 1)).front();
  whole.slices = static_cast<std::int64_t>(scene.device_slices().size());  // also a slice of no duration at the very end
  Section section{.key = "all", .title = "Time breakdown", .prominence = 10};
  section.figures = breakdown_figures(whole);
  section.summary =
      fmt::format("{}: {} compute, {} exposed communication, {} exposed copies, {} idle", format_duration(whole.span), percent(whole.compute, whole.span),
                  percent(whole.exposed_communication, whole.span), percent(whole.exposed_memory, whole.span), percent(whole.idle, whole.span));
  const KernelLaunches& launches = scene.facts.kernel_launches[index(scene.rank)];
  if (launches.records_were_lost())
    section.caveats.push_back(
        fmt::format("{} of {} kernel launches have no device record: busy time is a lower bound", launches.without_record, launches.seen));
  for (const SliceId id : scene.facts.start_transients) {
    if (scene.timeline.track_of(id).device != scene.device->device || !window.contains(scene.timeline.slices.start[id])) continue;
    section.caveats.push_back(
        fmt::format("{} of the communication is a profiler-start transient: the first \"{}\" waited for ranks that were still starting their profiler",
                    format_duration(scene.timeline.slices.duration[id]), scene.timeline.name_of(id)));
  }
  return {std::move(section)};
}

}  // namespace

Interval device_window(const Scene& scene) {
  if (!scene.whole_capture) return scene.window;
  const SliceColumns& s = scene.timeline.slices;
  const std::span<const SliceId> slices = scene.device->slices;
  if (slices.empty()) return {};
  Interval window{s.start[slices.front()], s.start[slices.front()]};
  for (const SliceId id : slices) window.end = std::max(window.end, s.end(id));
  return window;
}

std::vector<const StepWindow*> steps_in_window(const Scene& scene) {
  std::vector<const StepWindow*> steps;
  for (const StepWindow& step : scene.device->windows)
    if (scene.whole_capture || (step.window.begin < scene.window.end && step.window.end > scene.window.begin)) steps.push_back(&step);
  return steps;
}

std::vector<Breakdown> breakdowns(const Timeline& timeline, const Facts& facts, std::span<const SliceId> slices, std::span<const Interval> windows_by_begin) {
  const SliceColumns& s = timeline.slices;
  std::vector<Breakdown> results;
  // How far the slices before the window reach, per class: what of them covers the window is one interval from its begin.
  std::array<Nanoseconds, class_count> reach;
  reach.fill(std::numeric_limits<Nanoseconds>::min());
  std::size_t first = 0;
  for (const Interval& window : windows_by_begin) {
    for (; first < slices.size() && s.start[slices[first]] < window.begin; ++first) {
      Nanoseconds& end = reach[static_cast<std::size_t>(facts.activity[slices[first]])];
      end = std::max(end, s.end(slices[first]));
    }
    CoverageSweep<class_count> sweep(window.begin);
    for (std::size_t activity = 0; activity < class_count; ++activity) sweep.add(activity, {window.begin, reach[activity]});
    std::size_t row = first;
    for (; row < slices.size() && s.start[slices[row]] < window.end; ++row)
      sweep.add(static_cast<std::size_t>(facts.activity[slices[row]]), {s.start[slices[row]], s.end(slices[row])});
    sweep.advance(window.end);
    results.push_back(from_sweep(sweep, window, static_cast<std::int64_t>(row - first)));
  }
  return results;
}

std::vector<Figure> breakdown_figures(const Breakdown& b) {
  return {{"slices", "Slices", Unit::count, b.slices},
          {"span_ns", "Span", Unit::nanoseconds, b.span},
          {"busy_ns", "Busy", Unit::nanoseconds, b.busy},
          {"idle_ns", "Idle", Unit::nanoseconds, b.idle},
          {"compute_ns", "Compute", Unit::nanoseconds, b.compute},
          {"communication_ns", "Communication", Unit::nanoseconds, b.communication},
          {"memory_ns", "Copies and fills", Unit::nanoseconds, b.memory},
          {"exposed_communication_ns", "Exposed communication", Unit::nanoseconds, b.exposed_communication},
          {"exposed_memory_ns", "Exposed copies", Unit::nanoseconds, b.exposed_memory},
          {"overlap", "Communication hidden by compute", Unit::ratio, if_known(b.overlap)}};
}

extern const Question breakdown_question;
const Question breakdown_question{
    .name = "all", .help = "Where did the device's time go: compute, exposed communication, copies, idling?", .scope = Scope::device, .answer = answer};

}  // namespace stepscope
