// What made the slow steps slow? Each step slower than the median one is compared with it, part by part: the device time of each kernel that nothing else hid,
// and idle time by cause. The parts of a step's difference sum to it exactly.
//
// A moment in which several slices ran belongs to one: compute before communication before copies, and of one class to the slice that started first.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "analyze/breakdown.h"
#include "analyze/idle_parts.h"
#include "analyze/value.h"
#include "base/kernel_name.h"
#include "base/statistics.h"
#include "facts/activity.h"

namespace stepscope {

namespace {

constexpr std::size_t parts_shown = 8;  // per step; the rest is one row

struct Segment {
  Interval interval;
  NameId name{};
};
using Segments = std::vector<Segment>;  // disjoint, by begin

constexpr std::size_t class_count = 3;

// Of each class, the time in which it was active, by the slice that was there first.
std::array<Segments, class_count> active_segments(const Timeline& timeline, const Facts& facts, std::span<const SliceId> slices) {
  const SliceColumns& s = timeline.slices;
  std::array<Segments, class_count> segments;
  for (const SliceId id : slices) {
    Segments& mine = segments[static_cast<std::size_t>(facts.activity[id])];
    const Nanoseconds begin = mine.empty() ? s.start[id] : std::max(s.start[id], mine.back().interval.end);
    if (begin < s.end(id)) mine.push_back({{begin, s.end(id)}, s.name[id]});
  }
  return segments;
}

Segments without(const Segments& segments, const Segments& covered) {
  Segments left;
  std::size_t next = 0;
  for (const Segment& segment : segments) {
    while (next < covered.size() && covered[next].interval.end <= segment.interval.begin) ++next;
    Nanoseconds at = segment.interval.begin;
    for (std::size_t i = next; i < covered.size() && covered[i].interval.begin < segment.interval.end; ++i) {
      if (covered[i].interval.begin > at) left.push_back({{at, covered[i].interval.begin}, segment.name});
      at = std::max(at, covered[i].interval.end);
    }
    if (at < segment.interval.end) left.push_back({{at, segment.interval.end}, segment.name});
  }
  return left;
}

Segments merged(const Segments& a, const Segments& b) {
  Segments all;
  std::ranges::merge(
      a, b, std::back_inserter(all), {}, [](const Segment& segment) { return segment.interval.begin; },
      [](const Segment& segment) { return segment.interval.begin; });
  return all;
}

// One row of a step's account: a kernel of a class, or a cause of idling.
struct Part {
  std::size_t kind;  // class, or class_count + cause
  NameId name;       // of a class
  Nanoseconds time;
};
using Account = std::vector<Part>;

class Accounts {
 public:
  Accounts(const Timeline& timeline, const Facts& facts, const DeviceFacts& device) : idle_(IdleParts(timeline, facts, device).of(device.slices)) {
    segments_ = active_segments(timeline, facts, device.slices);
    segments_[1] = without(segments_[1], segments_[0]);
    segments_[2] = without(segments_[2], merged(segments_[0], segments_[1]));
    time_.resize(timeline.names.size(), 0);
  }
  Account of(Interval window) {
    Account account;
    for (std::size_t kind = 0; kind < class_count; ++kind) {
      std::vector<NameId> names;
      const Segments& mine = segments_[kind];
      for (auto at = std::ranges::upper_bound(mine, window.begin, {}, [](const Segment& segment) { return segment.interval.end; });
           at != mine.end() && at->interval.begin < window.end; ++at) {
        if (time_[at->name] == 0) names.push_back(at->name);
        time_[at->name] += std::min(at->interval.end, window.end) - std::max(at->interval.begin, window.begin);
      }
      for (const NameId name : names) account.push_back({kind, name, std::exchange(time_[name], 0)});
    }
    const IdleSums sums = sum_idle(idle_, window);
    for (std::size_t cause = 0; cause < idle_cause_count; ++cause)
      if (sums.by_cause[cause] != 0) account.push_back({class_count + cause, NameId{}, sums.by_cause[cause]});
    return account;
  }

