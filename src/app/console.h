// The terminal that the program talks to: standard output for answers, standard error for everything else.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace stepscope::app {

enum class ColourWish { automatic, always, never };

class Console {
 public:
  Console();

  bool output_is_terminal() const { return output_is_terminal_; }
  bool error_is_terminal() const { return error_is_terminal_; }
  // Of the terminal on standard output, at most 100 and at least 40; 100 where it is none.
  int columns() const { return columns_; }
  // Automatic: on a terminal that can, unless NO_COLOR is set (no-color.org).
  bool colour(ColourWish wish) const;
  // Whether the user's locale names another encoding than UTF-8.
  bool ascii() const { return ascii_; }

  // A reader that went away (head, a closed pager) is no error; a full disk is.
  Result<void> write(std::string_view text) const;
  // One message on standard error, ended by a line break.
  void say(std::string_view message) const;

 private:
  bool output_is_terminal_, error_is_terminal_, ascii_;
  int columns_;
};

}  // namespace stepscope::app
