#include "edit/selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "base/kernel_name.h"
#include "base/text.h"
#include "edit/module_path.h"
#include "edit/near_names.h"
#include "edit/words.h"
#include "facts/collective_call.h"

namespace stepscope {

namespace {

constexpr EditParameter parameters[] = {
    {"name", "glob on the name of a kernel, copy or fill (with class=, of an operation of that class)"},
    {"operator", "glob on a framework operator around it: aten::mm, *LayerNorm*"},
    {"category", "gemm, attention, convolution, normalisation, elementwise, reduction, embedding, optimizer, loss, copy, communication, memory, other"},
    {"module", "glob on a module of the model around it: Linear_3, */Attention_*"},
    {"phase", "forward, backward, optimizer, data, other"},
    {"class", "compute, communication, copy, fill, transfer, launch, synchronisation, api, framework, data_loading, python"},
    {"collective", "function of a collective: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive"},
    {"rank", "number of a rank"},
    {"device", "a device, as the trace names it"},
    {"stream", "number of a stream"},
    {"step", "number of a step"},
};

// "All-Reduce" and "all_reduce" -> "allreduce"; wildcards stay.
std::string canonical(std::string_view name) {
  std::string text;
  for (const char c : lower_case(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '*' || c == '?' || c == '|') text += c;
  return text;
}

constexpr std::size_t most_nested = 10'000;  // operators around one; a damaged call tree ends here

// Of a kernel that no operator is known of: by the words of the kernel libraries, where the table of operators' names has none.
OperatorCategory kernel_category(std::string_view name) {
  if (const OperatorCategory category = operator_category(name); category != OperatorCategory::other) return category;
  static constexpr std::pair<std::string_view, OperatorCategory> words[] = {{"elementwise", OperatorCategory::elementwise},
                                                                            {"reduce_kernel", OperatorCategory::reduction},
                                                                            {"fmha", OperatorCategory::attention},
                                                                            {"flash", OperatorCategory::attention},
                                                                            {"nvjet", OperatorCategory::gemm},
                                                                            {"cutlass", OperatorCategory::gemm},
                                                                            {"Cijk_", OperatorCategory::gemm}};
  for (const auto& [word, category] : words)
    if (name.find(word) != std::string_view::npos) return category;
  return OperatorCategory::other;
}

// One predicate of a selector with what it remembers between operations.
class Selection {
 public:
  Selection(const EditScene& scene, const Graph& graph, const Edit& edit) : scene_(scene), graph_(graph) {
    for (std::size_t i = 0; i < std::size(parameters); ++i)
      if (const auto value = parameter(edit, parameters[i].name))
        globs_[i].emplace(parameters[i].name == "collective" ? canonical(*value) : std::string(*value));
    if (globs_[module]) modules_ = std::make_unique<ModulePaths>(scene.timeline, scene.facts);
  }

  bool class_matches(OpId op) const { return !globs_[op_class] || globs_[op_class]->matches(operation_class_name(graph_.operations.operation_class[op])); }
  bool rest_matches(OpId op) {
    return (!globs_[name] || name_matches(op)) && (!globs_[rank] || rank_matches(op)) && (!globs_[device] || device_matches(op)) &&
           (!globs_[stream] || stream_matches(op)) && (!globs_[collective] || collective_matches(op)) && (!globs_[phase] || phase_matches(op)) &&
           (!globs_[step] || step_matches(op)) && (!globs_[operator_] || operator_matches(op)) && (!globs_[category] || category_matches(op)) &&
           (!globs_[module] || module_matches(op));
  }
  bool gives(std::string_view which) const {
    for (std::size_t i = 0; i < std::size(parameters); ++i)
      if (parameters[i].name == which) return globs_[i].has_value();
    return false;
  }

 private:
  enum Key { name, operator_, category, module, phase, op_class, collective, rank, device, stream, step };

  SliceId origin(OpId op) const { return graph_.operations.origin[op]; }
  // Whether a glob matches a name: asked once per name.
  template <class Test>
  bool once(std::unordered_map<std::uint32_t, bool>& memory, NameId of, Test test) {
    const auto [found, fresh] = memory.try_emplace(static_cast<std::uint32_t>(of), false);
    if (fresh) found->second = test();
    return found->second;
  }

  bool name_matches(OpId op) {
    return once(names_, graph_.operations.name[op], [&] {
      const std::string_view text = graph_.name_of(op);
      const Glob& glob = *globs_[name];
      return glob.matches(text) || glob.matches(short_kernel_name(text)) || glob.matches(readable_kernel_name(text));
    });
  }
  bool collective_matches(OpId op) {
    const CollectiveFunction function = operation_collective(scene_, graph_, op);
    return function != CollectiveFunction::unknown && globs_[collective]->matches(canonical(collective_function_name(function)));
  }
  bool rank_matches(OpId op) {
    const RankId of = graph_.place_of(op).rank;
    return of != no_id<RankId> && index(of) < scene_.timeline.ranks.size() && graph_.place_of(op).kind != PlaceKind::nowhere &&
           globs_[rank]->matches(std::to_string(scene_.timeline.ranks[index(of)].number));
  }
  bool device_matches(OpId op) {
    const DeviceId of = graph_.place_of(op).device;
    return of != no_id<DeviceId> && index(of) < scene_.timeline.devices.size() && globs_[device]->matches(scene_.timeline.devices[index(of)].label);
  }
  bool stream_matches(OpId op) { return graph_.place_of(op).kind == PlaceKind::stream && globs_[stream]->matches(std::to_string(graph_.place_of(op).stream)); }
  bool phase_matches(OpId op) {
    const SliceId slice = origin(op);
    return slice != no_id<SliceId> && globs_[phase]->matches(phase_name(scene_.facts.phase[slice]));
  }
  bool step_matches(OpId op) {
    const std::optional<std::int64_t> number = operation_step(scene_, graph_, op);
    return number && globs_[step]->matches(std::to_string(*number));
  }
  bool operator_matches(OpId op) {
    const SliceId slice = origin(op);
    if (slice == no_id<SliceId>) return false;
    SliceId at = scene_.timeline.slices.kind[slice] == SliceKind::operation ? slice : scene_.facts.operation[slice];
    for (std::size_t level = 0; at != no_id<SliceId> && level < most_nested; at = scene_.facts.operation[at], ++level)
      if (once(operators_, scene_.timeline.slices.name[at], [&] { return globs_[operator_]->matches(scene_.timeline.name_of(at)); })) return true;
    return false;
  }
  bool category_matches(OpId op) { return globs_[category]->matches(operator_category_name(operation_category(scene_, graph_, op))); }
  bool module_matches(OpId op) {
    const SliceId slice = origin(op);
    if (slice == no_id<SliceId>) return false;
    std::string path;
    for (const std::string_view one : modules_->around(slice)) {
      if (globs_[module]->matches(one)) return true;
      path += (path.empty() ? "" : "/") + std::string(one);
      if (globs_[module]->matches(path)) return true;
    }
    return false;
  }

  const EditScene& scene_;
  const Graph& graph_;
  std::array<std::optional<Glob>, std::size(parameters)> globs_;
  std::unordered_map<std::uint32_t, bool> names_, operators_;
  std::unique_ptr<ModulePaths> modules_;
};

bool in_domain(OperationClass c, std::span<const OperationClass> classes) {
  if (classes.empty()) return runs_on_device(c) || c == OperationClass::transfer;
  return std::ranges::find(classes, c) != classes.end();
}

Result<void> check_words(const Edit& edit, std::string_view key, std::span<const std::string_view> words) {
  const auto value = parameter(edit, key);
  if (!value) return {};
  const Glob glob(*value);
  std::string known;
  for (const std::string_view word : words) {
    if (glob.matches(word)) return {};
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return edit_error(fmt::format("{}={} is none of those there are", key, *value), "known: " + known);
}

// As they are written in a selector: "all_reduce", "send_receive".
Result<void> check_collective(const Edit& edit) {
  const auto value = parameter(edit, "collective");
  if (!value) return {};
  const Glob glob(canonical(*value));
  std::string known;
  for (std::size_t i = 0; i < static_cast<std::size_t>(CollectiveFunction::unknown); ++i) {
    const auto function = static_cast<CollectiveFunction>(i);
    if (glob.matches(canonical(collective_function_name(function)))) return {};
    known += (known.empty() ? "" : ", ") + collective_word(function);
  }
  return edit_error(fmt::format("collective={} is none of those there are", *value), "known: " + known);
}

}  // namespace

std::span<const EditParameter> selector_parameters() {
  return parameters;
}

Result<void> check_selector(const Edit& edit) {
  std::vector<std::string_view> classes, categories, phases;
  for (std::size_t i = 0; i + 1 < operation_class_count; ++i) classes.push_back(operation_class_name(static_cast<OperationClass>(i)));
  for (std::size_t i = 0; i < operator_category_count; ++i) categories.push_back(operator_category_name(static_cast<OperatorCategory>(i)));
  for (std::size_t i = 0; i < phase_count; ++i) phases.push_back(phase_name(static_cast<Phase>(i)));
  if (const auto checked = check_words(edit, "class", classes); !checked) return checked;
  if (const auto checked = check_words(edit, "category", categories); !checked) return checked;
  if (const auto checked = check_collective(edit); !checked) return checked;
  return check_words(edit, "phase", phases);
}

std::string collective_word(CollectiveFunction function) {
  std::string word = lower_case(collective_function_name(function));
  std::ranges::replace_if(word, [](char c) { return c == '-' || c == '/' || c == ' '; }, '_');
  return word;
}

CollectiveFunction operation_collective(const EditScene& scene, const Graph& graph, OpId op) {
  const OperationClass c = graph.operations.operation_class[op];
  if (c != OperationClass::communication && c != OperationClass::transfer) return CollectiveFunction::unknown;
  const SliceId slice = graph.operations.origin[op];
  return slice == no_id<SliceId> ? collective_function_of_kernel(graph.name_of(op)) : collective_call(scene.timeline, scene.facts, slice).function;
}

std::optional<std::int64_t> operation_step(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  if (slice == no_id<SliceId>) return std::nullopt;
  const Nanoseconds at = scene.timeline.slices.start[slice];
  const Place& place = graph.place_of(op);
  if (place.kind == PlaceKind::stream) {
    for (const DeviceFacts& one : scene.facts.devices) {
      if (one.device != place.device) continue;
      const auto after = std::ranges::upper_bound(one.windows, at, {}, [](const StepWindow& w) { return w.window.begin; });
      if (after == one.windows.begin() || !std::prev(after)->window.contains(at)) return std::nullopt;
      return std::prev(after)->number;
    }
    return std::nullopt;
  }
  if (index(place.rank) >= scene.facts.steps.size()) return std::nullopt;
  const std::vector<Step>& steps = scene.facts.steps[index(place.rank)].steps;
  const auto after = std::ranges::upper_bound(steps, at, {}, [](const Step& one) { return one.annotation.begin; });
  if (after == steps.begin() || at >= std::prev(after)->annotation.begin + std::prev(after)->step_time) return std::nullopt;
  return std::prev(after)->number;
}

OperatorCategory operation_category(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  const OperatorCategory own = kernel_category(graph.name_of(op));
  if (slice == no_id<SliceId>) return own;
  if (graph.operations.operation_class[op] == OperationClass::communication) return OperatorCategory::communication;
  SliceId at = scene.timeline.slices.kind[slice] == SliceKind::operation ? slice : scene.facts.operation[slice];
  bool innermost = true;
  for (std::size_t level = 0; at != no_id<SliceId> && level < most_nested; at = scene.facts.operation[at], ++level) {
    if (const OperatorCategory category = operator_category(scene.timeline.name_of(at)); category != OperatorCategory::other) return category;
    if (innermost && own != OperatorCategory::other) return own;
    innermost = false;
  }
  return own;
}

Result<std::vector<OpId>> select_operations(const EditScene& scene, const Graph& graph, const Edit& edit, std::span<const OperationClass> classes) {
  if (const Result<void> checked = check_selector(edit); !checked) return std::unexpected(checked.error());
  Selection selection(scene, graph, edit);
  const bool by_class = selection.gives("class");
  std::vector<OpId> chosen;
  const OperationColumns& o = graph.operations;
  std::vector<bool> is_chosen_member(graph.size(), false);
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    const OperationClass c = o.operation_class[op];
    const bool looked_at = by_class ? selection.class_matches(op) : in_domain(c, classes);
    // A member is asked even where only transfers are meant.
    if (!looked_at && c != OperationClass::communication) continue;
    bool matches = selection.rest_matches(op);
    if (!matches && c == OperationClass::transfer)
      for (std::uint32_t i = graph.first_dependency(op); i < graph.end_dependency(op) && !matches; ++i)
        matches = graph.dependencies.kind[i] == DependencyKind::collective && is_chosen_member[index(graph.dependencies.moment[i].operation())];
    if (!matches) continue;
    is_chosen_member[row] = true;
    if (looked_at) chosen.push_back(op);
  }
  if (!chosen.empty()) return chosen;
  return edit_error("no operation matches", what_there_is(scene, graph, edit, classes));
}

}  // namespace stepscope
