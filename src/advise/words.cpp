#include "advise/words.h"

#include <fmt/core.h>

#include <algorithm>

namespace stepscope {

Edit edit_of(std::string kind, std::vector<OpId> operations, std::map<std::string, std::string, std::less<>> parameters) {
  return {.kind = std::move(kind), .parameters = std::move(parameters), .operations = std::move(operations)};
}

bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool has_any_text(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has_text(text, part); });
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string times_text(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace stepscope
