// Runs the built program as a user does, and says what came of it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepscope {

struct Outcome {
  int code = -1;       // exit code; 128 + signal where it was killed
  std::string output;  // standard output
  std::string error;   // standard error; of a run on a terminal both are in output
};

struct Setting {
  std::string input{};                                             // for standard input
  std::vector<std::pair<std::string, std::string>> environment{};  // set before the run; an empty value unsets
  std::string folder{};                                            // working directory; "" = the test's own
  bool closed_output = false;                                      // nobody reads standard output
  bool terminal = false;                                           // standard output and error are a terminal of 100 columns
  std::string output_file{};                                       // standard output goes there
};

namespace run_detail {

inline void become_program(const std::vector<std::string>& words, const Setting& setting) {
  for (const auto& [name, value] : setting.environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (!setting.folder.empty() && ::chdir(setting.folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> arguments;
  const std::string program = STEPSCOPE_BINARY_DIR "/src/stepscope";
  arguments.push_back(const_cast<char*>(program.c_str()));
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

inline int exit_code(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline Outcome run_on_terminal(const std::vector<std::string>& words, const Setting& setting) {
  Outcome run;
  int terminal = -1;
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 50;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) become_program(words, setting);
  std::array<char, 65536> buffer;
  for (ssize_t got; (got = ::read(terminal, buffer.data(), buffer.size())) > 0;) run.output.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(terminal);
  run.code = exit_code(child);
  return run;
}

}  // namespace run_detail

inline Outcome run_program(const std::vector<std::string>& words, const Setting& setting = {}) {
  using namespace run_detail;
  if (setting.terminal) return run_on_terminal(words, setting);
  int input[2], output[2], error[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(error, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    int out = output[1];
    if (!setting.output_file.empty()) out = ::open(setting.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(input[0], 0);
    ::dup2(out, 1);
    ::dup2(error[1], 2);
    if (setting.closed_output) ::close(output[0]);
    become_program(words, setting);
  }
  ::close(input[0]);
  ::close(output[1]);
  ::close(error[1]);
  if (setting.closed_output) ::close(output[0]);
  Outcome run;
  // The inputs of these tests fit into a pipe's buffer.
  if (!setting.input.empty() && ::write(input[1], setting.input.data(), setting.input.size()) < 0) run.error = "the input could not be written";
  ::close(input[1]);
  std::array<pollfd, 2> sources = {pollfd{setting.closed_output ? -1 : output[0], POLLIN, 0}, pollfd{error[0], POLLIN, 0}};
  std::array<char, 65536> buffer;
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    if (::poll(sources.data(), sources.size(), -1) < 0) break;
    for (pollfd& source : sources) {
      if (source.fd < 0 || source.revents == 0) continue;
      const ssize_t got = ::read(source.fd, buffer.data(), buffer.size());
      if (got > 0) {
        (&source == &sources[0] ? run.output : run.error).append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        ::close(source.fd);
        source.fd = -1;
      }
    }
  }
  run.code = exit_code(child);
  return run;
}

}  // namespace stepscope
