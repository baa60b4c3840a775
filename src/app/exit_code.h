// The program's exit codes, the same for every verb.
#pragma once

namespace stepscope::app {

enum ExitCode : int {
  exit_done = 0,
  exit_no = 1,                  // the answer is "no": a gate, a check or a validation failed
  exit_unusable = 2,            // bad usage, unreadable input, output that cannot be written
  exit_nothing_to_analyse = 3,  // the input is readable but holds nothing to analyse
};

}  // namespace stepscope::app