 private:
  std::vector<IdlePart> idle_;
  std::array<Segments, class_count> segments_;
  Column<Nanoseconds> time_;  // per name, while one window is summed
};

struct Difference {
  std::size_t kind;
  NameId name;
  Nanoseconds here = 0, in_reference = 0;
  Nanoseconds grown() const { return here - in_reference; }
};

std::vector<Difference> differences(const Account& here, const Account& reference) {
  std::vector<Difference> all;
  for (const Part& part : here) all.push_back({part.kind, part.name, part.time, 0});
  for (const Part& part : reference) all.push_back({part.kind, part.name, 0, part.time});
  const auto key = [](const Difference& d) { return std::pair(d.kind, d.name); };
  std::ranges::stable_sort(all, {}, key);
  std::vector<Difference> summed;
  for (const Difference& d : all) {
    if (summed.empty() || key(summed.back()) != key(d)) {
      summed.push_back(d);
      continue;
    }
    summed.back().here += d.here;
    summed.back().in_reference += d.in_reference;
  }
  std::ranges::stable_sort(summed, [](const Difference& a, const Difference& b) { return std::abs(a.grown()) > std::abs(b.grown()); });
  return summed;
}

std::string kind_name(std::size_t kind) {
  return kind < class_count ? std::string(activity_class_name(ActivityClass{static_cast<std::uint8_t>(kind)})) : std::string("idle");
}
std::string part_name(const Timeline& timeline, const Difference& d) {
  if (d.kind < class_count) return readable_kernel_name(timeline.names[d.name]);
  return std::string(idle_cause_title(IdleCause{static_cast<std::uint8_t>(d.kind - class_count)}));
}

// The step with the median span among those that are no outliers, or among all. The last window ends with its last compute slice, not where a next step
// begins: it is shorter than its step took, and nothing is slow beside it.
const StepWindow* reference_step(std::span<const StepWindow> windows, const std::vector<Step>& steps) {
  if (windows.size() > 1) windows = windows.first(windows.size() - 1);
  for (const bool steady_only : {true, false}) {
    std::vector<Nanoseconds> spans;
    for (const StepWindow& window : windows)
      if (!steady_only || !steps[window.step].outlier) spans.push_back(window.window.length());
    const auto middle = median(spans);
    if (!middle) continue;
    for (const StepWindow& window : windows)
      if (window.window.length() == *middle && (!steady_only || !steps[window.step].outlier)) return &window;
  }
  return nullptr;
}

std::vector<Section> answer(const Scene& scene) {
  const std::vector<StepWindow>& windows = scene.device->windows;
  const std::vector<Step>& steps = scene.facts.steps[index(scene.rank)].steps;
  const StepWindow* reference = reference_step(windows, steps);
  if (windows.size() < 2 || reference == nullptr) return {};
  Section section{.key = "slow_steps", .title = "Slow steps", .prominence = 35};
  section.figures = {{"reference_step", "Compared with step", Unit::none, reference->number},
                     {"reference_span_ns", "Its span", Unit::nanoseconds, reference->window.length()}};
  Table slow{.key = "steps",
             .title = "Steps slower than the median one",
             .columns = {{"step", "Step"},
                         {"span_ns", "Span", Unit::nanoseconds},
                         {"difference_ns", "Slower by", Unit::nanoseconds},
                         {"mostly", "Mostly"},
                         {"outlier", "Left out of means"}},
             .rows = {}};
  Table parts{.key = "parts",
              .title = "What grew; the parts of a step sum to its difference",
              .columns = {{"step", "Step"},
                          {"kind", "Kind"},
                          {"part", "Part"},
                          {"here_ns", "Here", Unit::nanoseconds},
                          {"reference_ns", "Median step", Unit::nanoseconds},
                          {"difference_ns", "More", Unit::nanoseconds}},
              .rows = {}};
  Accounts accounts(scene.timeline, scene.facts, *scene.device);
  const Account usual = accounts.of(reference->window);
  const StepWindow* slowest = nullptr;
  for (const StepWindow* shown : steps_in_window(scene)) {
    const StepWindow& window = *shown;
    const Nanoseconds difference = window.window.length() - reference->window.length();
    if (difference <= 0) continue;
    const std::vector<Difference> grown = differences(accounts.of(window.window), usual);
    slow.rows.push_back({window.number, window.window.length(), difference, text(part_name(scene.timeline, grown.front())), steps[window.step].outlier});
    Difference rest{0, NameId{}, 0, 0};
    for (std::size_t i = 0; i < grown.size(); ++i) {
      if (i >= parts_shown) {
        rest.here += grown[i].here;
        rest.in_reference += grown[i].in_reference;
        continue;
      }
      parts.rows.push_back(
          {window.number, kind_name(grown[i].kind), part_name(scene.timeline, grown[i]), grown[i].here, grown[i].in_reference, grown[i].grown()});
    }
    if (grown.size() > parts_shown) parts.rows.push_back({window.number, text("other"), text("everything else"), rest.here, rest.in_reference, rest.grown()});
    if (slowest == nullptr || window.window.length() > slowest->window.length()) slowest = &window;
  }
  if (slowest == nullptr) return {};
  section.summary = fmt::format("Step {} took {} longer on the device than the median step {}", slowest->number,
                                format_duration(slowest->window.length() - reference->window.length()), reference->number);
  const Nanoseconds on_device = slowest->window.length() - reference->window.length();
  const Nanoseconds on_host = steps[slowest->step].step_time - steps[reference->step].step_time;
  if (on_host < on_device / 2)
    section.caveats.push_back(fmt::format(
        "On the host step {} took {} longer. A step's window on the device begins with its first compute slice on any stream: where one stream runs ahead of "
        "another, windows hold work of two steps, and their lengths tell little",
        slowest->number, on_host > 0 ? "only " + format_duration(on_host) : "no"));
  section.tables.push_back(std::move(slow));
  section.tables.push_back(std::move(parts));
  return {std::move(section)};
}

}  // namespace

extern const Question slow_steps_question;
const Question slow_steps_question{.name = "slow_steps", .help = "What made the slow steps slow?", .scope = Scope::device, .answer = answer};

}  // namespace stepscope
