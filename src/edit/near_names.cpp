#include "edit/near_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/kernel_name.h"
#include "base/text.h"
#include "edit/module_path.h"
#include "edit/selector.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr std::size_t shown = 4;
constexpr int columns = 60;

using Times = std::map<std::string, Nanoseconds>;

// The names that share the longest beginning of the pattern's plain letters, those of most time first; else those of most time.
std::string nearest_of(const Times& names, std::string_view pattern) {
  std::vector<std::pair<Nanoseconds, std::string>> found;
  const Glob glob(pattern);
  std::string_view part = glob.longest_literal();
  for (; part.size() >= 3 && found.empty(); part.remove_suffix(1))
    for (const auto& [name, time] : names)
      if (lower_case(name).find(part) != std::string::npos) found.emplace_back(time, name);
  const bool near = !found.empty();
  if (!near)
    for (const auto& [name, time] : names) found.emplace_back(time, name);
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, found.size()); ++i) text += (i == 0 ? "" : ", ") + shorten_middle(printable(found[i].second), columns);
  if (text.empty()) return {};
  if (found.size() > shown) text += fmt::format(" and {} more", found.size() - shown);
  return (near ? "near names: " : "there are: ") + text;
}

bool in_domain(OperationClass c, std::span<const OperationClass> classes) {
  return classes.empty() ? runs_on_device(c) || c == OperationClass::transfer : std::ranges::find(classes, c) != classes.end();
}

// By the module, which has many names for one operation: its own and those around it.
std::string modules_near(const EditScene& scene, const Graph& graph, const Edit& edit, std::span<const OpId> looked_at) {
  const auto glob = parameter(edit, "module");
  if (!glob) return {};
  ModulePaths modules(scene.timeline, scene.facts);
  const Glob wanted(*glob);
  Times names;
  for (const OpId op : looked_at) {
    if (graph.operations.origin[op] == no_id<SliceId>) continue;
    std::string path;
    for (const std::string_view one : modules.around(graph.operations.origin[op])) {
      if (!path.empty()) path += '/';
      path += one;
      if (wanted.matches(one) || wanted.matches(path)) return {};
      names[std::string(one)] += graph.operations.duration[op];
    }
  }
  if (names.empty()) return "the trace tells of no module behind them: record with with_stack=True";
  return nearest_of(names, *glob);
}

}  // namespace

std::string what_there_is(const EditScene& scene, const Graph& graph, const Edit& edit, std::span<const OperationClass> classes) {
  const auto class_glob = parameter(edit, "class");
  const OperationColumns& o = graph.operations;
  std::vector<OpId> looked_at;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OperationClass c = o.operation_class[OpId{row}];
    if (class_glob ? Glob(*class_glob).matches(operation_class_name(c)) : in_domain(c, classes)) looked_at.push_back(OpId{row});
  }
  const auto gather = [&](auto value) {
    Times names;
    for (const OpId op : looked_at)
      if (const std::string name = value(op); !name.empty()) names[name] += o.duration[op];
    return names;
  };
  if (looked_at.empty()) {
    const Times present = [&] {
      Times names;
      for (std::uint32_t row = 1; row < graph.size(); ++row) names[std::string(operation_class_name(o.operation_class[OpId{row}]))] += o.duration[OpId{row}];
      return names;
    }();
    return nearest_of(present, class_glob.value_or("")) + (present.empty() ? "the graph is empty" : " (classes)");
  }
  if (const auto glob = parameter(edit, "name")) {
    const Times names = gather([&](OpId op) { return readable_kernel_name(graph.name_of(op)); });
    const Glob wanted(*glob);
    const bool any = std::ranges::any_of(looked_at, [&](OpId op) {
      const std::string_view name = graph.name_of(op);
      return wanted.matches(name) || wanted.matches(short_kernel_name(name)) || wanted.matches(readable_kernel_name(name));
    });
    if (!any) return nearest_of(names, *glob);
  }
  if (const auto glob = parameter(edit, "operator")) {
    const Glob wanted(*glob);
    bool any = false;
    const Times names = gather([&](OpId op) {
      const SliceId slice = o.origin[op];
      const SliceId around = slice == no_id<SliceId> ? slice : scene.facts.operation[slice];
      std::string name = around == no_id<SliceId> ? std::string() : std::string(scene.timeline.name_of(around));
      any |= !name.empty() && wanted.matches(name);
      return name;
    });
    if (!any) return names.empty() ? "the trace tells of no operator behind them" : nearest_of(names, *glob);
  }
  const auto closed = [&](std::string_view key, auto value) -> std::string {
    const auto glob = parameter(edit, key);
    if (!glob) return {};
    const Times names = gather(value);
    const Glob wanted(*glob);
    if (std::ranges::any_of(names, [&](const auto& one) { return wanted.matches(one.first); })) return {};
    return names.empty() ? fmt::format("none of them has a {}", key) : fmt::format("{} ({}=)", nearest_of(names, ""), key);
  };
  std::string text = closed("stream", [&](OpId op) { return graph.place_of(op).kind == PlaceKind::stream ? std::to_string(graph.place_of(op).stream) : ""; });
  if (text.empty())
    text = closed("phase", [&](OpId op) { return o.origin[op] == no_id<SliceId> ? std::string() : std::string(phase_name(scene.facts.phase[o.origin[op]])); });
  if (text.empty()) text = closed("category", [&](OpId op) { return std::string(operator_category_name(operation_category(scene, graph, op))); });
  if (text.empty()) {
    text = closed("rank", [&](OpId op) {
      const std::size_t rank = index(graph.place_of(op).rank);
      return rank < scene.timeline.ranks.size() ? std::to_string(scene.timeline.ranks[rank].number) : std::string();
    });
  }
  if (text.empty()) {
    text = closed("device", [&](OpId op) {
      const std::size_t device = index(graph.place_of(op).device);
      return device < scene.timeline.devices.size() ? scene.timeline.devices[device].label : std::string();
    });
  }
  if (text.empty()) {
    text = closed("step", [&](OpId op) {
      const auto number = operation_step(scene, graph, op);
      return number ? std::to_string(*number) : std::string();
    });
  }
  if (text.empty()) {
    text = closed("collective", [&](OpId op) {
      const CollectiveFunction function = operation_collective(scene, graph, op);
      return function == CollectiveFunction::unknown ? std::string() : collective_word(function);
    });
  }
  if (text.empty()) text = modules_near(scene, graph, edit, looked_at);
  return text.empty() ? "no single word is to blame: each matches something, but not all at once" : text;
}

}  // namespace stepscope
