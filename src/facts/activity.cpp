#include "facts/activity.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "facts/derive.h"
#include "facts/kernel_pattern.h"

namespace stepscope {

namespace {

// Names of kernels that communicate, in lower case. "_?" = an optional underscore, "*" = any run of letters, digits and underscores. Patterns with `at_start`
// match at the name's beginning only (after "void "), so that `nccl` in a template argument of another kernel does not count; the others match anywhere.
struct CommunicationPattern {
  std::string_view text;
  bool at_start;
};
constexpr CommunicationPattern communication_patterns[] = {
    // Collective libraries: NCCL, RCCL, HCCL, NVSHMEM, MSCCL
    {"ncclkernel", true},
    {"nccldevkernel", true},
    {"ncclsymk", true},
    {"nccl*kernel", true},
    {"rccl", true},
    {"hccl", true},
    {"nvshmem", true},
    {"msccl"
     "kernel",
     true},
    // Custom all-reduce of vLLM, SGLang and TensorRT-LLM; symmetric memory in PyTorch
    {"cross_device_reduce", false},
    {"multimem_all_reduce", false},
    {"multimem_all_gather", false},
    {"all_?reduce_?fusion", false},
    {"all_?reduce_?one_shot", false},
    {"all_?reduce_?two_shot", false},
    {"one_?shot_?all_?reduce", false},
    {"two_?shot_?all_?reduce", false},
    // Expert parallelism: DeepEP
    {"deep_ep::", false},
    {"internode::dispatch", false},
    {"internode::combine", false},
    {"internode::notify", false},
    {"internode::cached_notify", false},
    {"intranode::dispatch", false},
    {"intranode::combine", false},
    {"intranode::notify", false},
    {"intranode::cached_notify", false},
    // Whatever names the collective itself
    {"all_to_all", false},
    {"reduce_scatter", false},
    {"all_gather_kernel", false},
};
// Generated compute kernels carry the names of the operators they fuse: "triton_poi_fused_all_to_all_…".
constexpr std::string_view generated_compute = "triton_";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool matches_here(std::string_view pattern, std::string_view text) {
  while (!pattern.empty()) {
    if (pattern.starts_with("_?")) {
      pattern.remove_prefix(2);
      if (text.starts_with('_') && matches_here(pattern, text.substr(1))) return true;
      continue;
    }
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      const std::size_t run = static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin());
      return text.substr(0, run + pattern.size()).find(pattern) <= run;  // what follows "*" is plain text
    }
    if (text.empty() || text.front() != pattern.front()) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  return true;
}

bool matches(const CommunicationPattern& pattern, std::string_view name) {
  if (pattern.at_start) return matches_here(pattern.text, name.starts_with("void ") ? name.substr(5) : name);
  for (std::size_t at = name.find(pattern.text.front()); at != std::string_view::npos; at = name.find(pattern.text.front(), at + 1))
    if (matches_here(pattern.text, name.substr(at))) return true;
  return false;
}

// The users' expressions, compiled; absent where one is malformed (verbs/ refuses those with a message before it comes to this).
std::vector<std::optional<KernelExpression>> compile_all(const std::vector<KernelPattern>& patterns) {
  std::vector<std::optional<KernelExpression>> expressions;
  for (const KernelPattern& pattern : patterns) {
    auto compiled = KernelExpression::compile(pattern.expression);
    expressions.push_back(compiled ? std::optional(std::move(*compiled)) : std::nullopt);
  }
  return expressions;
}

}  // namespace

bool is_communication_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (lower.starts_with(generated_compute)) return false;
  return std::ranges::any_of(communication_patterns, [&](const CommunicationPattern& pattern) { return matches(pattern, lower); });
}

ActivityClass activity_class(SliceKind kind, std::string_view name) {
  if (!is_device_activity(kind)) return ActivityClass::none;
  if (is_communication_name(name)) return ActivityClass::communication;
  return kind == SliceKind::kernel ? ActivityClass::compute : ActivityClass::memory;
}

std::string_view activity_class_name(ActivityClass activity) {
  static constexpr std::string_view names[] = {"compute", "communication", "memory", "none"};
  return names[static_cast<std::size_t>(activity)];
}

void find_activity(const Timeline& timeline, const FactOptions& options, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  facts.patterns = options.patterns;
  const std::vector<std::optional<KernelExpression>> expressions = compile_all(options.patterns);
  if (!expressions.empty()) facts.pattern.resize(timeline.names.size(), 0);

  // A name is classified once. The same name may belong to a kernel and to a copy, so what is remembered is whether it communicates and the user's word.
  enum : std::uint8_t { unseen = 0, plain, communicates };
  Column<std::uint8_t> by_name;
  by_name.resize(timeline.names.size(), unseen);
  const auto classify = [&](NameId name, std::string_view text) {
    by_name[name] = is_communication_name(text) ? communicates : plain;
    for (std::size_t row = 0; row < expressions.size(); ++row) {
      if (!expressions[row] || !expressions[row]->found_in(text)) continue;
      facts.pattern[name] = static_cast<std::uint16_t>(row + 1);
      break;
    }
  };
  ActivityClass* activity = facts.activity.append_uninitialised(s.size());
  for (std::size_t row = 0; row < s.size(); ++row) {
    activity[row] = ActivityClass::none;
    if (!is_device_activity(s.kind[row])) continue;
    const NameId name = s.name[row];
    if (by_name[name] == unseen) classify(name, timeline.names[name]);
    if (!expressions.empty() && facts.pattern[name] != 0)
      activity[row] = facts.patterns[facts.pattern[name] - 1u].activity;
    else if (by_name[name] == communicates)
      activity[row] = ActivityClass::communication;
    else
      activity[row] = s.kind[row] == SliceKind::kernel ? ActivityClass::compute : ActivityClass::memory;
  }
}

}  // namespace stepscope
