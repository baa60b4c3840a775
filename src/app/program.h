// The program as a whole: which verb is meant, and what to say where none is.
#pragma once

#include <span>
#include <string>

namespace stepscope::app {

class Console;

// Runs the command line's words (without the program's name); returns an ExitCode.
int run_program(std::span<const std::string> words, Console& console);

}  // namespace stepscope::app
