#include "base/error.h"

namespace stepscope {

std::string Error::message() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (byte) text += "byte " + std::to_string(*byte) + ": ";
  text += problem;
  if (!remedy.empty()) text += "\n  " + remedy;
  return text;
}

}  // namespace stepscope
