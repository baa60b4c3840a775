// The command line of `stepscope analyze`.
#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/output_file.h"
#include "app/progress_line.h"
#include "app/shared_options.h"
#include "app/verb.h"
#include "read/reader.h"
#include "report/report.h"
#include "verbs/stepscope.h"

namespace stepscope::app {

namespace {

enum class Form { text, json, html };

struct AnalyzeCommand {
  AnalyzeOptions options;
  std::optional<Form> form;
  std::vector<std::string> outputs;  // "-" = standard output
  int top = 10;
  int verbosity = 0;
  bool quiet = false;
  ColourWish colour = ColourWish::automatic;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

template <class Number>
bool take_number(const std::string& text, std::int64_t least, std::int64_t most, Number& target) {
  const auto value = whole_number(text);
  if (!value || *value < least || *value > most) return false;
  target = static_cast<Number>(*value);
  return true;
}

// "all", "last", "5", "3-5"; whether the capture has these steps is seen after reading.
bool take_steps(const std::string& text, std::string& target) {
  if (text != "all" && text != "last") {
    const std::size_t dash = text.find('-');
    const auto first = whole_number(std::string_view(text).substr(0, dash));
    const auto last = dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first > *last) return false;
  }
  target = text;
  return true;
}

template <class Choice>
bool take_choice(const std::string& text, std::initializer_list<std::pair<std::string_view, Choice>> choices, Choice& target) {
  for (const auto& [name, choice] : choices) {
    if (text == name) {
      target = choice;
      return true;
    }
  }
  return false;
}

std::vector<CommandOption> command_options(AnalyzeCommand& c) {
  const auto colour = [&c](const std::string& text) {
    return take_choice<ColourWish>(text, {{"auto", ColourWish::automatic}, {"always", ColourWish::always}, {"never", ColourWish::never}}, c.colour);
  };
  std::vector<CommandOption> options;
  options.push_back({.name = "--steps",
                     .value = "3-5|last|all",
                     .help = "The steps to look at: one (5), a range (3-5), the last, or all (the default).",
                     .expected = "all, last, one step (5) or a range of steps (3-5)",
                     .example = "--steps 3-5",
                     .take = [&c](const std::string& text) { return take_steps(text, c.options.steps); }});
  options.push_back({.name = "--rank",
                     .value = "N",
                     .help = "Only this rank of a capture that has several.",
                     .expected = "a rank, a whole number from 0",
                     .example = "--rank 3",
                     .take = [&c](const std::string& text) {
                       const auto rank = whole_number(text);
                       if (rank) c.options.rank = rank;
                       return rank.has_value();
                     }});
  options.push_back({.name = "--gpu",
                     .value = "NAME|FILE",
                     .help =
                         "The GPU that ran it, where the trace does not say or its peak rates are others: a built-in description (h100-sxm, b200, mi300x, ...) "
                         "or a YAML file like those in data/machines/.",
                     .expected = "the name of a GPU or a YAML file that describes one",
                     .example = "--gpu h100-sxm",
                     .take = [&c](const std::string& text) {
                       c.options.gpu = text;
                       return !text.empty();
                     }});
  options.push_back({.name = "--patterns",
                     .value = "FILE",
                     .help =
                         "Your own kernel classes (compute, communication, memory) by regular expressions on the kernel's name, as YAML; they go before the "
                         "built-in ones.",
                     .expected = "a YAML file of kernel patterns",
                     .example = "--patterns kernels.yaml",
                     .take = [&c](const std::string& text) {
                       c.options.patterns_file = text;
                       return !text.empty();
                     }});
  options.push_back({.name = "--format",
                     .value = "text|json|html",
                     .help = "The form of the report. Default: what the ending of -o FILE says, else text.",
                     .expected = "text, json or html",
                     .example = "--format json",
                     .take = [&c](const std::string& text) {
                       Form form{};
                       const bool known = take_choice<Form>(text, {{"text", Form::text}, {"json", Form::json}, {"html", Form::html}}, form);
                       if (known) c.form = form;
                       return known;
                     }});
  options.push_back(
      {.name = "--output",
       .letter = 'o',
       .value = "FILE",
       .help = "Write the report to FILE instead of standard output (-); the file is there whole or not at all. May be given several times, each in the form "
               "that its ending says: -o - -o report.html.",
       .expected = "a file to write, or - for standard output",
       .example = "-o report.html",
       .take = [&c](const std::string& text) {
         c.outputs.push_back(text);
         return !text.empty();
       }});
  options.push_back({.name = "--top",
                     .value = "N",
                     .help = "Rows per table of the text report (default 10); 0 = all.",
                     .expected = "a whole number of rows, 0 = all",
                     .example = "--top 25",
                     .take = [&c](const std::string& text) { return take_number(text, 0, 1'000'000, c.top); }});
  options.push_back(threads_option(c.options.threads));
  const std::string colours = "auto, always or never";
  options.push_back({.name = "--colour",
                     .value = "auto|always|never",
                     .help = "Colours in the text report. auto: on a terminal, unless NO_COLOR is set.",
                     .expected = colours,
                     .example = "--colour never",
                     .take = colour});
  options.push_back(
      {.name = "--color", .value = "auto|always|never", .help = "", .expected = colours, .example = "--color never", .take = colour, .hidden = true});
  options.push_back(
      {.name = "--quiet", .letter = 'q', .help = "No progress and no remarks on standard error; errors are still told.", .take = [&c](const std::string&) {
         c.quiet = true;
         return true;
       }});
  options.push_back({.name = "--verbose", .letter = 'v', .help = "Every section with every column and every remark.", .take = [&c](const std::string&) {
                       ++c.verbosity;
                       return true;
                     }});
  return options;
}

CommandLine command_line(AnalyzeCommand& c) {
  CommandLine line;
  line.verb = "analyze";
  line.synopsis = "PATH... [options]";
  line.purpose =
      "Says where the time of a training step went: compute, exposed communication, waiting for the host, launches, and what stands out most; then steps, idle "
      "causes, kernels, operators, work against the GPU's peak, launches, copies, collectives, memory, and how far the capture can be trusted.";
  line.operands =
      "PATH is a trace of torch.profiler (Kineto or Chrome JSON, plain, .gz or .zst), a directory that holds one file per rank, or - for standard input. "
      "Damaged "
      "files are read as far as they go, and the report says what was repaired.";
  line.options = command_options(c);
  line.examples = {
      {"stepscope analyze trace.json.gz", "Where the time of a training step went, in the terminal."},
      {"stepscope analyze traces/ --steps 3-5", "All ranks of a job whose traces lie in one directory; only steps 3 to 5."},
      {"stepscope analyze trace.json.gz -o report.html", "An interactive report in one file, to look at or to send."},
      {"stepscope analyze trace.json.gz --format json | jq '.ranks[0].devices[0].all'", "The same figures for a program."},
      {"zcat trace.json.gz | stepscope analyze - --gpu h100-sxm", "From standard input, on a GPU that the trace does not name."},
  };
  line.notes =
      "Without -o, --format html writes NAME-report.html in the current directory when standard output\n"
      "is a terminal, and to standard output otherwise.\n"
      "\n"
      "Exit codes: 0 done; 2 bad usage, unreadable input or unwritable output; 3 nothing to analyse in a\n"
      "readable input (the report then holds the capture's health).";
  line.take_operands = [&c](std::vector<std::string> paths) { c.options.paths = std::move(paths); };
  return line;
}

Form form_of(const AnalyzeCommand& command, const std::string& output) {
  if (command.form) return *command.form;
  if (output.ends_with(".json")) return Form::json;
  if (output.ends_with(".html") || output.ends_with(".htm")) return Form::html;
  return Form::text;
}

// "traces/run7/trace.json.gz" -> "trace-report.html".
std::string default_html_file(const std::string& input) {
  if (input == "-") return "stdin-report.html";
  std::string name = std::filesystem::path(input).lexically_normal().filename().string();
  if (name.empty()) name = std::filesystem::path(input).lexically_normal().parent_path().filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".json", ".trace", ".pt"}) {
    if (name.ends_with(ending) && name.size() > ending.size()) name.resize(name.size() - ending.size());
  }
  return (name.empty() || name == "." || name == ".." ? "stepscope" : name) + "-report.html";
}

