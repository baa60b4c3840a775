#include "verbs/patterns.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "facts/kernel_pattern.h"

namespace stepscope {

namespace {

constexpr const char* what_is_expected = "Each entry has `name` (a regular expression), `class` (compute, communication or memory) and, if wanted, `category`";
constexpr std::size_t longest_expression = 1'000;  // std::regex recurses in its length
constexpr std::size_t most_patterns = 1'000;
constexpr std::size_t largest_file = 1u << 20;

std::unexpected<Error> refused(const std::string& file, std::string problem) {
  return std::unexpected(Error{file, std::nullopt, std::move(problem), what_is_expected, Error::Kind::unusable});
}

std::string place(const YAML::Node& node) {
  return node.Mark().is_null() ? std::string() : fmt::format("line {}: ", node.Mark().line + 1);
}

std::optional<ActivityClass> class_of(const std::string& text) {
  if (text == "compute") return ActivityClass::compute;
  if (text == "communication") return ActivityClass::communication;
  if (text == "memory") return ActivityClass::memory;
  return std::nullopt;
}

Result<KernelPattern> parse_entry(const YAML::Node& entry, const std::string& file) {
  if (!entry.IsMap()) return refused(file, place(entry) + "a pattern was expected to be a map");
  KernelPattern pattern;
  bool has_class = false;
  for (const auto& member : entry) {
    const auto key = member.first.as<std::string>();
    if (!member.second.IsScalar()) return refused(file, place(member.second) + "\"" + key + "\" was expected to be text");
    const auto text = member.second.as<std::string>();
    if (key == "name") {
      pattern.expression = text;
    } else if (key == "class") {
      const auto known = class_of(text);
      if (!known) return refused(file, place(member.second) + "no class is called \"" + text + "\"");
      pattern.activity = *known;
      has_class = true;
    } else if (key == "category") {
      pattern.category = text;
    } else {
      return refused(file, place(member.first) + "no key is called \"" + key + "\"");
    }
  }
  if (pattern.expression.empty()) return refused(file, place(entry) + "the pattern has no `name`");
  if (!has_class) return refused(file, place(entry) + "the pattern has no `class`");
  if (pattern.expression.size() > longest_expression) return refused(file, place(entry) + "the expression is longer than 1000 characters");
  if (const auto compiled = KernelExpression::compile(pattern.expression); !compiled)
    return refused(file, fmt::format("{}\"{}\" is no regular expression: {}", place(entry), pattern.expression, compiled.error()));
  return pattern;
}

}  // namespace

Result<std::vector<KernelPattern>> parse_patterns(std::string_view yaml, const std::string& file) {
  try {
    YAML::Node root = YAML::Load(std::string(yaml));
    if (root.IsMap() && root["patterns"]) root.reset(root["patterns"]);
    if (!root.IsSequence()) return refused(file, "a list of patterns was expected");
    if (root.size() > most_patterns) return refused(file, "there are more than 1000 patterns");
    std::vector<KernelPattern> patterns;
    for (const YAML::Node& entry : root) {
      Result<KernelPattern> pattern = parse_entry(entry, file);
      if (!pattern) return std::unexpected(pattern.error());
      patterns.push_back(std::move(*pattern));
    }
    return patterns;
  } catch (const YAML::Exception& error) {
    return refused(file, fmt::format("line {}: {}", error.mark.line + 1, error.msg));
  }
}

Result<std::vector<KernelPattern>> read_patterns(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return refused(file, "cannot be read");
  std::string text(largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return refused(file, "cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > largest_file) return refused(file, "is larger than 1 MiB");
  return parse_patterns(text, file);
}

}  // namespace stepscope
