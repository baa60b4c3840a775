#include "app/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace stepscope::app {

namespace {

constexpr int page_columns = 100, least_columns = 40;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// POSIX: the first of these that is set decides. None set says nothing about the terminal, and nearly every terminal of today shows UTF-8.
bool locale_is_not_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(variable)) continue;
    const std::string_view locale = std::getenv(variable);
    for (const std::string_view spelling : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (locale.find(spelling) != std::string_view::npos) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

Console::Console()
    : output_is_terminal_(isatty(STDOUT_FILENO) != 0), error_is_terminal_(isatty(STDERR_FILENO) != 0), ascii_(locale_is_not_utf8()), columns_(page_columns) {
  winsize size{};
  if (output_is_terminal_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    columns_ = std::clamp(static_cast<int>(size.ws_col), least_columns, page_columns);
  }
}

bool Console::colour(ColourWish wish) const {
  if (wish != ColourWish::automatic) return wish == ColourWish::always;
  const char* terminal = std::getenv("TERM");
  return output_is_terminal_ && !is_set("NO_COLOR") && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

Result<void> Console::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) return {};
      return std::unexpected(Error{.file = "standard output", .byte = {}, .problem = std::strerror(errno), .remedy = "Write to a file with -o FILE."});
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void Console::say(std::string_view message) const {
  std::string line(message);
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody is left to tell
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace stepscope::app
