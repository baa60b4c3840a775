// The seam of app/: one file per verb, each defining `extern const Verb NAME_verb`. CMake collects them into all_verbs().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/command_line.h"

namespace stepscope::app {

class Console;

struct Verb {
  std::string_view name;  // "analyze"
  std::string_view help;  // one line for the list of verbs
  int place;              // in that list: ascending
  // What the command line takes, for help; parsing it changes nothing.
  CommandLine (*describe)();
  // Runs the verb with the words that follow its name; returns an ExitCode.
  int (*run)(std::span<const std::string> words, Console& console);
};

}  // namespace stepscope::app

namespace stepscope {
using app::Verb;
std::span<const Verb* const> all_verbs();  // generated; in order of name
}  // namespace stepscope
