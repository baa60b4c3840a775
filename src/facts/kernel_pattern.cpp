#include "facts/kernel_pattern.h"

#include <regex>

namespace stepscope {

namespace {

// libstdc++ searches by backtracking unless told otherwise, which takes for ever on expressions such as "(a+)+$".
#ifdef __GLIBCXX__
constexpr std::regex::flag_type syntax = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr std::regex::flag_type syntax = std::regex_constants::ECMAScript;
#endif

// std::regex recurses per character: names are searched as far as this, so that no name can exhaust the stack.
constexpr std::size_t searched_characters = 1024;

}  // namespace

struct KernelExpression::Compiled {
  std::regex expression;
};

KernelExpression::KernelExpression(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
KernelExpression::KernelExpression(KernelExpression&&) noexcept = default;
KernelExpression& KernelExpression::operator=(KernelExpression&&) noexcept = default;
KernelExpression::~KernelExpression() = default;

std::expected<KernelExpression, std::string> KernelExpression::compile(const std::string& expression) {
  try {
    return KernelExpression(std::make_unique<const Compiled>(Compiled{std::regex(expression, syntax)}));
  } catch (const std::regex_error& error) {
    return std::unexpected(std::string(error.what()));
  }
}

bool KernelExpression::found_in(std::string_view name) const {
  const std::string_view head = name.substr(0, searched_characters);
  try {
    return std::regex_search(head.begin(), head.end(), compiled_->expression);
  } catch (const std::regex_error&) {  // the expression's own complexity
    return false;
  }
}

}  // namespace stepscope
