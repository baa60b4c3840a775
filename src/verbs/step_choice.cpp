#include "verbs/step_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace stepscope {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::unexpected<Error> refused(std::string problem, std::string remedy) {
  return std::unexpected(Error{"", std::nullopt, std::move(problem), std::move(remedy), Error::Kind::unusable});
}

// "3 to 7, 9"
std::string as_ranges(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
    if (text.size() > 200) return text + ", …";
  }
  return text;
}

}  // namespace

Result<StepChoice> StepChoice::parse(const std::string& text) {
  StepChoice choice;
  choice.text_ = text;
  if (text.empty() || text == "all") return choice;
  if (text == "last") {
    choice.kind_ = Kind::last;
    return choice;
  }
  choice.kind_ = Kind::range;
  const std::size_t dash = text.find('-');
  const auto first = whole_number(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last)
    return refused(fmt::format("\"{}\" names no steps", text), "Steps are: all, last, one step (5) or a range of steps (3-5)");
  choice.first_ = *first;
  choice.last_ = *last;
  return choice;
}

bool StepChoice::contains(std::int64_t number, const RankSteps& steps) const {
  if (kind_ == Kind::all) return true;
  if (kind_ == Kind::last) return !steps.steps.empty() && number == steps.steps.back().number;
  return first_ <= number && number <= last_;
}

Result<void> StepChoice::check(const Timeline& timeline, const Facts& facts, const std::vector<RankId>& ranks) const {
  if (kind_ == Kind::all) return {};
  std::set<std::int64_t> present;
  for (const RankId rank : ranks) {
    const RankSteps& steps = facts.steps[index(rank)];
    if (host_window(steps)) return {};
    for (const Step& step : steps.steps) present.insert(step.number);
  }
  const std::string file = timeline.ranks.size() == 1 ? timeline.ranks.front().file : std::string();
  if (present.empty())
    return std::unexpected(Error{file, std::nullopt, fmt::format("--steps {} was asked for, but no steps were found in the trace", text_),
                                 "Leave out --steps, or mark steps with prof.step() when recording", Error::Kind::unusable});
  return std::unexpected(
      Error{file, std::nullopt, fmt::format("the trace has no step {}", text_), fmt::format("It has steps {}", as_ranges(present)), Error::Kind::unusable});
}

std::optional<Interval> StepChoice::host_window(const RankSteps& steps) const {
  std::optional<Interval> window;
  for (const Step& step : steps.steps) {
    if (!contains(step.number, steps)) continue;
    const Nanoseconds end = step.annotation.begin + step.step_time;
    if (!window) window = Interval{step.annotation.begin, end};
    window->begin = std::min(window->begin, step.annotation.begin);
    window->end = std::max(window->end, end);
  }
  return window;
}

std::optional<Interval> StepChoice::device_window(const DeviceFacts& device, const RankSteps& steps) const {
  std::optional<Interval> window;
  for (const StepWindow& step : device.windows) {
    if (!contains(step.number, steps)) continue;
    if (!window) window = step.window;
    window->begin = std::min(window->begin, step.window.begin);
    window->end = std::max(window->end, step.window.end);
  }
  return window;
}

}  // namespace stepscope
