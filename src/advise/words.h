// Words and small parts that findings are made of.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/rule.h"

namespace stepscope {

// An edit of exactly these operations.
Edit edit_of(std::string kind, std::vector<OpId> operations, std::map<std::string, std::string, std::less<>> parameters = {});

bool has_text(std::string_view text, std::string_view part);
bool has_any_text(std::string_view text, std::initializer_list<std::string_view> parts);

std::string percent(double share);                                                       // "12.3 %"
std::string times_text(std::size_t count, std::string_view one, std::string_view many);  // "1 call", "12 calls"

inline Change code(std::string_view framework, std::string text) {
  return {framework, Change::Form::code, std::move(text)};
}
inline Change flag(std::string_view framework, std::string text) {
  return {framework, Change::Form::flag, std::move(text)};
}
inline Change environment(std::string_view framework, std::string text) {
  return {framework, Change::Form::environment, std::move(text)};
}

}  // namespace stepscope
