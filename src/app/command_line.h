// What a verb's command line takes, as data: parsing it, its help and its error messages follow from that alone, so that every verb answers alike.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::app {

class Console;

struct CommandOption {
  std::string name{};      // "--steps"
  char letter = 0;         // 'o' for -o; 0 = none
  std::string value{};     // its value in the help: "3-5|last|all"; empty = a switch without one
  std::string help{};      // what it does; may be several sentences
  std::string expected{};  // for messages: "all, last, one step (5) or a range (3-5)"
  std::string example{};   // for messages: "--steps 3-5"
  // Takes the value ("" for a switch); false = not one of the expected. Called once per occurrence, in order.
  std::function<bool(const std::string&)> take{};
  bool hidden = false;  // another spelling of an option: not in the help
};

struct CommandExample {
  std::string command;  // "stepscope analyze trace.json.gz"
  std::string meaning;  // "where the time of a training step went"
};

struct CommandLine {
  std::string verb;      // "analyze"
  std::string synopsis;  // "PATH... [options]"
  std::string purpose;   // a paragraph
  std::string operands;  // what PATH may be: a paragraph
  std::vector<CommandOption> options;
  std::vector<CommandExample> examples;
  std::string notes;  // paragraphs after the examples
  std::function<void(std::vector<std::string>)> take_operands;
  std::string operand = "PATH";  // what is missing where there are no operands
};

// Gives the words to the options' take functions. Returns the exit code where the verb must not run: help was asked for and printed, or the words were not
// understood and the console was told why.
std::optional<int> parse(const CommandLine& line, std::span<const std::string> words, Console& console);

// The help page; no line is longer than 100 columns.
std::string help_page(const CommandLine& line);

// Text broken at spaces into lines of at most `columns`, each but the first indented.
std::string wrap(std::string_view text, int columns, int indent);

}  // namespace stepscope::app
