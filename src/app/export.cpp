// The command line of `stepscope export`.
#include <algorithm>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/output_file.h"
#include "app/progress_line.h"
#include "app/shared_options.h"
#include "app/verb.h"
#include "base/progress.h"
#include "verbs/stepscope.h"
#include "write/writer.h"

namespace stepscope::app {

namespace {

struct ExportCommand {
  ExportOptions options;
  std::string output = "-";
  bool quiet = false;
};

std::string formats() {
  std::string names;
  for (const Writer* writer : all_writers()) names += (names.empty() ? "" : "|") + std::string(writer->name);
  return names;
}

CommandLine command_line(ExportCommand& c) {
  CommandLine line;
  line.verb = "export";
  line.synopsis = "PATH... [options]";
  line.purpose =
      "Writes a trace in the format of another tool, as Stepscope understands it: repaired where it was damaged, with the critical path of each step drawn in "
      "as "
      "arrows and as a track of its own.";
  line.operands = "PATH is what stepscope analyze takes: a trace of torch.profiler, a directory that holds one file per rank, or - for standard input.";
  std::string help = "The format.";
  for (const Writer* writer : all_writers()) help += " " + std::string(writer->name) + ": " + std::string(writer->help) + ".";
  line.options.push_back(
      {.name = "--to", .value = formats(), .help = help, .expected = formats(), .example = "--to chrome", .take = [&c](const std::string& text) {
         c.options.format = text;
         return std::ranges::any_of(all_writers(), [&](const Writer* writer) { return writer->name == text; });
       }});
  line.options.push_back({.name = "--output",
                          .letter = 'o',
                          .value = "FILE",
                          .help = "Write to FILE instead of standard output (-), compressed where it ends in .gz; the file is there whole or not at all.",
                          .expected = "a file to write, or - for standard output",
                          .example = "-o step.json.gz",
                          .take = [&c](const std::string& text) {
                            c.output = text;
                            return !text.empty();
                          }});
  line.options.push_back({.name = "--no-critical-path", .help = "Without the critical path.", .take = [&c](const std::string&) {
                            c.options.critical_path = false;
                            return true;
                          }});
  line.options.push_back(threads_option(c.options.threads));
  line.options.push_back(quiet_option(c.quiet));
  line.examples = {{"stepscope export trace.json.gz --to chrome -o step.json.gz", "The trace with its critical path, for ui.perfetto.dev."}};
  line.notes = "Paths of input files, environments and host names are left out.\n\nExit codes: 0 done; 2 bad usage, unreadable input or unwritable output.";
  line.take_operands = [&c](std::vector<std::string> paths) { c.options.paths = std::move(paths); };
  return line;
}

int run_export(std::span<const std::string> words, Console& console) {
  ExportCommand command;
  if (const auto stop = parse(command_line(command), words, console)) return *stop;
  const auto refuse = [&](const Error& error) {
    console.say("stepscope export: " + error.message());
    return exit_unusable;
  };
  const bool to_console = command.output == "-";
  if (const auto allowed = check_output(command.output, command.options.paths, "the export"); !allowed) return refuse(allowed.error());
  command.options.compress = command.output.ends_with(".gz");

  Progress progress;
  command.options.progress = &progress;
  const Result<void> written = [&] {
    const ProgressLine line(progress, console.error_is_terminal() && !command.quiet);
    if (to_console) return export_timeline(command.options, [&](std::string_view text) { return console.write(text); });
    return write_file(command.output, [&](const WritePiece& write) { return export_timeline(command.options, write); });
  }();
  return written ? exit_done : refuse(written.error());
}

CommandLine describe_export() {
  ExportCommand command;
  return command_line(command);
}

}  // namespace

}  // namespace stepscope::app

namespace stepscope {

extern const Verb export_verb;
const Verb export_verb{.name = "export",
                       .help = "Write a trace in another tool's format, with its critical path.",
                       .place = 60,
                       .describe = app::describe_export,
                       .run = app::run_export};

}  // namespace stepscope