class Reports {
 public:
  Reports(const AnalyzeCommand& command, const Analysis& analysis, const Console& console)
      : command_(command),
        console_(console),
        input_{analysis.timeline, analysis.facts, analysis.findings, analysis.read_seconds, analysis.analysis_seconds, &analysis.lifted, &analysis.times} {}

  Result<void> write(const std::string& output) {
    const Form form = form_of(command_, output);
    if (output == "-") return console_.write(make(form, true));
    return write_file(output, make(form, false));
  }

 private:
  std::string make(Form form, bool to_console) const {
    switch (form) {
      case Form::json:
        return json_report(input_);
      case Form::html:
        return html_report(input_);
      case Form::text:
        break;
    }
    TextOptions options;
    options.top = command_.top == 0 ? std::numeric_limits<int>::max() : command_.top;
    options.verbosity = command_.verbosity;
    options.colour = command_.colour == ColourWish::always || (to_console && console_.colour(command_.colour));
    if (to_console && console_.output_is_terminal()) {
      options.columns = console_.columns();
      options.ascii = console_.ascii();
    }
    return text_report(input_, options);
  }

  const AnalyzeCommand& command_;
  const Console& console_;
  ReportInput input_;
};

int run_analyze(std::span<const std::string> words, Console& console) {
  AnalyzeCommand command;
  if (const auto stop = parse(command_line(command), words, console)) return *stop;
  const bool html_by_default = command.outputs.empty() && command.form == Form::html && console.output_is_terminal();
  if (command.outputs.empty()) command.outputs.push_back(html_by_default ? default_html_file(command.options.paths.front()) : "-");
  for (const std::string& output : command.outputs) {
    if (const auto allowed = check_output(output, command.options.paths, "the report"); !allowed) {
      console.say("stepscope analyze: " + allowed.error().message());
      return exit_unusable;
    }
  }

  Progress progress;
  command.options.progress = &progress;
  Result<Analysis> analysis = [&] {
    const ProgressLine line(progress, console.error_is_terminal() && !command.quiet);
    return analyze(command.options);
  }();
  if (!analysis) {
    console.say("stepscope analyze: " + analysis.error().message());
    return analysis.error().kind == Error::Kind::nothing_to_analyse ? exit_nothing_to_analyse : exit_unusable;
  }

  Reports reports(command, *analysis, console);
  for (const std::string& output : command.outputs) {
    if (const auto written = reports.write(output); !written) {
      console.say("stepscope analyze: " + written.error().message());
      return exit_unusable;
    }
    if (html_by_default && !command.quiet) console.say("Wrote " + output);
  }
  if (analysis->nothing_to_analyse) {
    console.say("stepscope analyze: " + analysis->nothing_to_analyse->message());
    return exit_nothing_to_analyse;
  }
  return exit_done;
}

CommandLine describe_analyze() {
  // Only described, never parsed: what its options would write to may go.
  AnalyzeCommand command;
  return command_line(command);
}

}  // namespace

}  // namespace stepscope::app

namespace stepscope {

extern const Verb analyze_verb;
const Verb analyze_verb{.name = "analyze",
                        .help = "Where the time of a training step goes, from its trace.",
                        .place = 10,
                        .describe = app::describe_analyze,
                        .run = app::run_analyze};

}  // namespace stepscope
