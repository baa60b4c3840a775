// How the regular expressions of a user's kernel patterns are read: the same where they are checked and where they are searched.
#pragma once

#include <regex>

namespace stepscope {

// libstdc++ searches by backtracking unless told otherwise, which takes for ever on expressions such as "(a+)+$". In polynomial time back references cannot be
// had: they are refused when the expression is compiled.
#ifdef __GLIBCXX__
inline constexpr std::regex::flag_type kernel_pattern_syntax = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
inline constexpr std::regex::flag_type kernel_pattern_syntax = std::regex_constants::ECMAScript;
#endif

}  // namespace stepscope
