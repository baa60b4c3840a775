#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/program.h"

int main(int count, char** words) {
  using namespace stepscope::app;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is noticed by write()
  Console console;
  try {
    return run_program(std::vector<std::string>(words + 1, words + count), console);
  } catch (const std::bad_alloc&) {
    console.say("stepscope: out of memory.\n  Give it fewer files at a time, or run it on a machine with more memory.");
  } catch (const std::exception& error) {
    console.say(std::string("stepscope: ") + error.what());
  }
  return exit_unusable;
}
