// The only file that includes CLI11 (its header takes seconds to compile). CLI11 splits the words ("-oFILE", "--steps=3-5", "-vq", "--"); the messages are
// our own: each names the option, what it expects and an example.
#include "app/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/nearest.h"

namespace stepscope::app {

namespace {

constexpr int page_columns = 100;
constexpr int option_column = 28;  // where the help of an option begins

std::string spelling(const CommandOption& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, {}", option.letter, option.name) : "    " + option.name;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

std::string wrong_value(const CommandLine& line, const CommandOption& option, const std::string& value) {
  return fmt::format("stepscope {}: {} {}: expected {}\n  for example: stepscope {} {} {}", line.verb, option.name, value, option.expected, line.verb,
                     line.operand, option.example);
}

std::string missing_value(const CommandLine& line, const CommandOption& option) {
  return fmt::format("stepscope {}: {} needs a value: {}\n  for example: stepscope {} {} {}", line.verb, option.name, option.expected, line.verb, line.operand,
                     option.example);
}

std::string unknown_option(const CommandLine& line, std::string word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string_view> names{"--help"};
  for (const CommandOption& option : line.options) names.push_back(option.name);
  std::string text = fmt::format("stepscope {}: unknown option {}", line.verb, word);
  if (const std::string_view near = nearest(word, names); !near.empty()) text += fmt::format("; did you mean {}?", near);
  return text;
}

std::string missing_operand(const CommandLine& line) {
  std::string text = fmt::format("stepscope {}: no {} was given", line.verb, line.operand);
  if (!line.examples.empty()) text += "\n  for example: " + line.examples.front().command;
  return text;
}

int refuse(const CommandLine& line, Console& console, const std::string& message) {
  console.say(message + fmt::format("\n  all options: stepscope {} --help", line.verb));
  return exit_unusable;
}

}  // namespace

std::optional<int> parse(const CommandLine& line, std::span<const std::string> words, Console& console) {
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras(true);
  std::string problem;
  bool help = false;
  for (const CommandOption& option : line.options) {
    const std::string names = (option.letter != 0 ? fmt::format("-{},", option.letter) : "") + option.name;
    if (option.value.empty()) {
      parser.add_flag_callback(names, [&option] { option.take(""); })->trigger_on_parse();
    } else {
      const auto take = [&](const std::string& value) {
        if (!option.take(value) && problem.empty()) problem = wrong_value(line, option, value);
      };
      parser.add_option_function<std::string>(names, take)->trigger_on_parse();
    }
  }
  parser.add_flag_callback("-h,--help", [&help] { help = true; })->trigger_on_parse();
  std::vector<std::string> operands;
  if (line.take_operands) parser.add_option("operands", operands);

  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the order that CLI11 takes
  try {
    parser.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    // The only error left to CLI11 is an option at the end without its value: "--steps: 1 required TEXT missing".
    const std::string what = error.what();
    const auto option = std::find_if(line.options.begin(), line.options.end(), [&](const CommandOption& o) { return what.starts_with(o.name + ":"); });
    if (!help) return refuse(line, console, option != line.options.end() ? missing_value(line, *option) : fmt::format("stepscope {}: {}", line.verb, what));
  }
  if (help) {
    if (const auto written = console.write(help_page(line)); !written) {
      console.say(written.error().message());
      return exit_unusable;
    }
    return exit_done;
  }
  if (problem.empty()) {
    for (const std::string& word : parser.remaining()) {
      if (word == "--") continue;
      problem = word.starts_with('-') ? unknown_option(line, word) : fmt::format("stepscope {}: unexpected '{}'", line.verb, word);
      break;
    }
  }
  if (problem.empty() && line.take_operands && operands.empty()) problem = missing_operand(line);
  if (!problem.empty()) return refuse(line, console, problem);
  if (line.take_operands) line.take_operands(std::move(operands));
  return std::nullopt;
}

std::string wrap(std::string_view text, int columns, int indent) {
  std::string result;
  int used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const int word = static_cast<int>(end);
    if (used > 0 && used + 1 + word > columns - indent) {
      result += '\n';
      result.append(static_cast<std::size_t>(indent), ' ');
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += text.substr(0, end);
    used += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string help_page(const CommandLine& line) {
  std::string page = fmt::format("Usage: stepscope {} {}\n\n{}\n", line.verb, line.synopsis, wrap(line.purpose, page_columns, 0));
  if (!line.operands.empty()) page += fmt::format("\n{}\n", wrap(line.operands, page_columns, 0));
  page += "\nOptions:\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const CommandOption& option : line.options) {
    if (!option.hidden) rows.emplace_back(spelling(option), option.help);
  }
  rows.emplace_back("-h, --help", "This page.");
  for (const auto& [left, help] : rows) {
    page += "  " + left;
    if (left.size() + 4 > option_column) {
      page += "\n" + std::string(option_column, ' ');
    } else {
      page.append(option_column - 2 - left.size(), ' ');
    }
    page += wrap(help, page_columns, option_column) + "\n";
  }
  page += "\nExamples:\n";
  for (const CommandExample& example : line.examples) page += fmt::format("  {}\n      {}\n", example.command, wrap(example.meaning, page_columns, 6));
  if (!line.notes.empty()) page += "\n" + line.notes + "\n";
  return page;
}

}  // namespace stepscope::app
