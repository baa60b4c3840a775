#include "report/advice_changes.h"

#include <fmt/core.h>

#include <cmath>

#include "advise/advice_section.h"
#include "base/text.h"
#include "base/time.h"
#include "report/format.h"

namespace stepscope {

namespace {

std::string duration(double nanoseconds) {
  return format_duration(std::llround(nanoseconds));
}

constexpr std::string_view saved_already = "nothing more than the ones above save already";

bool saves_nothing_more(const Advice& advice) {
  return advice.gain_ns && std::llround(*advice.gain_ns) <= 0;
}

// "−38.1 ms per step (9.2 %)"
std::string gain_of(const Advice& advice, const AdviceList& list) {
  if (!advice.gain_ns) return "gain not known";
  if (saves_nothing_more(advice)) return std::string(saved_already);
  return fmt::format("−{} per step ({})", duration(*advice.gain_ns), format_percent(list.step_ns > 0 ? *advice.gain_ns / list.step_ns : 0, true));
}

// One line, whatever a trace's names hold: a script and a document are made of it.
std::string one_line(std::string_view text) {
  std::string line = printable(text);
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  return line;
}

// A YAML scalar in double quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : one_line(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// NAME=value or several of them, as a shell takes them: nothing else is written as a command.
bool is_assignments(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size()), equals = text.find('=', at);
    if (equals == std::string_view::npos || equals == at || equals > end) return false;
    for (std::size_t i = at; i < equals; ++i)
      if (!((text[i] >= 'A' && text[i] <= 'Z') || (text[i] >= '0' && text[i] <= '9' && i > at) || text[i] == '_')) return false;
    for (std::size_t i = equals + 1; i < end; ++i)
      if (!((text[i] >= 'A' && text[i] <= 'Z') || (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
            std::string_view("_-.,:/%+").find(text[i]) != std::string_view::npos))
        return false;
    at = end + 1;
  }
  return true;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<' || c == '*' || c == '_' || c == '`' || c == '|' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string advice_environment(const AdviceList& list) {
  std::string script =
      "# What stepscope advise found, as environment variables. Comments: changes of other forms, and settings whose gain is not known, is saved already by "
      "the\n"
      "# ones above, or is of low confidence; take off the # to try them.\n";
  if (list.step_ns > 0) script += fmt::format("# Step {} -> {} with all of it, by replays.\n", duration(list.step_ns), duration(list.after_all_ns));
  for (const Advice& advice : list.advice) {
    script += fmt::format("\n# {} ({}): {}\n", one_line(advice.finding.title), advice.rule->name, gain_of(advice, list));
    script += fmt::format("# Confidence: {}.{}\n", confidence_name(advice.finding.confidence),
                          advice.finding.would_settle.empty() ? "" : " To be sure: " + one_line(advice.finding.would_settle));
    for (const std::string& caveat : advice.caveats) script += fmt::format("# {}\n", one_line(caveat));
    const bool is_sure = advice.gain_ns && !saves_nothing_more(advice) && advice.finding.confidence != Confidence::low;
    for (const Change& change : advice.finding.changes) {
      if (change.form == Change::Form::environment && is_assignments(change.text))
        script += (is_sure ? "export " : "# export ") + change.text + "\n";
      else
        script += fmt::format("#   {} ({}): {}\n", change.framework, change_form_name(change.form), one_line(change.text));
    }
  }
  return script;
}

std::string advice_yaml(const AdviceList& list) {
  std::string yaml = fmt::format("schema: stepscope.advice/1\nstep_ns: {}\nafter_all_ns: {}\nadvice:{}\n", std::llround(list.step_ns),
                                 std::llround(list.after_all_ns), list.advice.empty() ? " []" : "");
  for (const Advice& advice : list.advice) {
    yaml += fmt::format("  - rule: {}\n    title: {}\n", advice.rule->name, quoted(advice.finding.title));
    yaml += advice.gain_ns ? fmt::format("    gain_ns: {}\n    alone_ns: {}\n", std::llround(*advice.gain_ns), std::llround(advice.alone_ns))
                           : std::string("    gain_ns: null\n");
    yaml += fmt::format("    confidence: {}\n    observation: {}\n", confidence_name(advice.finding.confidence), quoted(advice.finding.observation));
    if (!advice.finding.unknown.empty()) yaml += fmt::format("    unknown: {}\n", quoted(advice.finding.unknown));
    if (!advice.finding.would_settle.empty()) yaml += fmt::format("    would_settle: {}\n", quoted(advice.finding.would_settle));
    if (!advice.caveats.empty()) yaml += "    caveats:\n";
    for (const std::string& caveat : advice.caveats) yaml += fmt::format("      - {}\n", quoted(caveat));
    yaml += fmt::format("    slices: [{}]\n", slice_list(advice.finding.evidence));
    yaml += fmt::format("    changes:{}\n", advice.finding.changes.empty() ? " []" : "");
    for (const Change& change : advice.finding.changes)
      yaml += fmt::format("      - framework: {}\n        form: {}\n        change: {}\n", quoted(change.framework), change_form_name(change.form),
                          quoted(change.text));
  }
  return yaml;
}

std::string advice_markdown(const AdviceList& list) {
  std::string page = "# What to change\n\n";
  if (list.step_ns > 0)
    page += fmt::format(
        "Step {}; with all of the changes below {}, by replays of the trace with each change made. Gains are marginal: each on top of those before it.\n",
        duration(list.step_ns), duration(list.after_all_ns));
  if (list.advice.empty()) page += "\nNo rule found a change worth making.\n";
  for (const Advice& advice : list.advice) {
    page += fmt::format("\n## {}: {}\n\n{}\n", markdown_text(advice.finding.title), gain_of(advice, list), markdown_text(advice.finding.observation));
    if (!advice.finding.unknown.empty()) page += "\n" + markdown_text(advice.finding.unknown) + "\n";
    page += fmt::format("\nConfidence: {}.{}", confidence_name(advice.finding.confidence),
                        advice.finding.would_settle.empty() ? "" : " To be sure: " + markdown_text(advice.finding.would_settle));
    for (const std::string& caveat : advice.caveats) page += " " + markdown_text(caveat);
    page += fmt::format(" Seen in slices {}.\n\n", slice_list(advice.finding.evidence));
    for (const Change& change : advice.finding.changes) page += fmt::format("- {}: `{}`\n", change.framework, one_line(change.text));
  }
  return page;
}

}  // namespace stepscope
