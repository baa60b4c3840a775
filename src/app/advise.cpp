// The command line of `stepscope advise`.
#include <fmt/core.h>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/output_file.h"
#include "app/progress_line.h"
#include "app/shared_options.h"
#include "app/verb.h"
#include "report/advice_changes.h"
#include "report/report.h"
#include "report/sections.h"
#include "verbs/stepscope.h"

namespace stepscope::app {

namespace {

enum class Form { text, environment, yaml, markdown };

struct AdviseCommand {
  AnalyzeOptions options;
  Form form = Form::text;
  bool emits = false, json = false;
  std::string output = "-";
  bool quiet = false;
};

CommandLine command_line(AdviseCommand& c) {
  CommandLine line;
  line.verb = "advise";
  line.synopsis = "PATH... [options]";
  line.purpose =
      "Says what to change so that the training step takes less time: the bottlenecks that the trace shows, what each fix saves on top of those before it (by "
      "a "
      "replay of the trace with the change made), how to make it, and how sure that is.";
  line.operands = "PATH is a trace as `stepscope analyze` reads it, a directory of ranks, or - for standard input.";
  line.options.push_back({.name = "--emit",
                          .value = "env|yaml|markdown",
                          .help = "Write the changes to apply: as a shell script of environment variables, as YAML for a program, or as Markdown for a ticket.",
                          .expected = "env, yaml or markdown",
                          .example = "--emit env",
                          .take = [&c](const std::string& text) {
                            c.emits = true;
                            if (text == "env") c.form = Form::environment;
                            if (text == "yaml") c.form = Form::yaml;
                            if (text == "markdown") c.form = Form::markdown;
                            return text == "env" || text == "yaml" || text == "markdown";
                          }});
  line.options.push_back({.name = "--format",
                          .value = "text|json",
                          .help = "The form of the answer without --emit (default text).",
                          .expected = "text or json",
                          .example = "--format json",
                          .take = [&c](const std::string& text) {
                            c.json = text == "json";
                            return text == "text" || text == "json";
                          }});
  line.options.push_back(gpu_option(c.options.gpu));
  line.options.push_back({.name = "--output",
                          .letter = 'o',
                          .value = "FILE",
                          .help = "Write to FILE instead of standard output (-); the file is there whole or not at all.",
                          .expected = "a file to write, or - for standard output",
                          .example = "-o tuned.env",
                          .take = [&c](const std::string& text) {
                            c.output = text;
                            return !text.empty();
                          }});
  line.options.push_back(quiet_option(c.quiet));
  line.examples = {
      {"stepscope advise trace.json.gz", "What to change, with what each change saves."},
      {"stepscope advise trace.json.gz --emit env -o tuned.env", "The environment variables to start the next run with."},
      {"stepscope advise traces/ --emit markdown", "A text for a ticket, from all ranks of a job."},
  };
  line.notes =
      "docs/advice.md lists the rules with their thresholds and sources.\n"
      "\n"
      "Exit codes: 0 done; 2 bad usage, unreadable input or unwritable output; 3 nothing to analyse in a\n"
      "readable input.";
  line.take_operands = [&c](std::vector<std::string> paths) { c.options.paths = std::move(paths); };
  return line;
}

std::string answer(const AdviseCommand& command, const Analysis& analysis, const Console& console) {
  switch (command.form) {
    case Form::environment:
      return advice_environment(analysis.advice);
    case Form::yaml:
      return advice_yaml(analysis.advice);
    case Form::markdown:
      return advice_markdown(analysis.advice);
    default:
      break;
  }
  SectionReport report{.title = "What to change", .schema = "stepscope.advice/1", .sections = {}};
  if (const Section* section = find_section(analysis.findings.sections, "advice")) report.sections.push_back(*section);
  if (command.json) return sections_json(report);
  TextOptions options = text_options(console, command.output);
  options.verbosity = 1;
  return sections_text(report, options);
}

int run_advise(std::span<const std::string> words, Console& console) {
  AdviseCommand command;
  if (const auto stop = parse(command_line(command), words, console)) return *stop;
  const auto refuse = [&](const Error& error) {
    console.say("stepscope advise: " + error.message());
    return error.kind == Error::Kind::nothing_to_analyse ? exit_nothing_to_analyse : exit_unusable;
  };
  if (command.emits && command.json)
    return refuse(Error{"", std::nullopt, "--emit and --format json are two forms of the answer", "Give one of them: --emit yaml is for programs too",
                        Error::Kind::unusable});
  if (const auto allowed = check_output(command.output, command.options.paths, "the answer"); !allowed) return refuse(allowed.error());
  Progress progress;
  command.options.progress = &progress;
  const Result<Analysis> analysis = [&] {
    const ProgressLine progress_line(progress, console.error_is_terminal() && !command.quiet);
    return analyze(command.options);
  }();
  if (!analysis) return refuse(analysis.error());
  if (analysis->nothing_to_analyse) return refuse(*analysis->nothing_to_analyse);
  const std::string text = answer(command, *analysis, console);
  const Result<void> written = command.output == "-" ? console.write(text) : write_file(command.output, text);
  return written ? exit_done : refuse(written.error());
}

CommandLine describe_advise() {
  AdviseCommand command;
  return command_line(command);
}

}  // namespace

}  // namespace stepscope::app

namespace stepscope {

extern const Verb advise_verb;
const Verb advise_verb{.name = "advise",
                       .help = "What to change in a training job, ranked by what each change saves.",
                       .place = 20,
                       .describe = app::describe_advise,
                       .run = app::run_advise};

}  // namespace stepscope
