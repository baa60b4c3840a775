// The command line of `stepscope whatif`.
#include <fmt/core.h>

#include <filesystem>
#include <limits>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/output_file.h"
#include "app/progress_line.h"
#include "app/shared_options.h"
#include "app/verb.h"
#include "base/text.h"
#include "edit/edit.h"
#include "edit/selector.h"
#include "read/reader.h"
#include "report/sections.h"
#include "verbs/stepscope.h"

namespace stepscope::app {

namespace {

enum class Form { text, json, html };

struct WhatIfCommand {
  WhatIfOptions options;
  std::optional<Form> form;
  std::vector<std::string> outputs;  // "-" = standard output
  bool list_edits = false;
  bool quiet = false;
  bool verbose = false;
};

std::vector<CommandOption> command_options(WhatIfCommand& c) {
  std::vector<CommandOption> options;
  options.push_back(
      {.name = "--edit",
       .letter = 'e',
       .value = "EDIT",
       .help = "What to change: the kind of edit, which operations, and how. May be given several times: edits apply in order. --list-edits tells the kinds.",
       .expected = "an edit",
       .example = "--edit \"scale name=*gemm* by=0.5\"",
       .take = [&c](const std::string& text) {
         c.options.edits.push_back(text);
         return !text.empty();
       }});
  options.push_back({.name = "--edits",
                     .value = "FILE",
                     .help = "A YAML file of edits, applied before those of --edit.",
                     .expected = "a YAML file of edits",
                     .example = "--edits edits.yaml",
                     .take = [&c](const std::string& text) {
                       c.options.edits_file = text;
                       return !text.empty();
                     }});
  options.push_back({.name = "--list-edits", .help = "The kinds of edits with their parameters and examples; needs no PATH.", .take = [&c](const std::string&) {
                       c.list_edits = true;
                       return true;
                     }});
  options.push_back(gpu_option(c.options.gpu));
  options.push_back({.name = "--format",
                     .value = "text|json|html",
                     .help = "The form of the answer. Default: what the ending of -o FILE says, else text.",
                     .expected = "text, json or html",
                     .example = "--format json",
                     .take = [&c](const std::string& text) {
                       if (text == "text") c.form = Form::text;
                       if (text == "json") c.form = Form::json;
                       if (text == "html") c.form = Form::html;
                       return text == "text" || text == "json" || text == "html";
                     }});
  options.push_back({.name = "--output",
                     .letter = 'o',
                     .value = "FILE",
                     .help = "Write the answer to FILE instead of standard output (-). May be given several times, each in the form that its ending says.",
                     .expected = "a file to write, or - for standard output",
                     .example = "-o whatif.html",
                     .take = [&c](const std::string& text) {
                       c.outputs.push_back(text);
                       return !text.empty();
                     }});
  options.push_back(quiet_option(c.quiet));
  options.push_back({.name = "--verbose", .letter = 'v', .help = "All rows and columns.", .take = [&c](const std::string&) {
                       c.verbose = true;
                       return true;
                     }});
  return options;
}

CommandLine command_line(WhatIfCommand& c) {
  CommandLine line;
  line.verb = "whatif";
  line.synopsis = "PATH... --edit EDIT [options]";
  line.purpose =
      "Says how long a training step would take if something were different: kernels faster, fused or gone, communication overlapped, no waiting for the "
      "device, "
      "launches or loading of data that cost nothing, another network, another GPU, another data type. It replays the graph of what waits for what.";
  line.operands = "PATH is a trace as `stepscope analyze` reads it, a directory of ranks, or - for standard input.";
  line.options = command_options(c);
  line.examples = {
      {"stepscope whatif trace.json.gz --edit \"scale name=*gemm* by=0.5\"", "All matrix products twice as fast."},
      {"stepscope whatif trace.json.gz --edit no_sync --edit launch_cost", "No waiting for the device, and then launches that cost nothing as well."},
      {"stepscope whatif trace.json.gz --edit 'overlap collective=all_reduce until=\"phase=optimizer\"'", "Gradients reduced beside the backward pass."},
      {"stepscope whatif traces/ --edit \"network bandwidth=2\" -o whatif.html", "Twice the bandwidth between the ranks, as a page."},
      {"stepscope whatif trace.json.gz --edits edits.yaml --format json", "Edits from a file; the answer for a program."},
      {"stepscope whatif --list-edits", "What can be changed."},
  };
  line.notes =
      "Which operations an edit means: name=, operator=, category=, module=, phase=, class=, collective=,\n"
      "rank=, device=, stream=, step=; all that are given must hold; * and ? are wildcards, | separates\n"
      "alternatives. docs/whatif.md explains each edit.\n"
      "\n"
      "Exit codes: 0 done; 2 bad usage, an edit that makes no sense for this trace, unreadable input or\n"
      "unwritable output; 3 nothing to replay in a readable input.";
  line.take_operands = [&c](std::vector<std::string> paths) { c.options.paths = std::move(paths); };
  return line;
}

std::string list_of_edits() {
  constexpr int columns = 100;
  std::string page;
  const auto entry = [&](std::string_view name, std::string_view help, int indent) {
    std::string left = std::string(static_cast<std::size_t>(indent), ' ') + std::string(name);
    page += pad_right(left, 24) + (display_width(left) > 22 ? "  " : "") + wrap(help, columns, 24) + "\n";
  };
  for (const EditKind* kind : all_edit_kinds()) {
    entry(kind->name, kind->help, 0);
    for (const EditParameter& one : kind->parameters) entry(std::string(one.name) + "=", std::string(one.help) + (one.required ? " (needed)" : ""), 2);
    page += fmt::format("  for example: {}\n\n", kind->example);
  }
  page += "Which operations, for all but balance:\n";
  for (const EditParameter& one : selector_parameters()) entry(std::string(one.name) + "=", one.help, 2);
  return page;
}

Form form_of(const WhatIfCommand& command, const std::string& output) {
  if (command.form) return *command.form;
  if (output.ends_with(".json")) return Form::json;
  if (output.ends_with(".html") || output.ends_with(".htm")) return Form::html;
  return Form::text;
}

std::string answer(const WhatIfCommand& command, const WhatIf& result, const std::string& output, const Console& console) {
  std::string title = "What if:";
  for (const std::string& path : command.options.paths)
    title += " " + (path == "-" ? std::string("standard input") : std::filesystem::path(path).filename().string());
  const SectionReport report{.title = title, .schema = "stepscope.whatif/1", .sections = result.sections};
  switch (form_of(command, output)) {
    case Form::json:
      return sections_json(report);
    case Form::html:
      return sections_html(report);
    case Form::text:
      break;
  }
  TextOptions options = text_options(console, output);
  options.verbosity = command.verbose ? 1 : 0;
  if (command.verbose) options.top = std::numeric_limits<int>::max();
  return sections_text(report, options);
}

int run_whatif(std::span<const std::string> words, Console& console) {
  WhatIfCommand command;
  // The list of edits needs no path, which the command line else asks for.
  for (const std::string& word : words) {
    if (word != "--list-edits") continue;
    const auto written = console.write(list_of_edits());
    return written ? exit_done : exit_unusable;
  }
  if (const auto stop = parse(command_line(command), words, console)) return *stop;
  if (command.outputs.empty()) command.outputs.push_back("-");
  const auto refuse = [&](const Error& error) {
    console.say("stepscope whatif: " + error.message());
    return error.kind == Error::Kind::nothing_to_analyse ? exit_nothing_to_analyse : exit_unusable;
  };
  for (const std::string& output : command.outputs) {
    if (const auto allowed = check_output(output, command.options.paths, "the answer"); !allowed) return refuse(allowed.error());
  }
  Progress progress;
  command.options.progress = &progress;
  const Result<WhatIf> result = [&] {
    const ProgressLine line(progress, console.error_is_terminal() && !command.quiet);
    return what_if(command.options);
  }();
  if (!result) return refuse(result.error());
  if (result->nothing_to_analyse) return refuse(*result->nothing_to_analyse);
  for (const std::string& output : command.outputs) {
    const std::string text = answer(command, *result, output, console);
    if (const Result<void> written = output == "-" ? console.write(text) : write_file(output, text); !written) return refuse(written.error());
  }
  return exit_done;
}

CommandLine describe_whatif() {
  // Only described, never parsed: what its options would write to may go.
  WhatIfCommand command;
  return command_line(command);
}

}  // namespace

}  // namespace stepscope::app

namespace stepscope {

extern const Verb whatif_verb;
const Verb whatif_verb{
    .name = "whatif", .help = "How long a step would take if something were different.", .place = 30, .describe = app::describe_whatif, .run = app::run_whatif};

}  // namespace stepscope
