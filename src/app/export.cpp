// The command line of `stepscope export`.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/output_file.h"
#include "app/progress_line.h"
#include "app/verb.h"
#include "base/progress.h"
#include "read/reader.h"
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
  line.options.push_back({.name = "--threads",
                          .value = "N",
                          .help = "Threads to use (default: one per core).",
                          .expected = "a whole number from 1 to 1024",
                          .example = "--threads 4",
                          .take = [&c](const std::string& text) {
                            int threads = 0;
                            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
                            if (error != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > 1024) return false;
                            c.options.threads = threads;
                            return true;
                          }});
  line.options.push_back({.name = "--quiet", .letter = 'q', .help = "No progress on standard error; errors are still told.", .take = [&c](const std::string&) {
                            c.quiet = true;
                            return true;
                          }});
  line.examples = {{"stepscope export trace.json.gz --to chrome -o step.json.gz", "The trace with its critical path, for ui.perfetto.dev."}};
  line.notes = "Paths of input files, environments and host names are left out.\n\nExit codes: 0 done; 2 bad usage, unreadable input or unwritable output.";
  line.take_operands = [&c](std::vector<std::string> paths) { c.options.paths = std::move(paths); };
  return line;
}

// Whether the output is one of the input's files.
bool replaces_input(const ExportCommand& command) {
  std::error_code failed;
  if (command.output == "-" || !std::filesystem::is_regular_file(command.output, failed)) return false;
  for (const std::string& path : command.options.paths) {
    const Result<FoundInputs> found = search_inputs(path);
    if (!found) continue;
    for (const std::string& file : found->files)
      if (std::filesystem::equivalent(command.output, file, failed) && !failed) return true;
  }
  return false;
}

int run_export(std::span<const std::string> words, Console& console) {
  ExportCommand command;
  if (const auto stop = parse(command_line(command), words, console)) return *stop;
  const auto refuse = [&](const Error& error) {
    console.say("stepscope export: " + error.message());
    return exit_unusable;
  };
  const bool to_console = command.output == "-";
  if (!to_console) {
    if (const Result<void> possible = can_write_file(command.output); !possible) return refuse(possible.error());
    if (replaces_input(command)) return refuse({command.output, {}, "is an input, which the export would replace", "Name another file with -o."});
  }
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
