#include "edit/edit.h"

#include <fmt/core.h>

#include <algorithm>

#include "edit/selector.h"
#include "edit/words.h"

namespace stepscope {

namespace {

const EditKind* find_kind(std::string_view name) {
  for (const EditKind* kind : all_edit_kinds())
    if (kind->name == name) return kind;
  return nullptr;
}

std::string known_kinds() {
  std::string names;
  for (const EditKind* kind : all_edit_kinds()) names += (names.empty() ? "" : ", ") + std::string(kind->name);
  return names;
}

std::string known_parameters(const EditKind& kind) {
  std::string names;
  for (const EditParameter& one : kind.parameters) names += fmt::format("{}{}=", names.empty() ? "" : ", ", one.name);
  if (kind.selects)
    for (const EditParameter& one : selector_parameters()) names += fmt::format("{}{}=", names.empty() ? "" : ", ", one.name);
  return names;
}

bool has_selector(const Edit& edit) {
  return std::ranges::any_of(selector_parameters(), [&](const EditParameter& one) { return edit.parameters.contains(one.name); });
}

Result<std::vector<OpId>> chosen(const EditScene& scene, const EditKind& kind, const Edit& edit, const Graph& graph) {
  if (!kind.selects) return std::vector<OpId>{};
  if (!edit.operations) return select_operations(scene, graph, edit, kind.classes);
  std::vector<OpId> operations = *edit.operations;
  std::ranges::sort(operations);
  const auto repeated = std::ranges::unique(operations);
  operations.erase(repeated.begin(), repeated.end());
  if (!operations.empty() && (index(operations.front()) == 0 || index(operations.back()) >= graph.size()))
    return edit_error("an operation is named that the graph does not have");
  return operations;
}

}  // namespace

Result<void> check_edit(const Edit& edit) {
  const EditKind* kind = find_kind(edit.kind);
  if (kind == nullptr) {
    return edit_error(fmt::format("there is no edit '{}'", edit.kind), "known: " + known_kinds());
  }
  for (const auto& [name, value] : edit.parameters) {
    const bool own = std::ranges::any_of(kind->parameters, [&](const EditParameter& one) { return one.name == name; });
    const bool selects = kind->selects && std::ranges::any_of(selector_parameters(), [&](const EditParameter& one) { return one.name == name; });
    if (!own && !selects) {
      const std::string known = known_parameters(*kind);
      return edit_error(fmt::format("the edit {} does not know {}=", edit.kind, name), known.empty() ? "it takes no parameters" : "it knows " + known);
    }
    if (value.empty()) return edit_error(fmt::format("{}= of the edit {} has no value", name, edit.kind), fmt::format("for example: {}", kind->example));
  }
  for (const EditParameter& one : kind->parameters)
    if (one.required && !edit.parameters.contains(one.name))
      return edit_error(fmt::format("the edit {} needs {}= ({})", edit.kind, one.name, one.help), fmt::format("for example: {}", kind->example));
  if (kind->selects && kind->classes.empty() && !edit.operations && !has_selector(edit))
    return edit_error(fmt::format("the edit {} does not say which operations", edit.kind), fmt::format("for example: {}", kind->example));
  return kind->selects ? check_selector(edit) : Result<void>{};
}

Result<std::vector<EditEffect>> apply_edits(const EditScene& scene, std::span<const Edit> edits, Graph& graph) {
  std::vector<EditEffect> effects;
  for (const Edit& edit : edits) {
    const auto failed = [&](Error error) {
      error.problem = fmt::format("edit '{}': {}", edit_text(edit), error.problem);
      return std::unexpected(std::move(error));
    };
    if (const Result<void> checked = check_edit(edit); !checked) return failed(checked.error());
    const EditKind& kind = *find_kind(edit.kind);
    const Result<std::vector<OpId>> operations = chosen(scene, kind, edit, graph);
    if (!operations) return failed(operations.error());
    Result<EditEffect> effect = kind.apply(scene, edit, *operations, graph);
    if (!effect) return failed(effect.error());
    effects.push_back(*std::move(effect));
  }
  return effects;
}

}  // namespace stepscope
