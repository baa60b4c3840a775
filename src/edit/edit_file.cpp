// Edits from a YAML file:
//   edits:
//     - edit: scale
//       name: gemm*
//       by: 0.5
// A parameter's value is a scalar, or a list of alternatives.
#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr std::streamsize largest = 1 << 20;

std::optional<std::string> value_of(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (!node.IsSequence()) return std::nullopt;
  std::string alternatives;
  for (const YAML::Node& entry : node) {
    if (!entry.IsScalar()) return std::nullopt;
    alternatives += (alternatives.empty() ? "" : "|") + entry.Scalar();
  }
  return alternatives;
}

Result<Edit> edit_of(const YAML::Node& node) {
  if (!node.IsMap()) return edit_error("is not a mapping such as {edit: scale, name: gemm*, by: 0.5}");
  Edit edit;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return edit_error("has a key that is no word");
    const std::optional<std::string> value = value_of(entry.second);
    if (!value) return edit_error(fmt::format("'{}' must be one value or a list of alternatives", printable(entry.first.Scalar())));
    if (entry.first.Scalar() == "edit")
      edit.kind = *value;
    else if (!edit.parameters.try_emplace(entry.first.Scalar(), *value).second)
      return edit_error(fmt::format("'{}' is given twice", printable(entry.first.Scalar())));
  }
  if (edit.kind.empty()) return edit_error("does not say `edit: KIND`");
  if (const Result<void> checked = check_edit(edit); !checked) return std::unexpected(checked.error());
  return edit;
}

}  // namespace

Result<std::vector<Edit>> read_edits(const std::string& path) {
  const auto failed = [&](std::string problem, std::string remedy, std::optional<std::uint64_t> byte = std::nullopt) {
    return std::unexpected(Error{.file = path, .byte = byte, .problem = std::move(problem), .remedy = std::move(remedy)});
  };
  constexpr std::string_view remedy = "docs/whatif.md shows such a file";
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return failed("is a directory, not a file of edits", std::string(remedy));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failed("there is no such file, or it cannot be read", "Name a YAML file of edits");
  std::string text(static_cast<std::size_t>(largest) + 1, '\0');
  stream.read(text.data(), largest + 1);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > static_cast<std::size_t>(largest)) return failed("is larger than 1 MiB: no file of edits", std::string(remedy));
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap() || !root["edits"] || !root["edits"].IsSequence()) return failed("does not hold `edits:` with a list of edits", std::string(remedy));
    for (const auto& entry : root)
      if (!entry.first.IsScalar() || entry.first.Scalar() != "edits") return failed("has another key beside `edits`", std::string(remedy));
    std::vector<Edit> edits;
    for (const YAML::Node& node : root["edits"]) {
      Result<Edit> edit = edit_of(node);
      if (!edit) return failed(fmt::format("edit {}: {}", edits.size() + 1, edit.error().problem), edit.error().remedy);
      edits.push_back(*std::move(edit));
    }
    if (edits.empty()) return failed("`edits` is empty: there is nothing to change", std::string(remedy));
    return edits;
  } catch (const YAML::Exception& error) {
    return failed("not YAML: " + printable(error.msg), std::string(remedy),
                  error.mark.is_null() ? std::nullopt : std::optional<std::uint64_t>(static_cast<std::uint64_t>(error.mark.pos)));
  }
}

}  // namespace stepscope
