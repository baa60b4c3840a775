// Errors are values: which file, which place in it, what was expected, what to do about it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace stepscope {

struct Error {
  // What kind of end this is: it decides the exit code (app/): unusable -> 2, nothing_to_analyse -> 3.
  enum class Kind { unusable, nothing_to_analyse };

  std::string file;                   // path as the user gave it; "" where no file is meant
  std::optional<std::uint64_t> byte;  // offset in the (decompressed) content, where it is known
  std::string problem;                // what was found and what was expected
  std::string remedy;                 // what the user can do; "" where nothing is known to help
  Kind kind = Kind::unusable;

  // One line for people: "file: byte N: problem. remedy"
  std::string message() const;
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace stepscope
