#include "advise/advice_section.h"

#include <fmt/core.h>

#include <cmath>

#include "base/time.h"

namespace stepscope {

namespace {

Value whole(double nanoseconds) {
  return static_cast<std::int64_t>(std::llround(nanoseconds));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

Table ranked(const AdviceList& list) {
  Table table{.key = "ranked",
              .title = "What to change, by what it saves per step on top of the ones above it",
              .columns = {{"place", "#", Unit::count},
                          {"rule", "Rule", Unit::none, false},
                          {"title", "What holds the step back", Unit::none},
                          {"gain_ns", "Saves", Unit::nanoseconds},
                          {"gain_share", "of the step", Unit::ratio},
                          {"alone_ns", "Alone", Unit::nanoseconds, false},
                          {"pessimistic_ns", "At least", Unit::nanoseconds, false},
                          {"optimistic_ns", "At most", Unit::nanoseconds, false},
                          {"confidence", "Confidence", Unit::none},
                          {"observation", "What was seen", Unit::none},
                          {"would_settle", "What would settle it", Unit::none, false},
                          {"caveats", "Caveats", Unit::none, false},
                          {"slices", "Evidence (slices)", Unit::slices, false}},
              .rows = {}};
  for (const Advice& advice : list.advice) {
    if (!advice.gain_ns) continue;
    table.rows.push_back({static_cast<std::int64_t>(table.rows.size() + 1), std::string(advice.rule->name), advice.finding.title, whole(*advice.gain_ns),
                          *advice.gain_ns / list.step_ns, whole(advice.alone_ns), whole(advice.pessimistic_ns), whole(advice.optimistic_ns),
                          std::string(confidence_name(advice.finding.confidence)), advice.finding.observation, advice.finding.would_settle,
                          joined(advice.caveats), slice_list(advice.finding.evidence)});
  }
  return table;
}

Table changes(const AdviceList& list) {
  Table table{
      .key = "changes",
      .title = "How",
      .columns = {{"rule", "Rule", Unit::none}, {"framework", "Where", Unit::none}, {"form", "Form", Unit::none, false}, {"change", "Change", Unit::none}},
      .rows = {}};
  for (const Advice& advice : list.advice)
    for (const Change& change : advice.finding.changes)
      table.rows.push_back({std::string(advice.rule->name), std::string(change.framework), std::string(change_form_name(change.form)), change.text});
  return table;
}

Table without_gain(const AdviceList& list) {
  Table table{.key = "without_gain",
              .title = "Also seen; what it would save this trace cannot tell",
              .columns = {{"rule", "Rule", Unit::none, false},
                          {"title", "What", Unit::none},
                          {"observation", "What was seen", Unit::none},
                          {"why", "Why no gain is told", Unit::none},
                          {"would_settle", "What would settle it", Unit::none, false},
                          {"slices", "Evidence (slices)", Unit::slices, false}},
              .rows = {}};
  for (const Advice& advice : list.advice) {
    if (advice.gain_ns) continue;
    const Finding& finding = advice.finding;
    table.rows.push_back(
        {std::string(advice.rule->name), finding.title, finding.observation, finding.unknown, finding.would_settle, slice_list(finding.evidence)});
  }
  return table;
}

}  // namespace

std::string slice_list(std::span<const SliceId> slices) {
  std::string text;
  for (const SliceId slice : slices) text += fmt::format("{}{}", text.empty() ? "" : ", ", index(slice));
  return text;
}

Section advice_section(const AdviceList& list) {
  Section section{.key = "advice", .title = "What to change", .prominence = 5};
  const double saved = list.step_ns - list.after_all_ns;
  section.figures = {{"step_ns", "Step", Unit::nanoseconds, list.step_ns > 0 ? whole(list.step_ns) : Value{}},
                     {"after_all_ns", "With all of it", Unit::nanoseconds, list.step_ns > 0 ? whole(list.after_all_ns) : Value{}}};
  for (Table table : {ranked(list), changes(list), without_gain(list)})
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
  if (list.step_ns <= 0) {
    section.summary = "There is no step or device activity whose length a replay could tell.";
  } else if (section.table("ranked") == nullptr) {
    section.summary = "No rule found a change that would save half a percent of the step or more.";
  } else {
    section.summary = fmt::format("Together these changes would take the step from {} to {} (−{:.0f} %), by replays of the trace with each change made.",
                                  format_duration(std::llround(list.step_ns)), format_duration(std::llround(list.after_all_ns)), 100 * saved / list.step_ns);
  }
  return section;
}

}  // namespace stepscope
