// Time by module of the model: nn.Module calls among the Python frames ("nn.Module: Linear_3"), else the operators' recorded Module Hierarchy.
//
// Device time goes to the innermost module around the launch. Backward work runs outside of the modules' Python frames; it goes to the module of the forward
// operator with the same autograd sequence number. A module called again by activation checkpointing is the module it was in forward. Device time that
// belongs to no module is a row of its own, so that own times sum to the device total.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "analyze/call_stack.h"
#include "analyze/forward_operators.h"
#include "analyze/question.h"
#include "analyze/rank_rows.h"
#include "analyze/value.h"
#include "facts/recorded_argument.h"

namespace stepscope {

namespace {

constexpr std::uint32_t outside = 0;  // node 0: whatever belongs to no module
constexpr double kept_share = 0.0001;

struct Node {
  std::uint32_t parent = outside;
  std::uint32_t depth = 0;
  std::string_view name;  // "Linear_3"
  std::int64_t calls = 0, slices = 0;
  Nanoseconds cpu_own = 0, cpu_total = 0, device_own = 0, device_total = 0, own_backward = 0, device_backward = 0;
};

struct Modules {
  std::vector<Node> nodes{Node{}};
  std::unordered_map<std::uint64_t, std::uint32_t> children;         // (parent, name) -> node
  std::unordered_map<std::uint64_t, std::uint32_t> first_with_name;  // name -> node

  std::uint32_t child(std::uint32_t parent, std::uint32_t name_key, std::string_view name) {
    if (parent == outside)
      if (const auto known = first_with_name.find(name_key); known != first_with_name.end()) return known->second;
    const auto [at, fresh] = children.try_emplace(std::uint64_t{parent} << 32 | name_key, static_cast<std::uint32_t>(nodes.size()));
    if (fresh) {
      nodes.push_back({.parent = parent, .depth = parent == outside ? 0 : nodes[parent].depth + 1, .name = name});
      first_with_name.try_emplace(name_key, at->second);
    }
    return at->second;
  }
  std::string path(std::uint32_t node) const {
    std::string text(nodes[node].name);
    for (std::uint32_t up = nodes[node].parent; up != outside; up = nodes[up].parent) text.insert(0, std::string(nodes[up].name) + "/");
    return text;
  }
};

constexpr std::string_view frame_prefix = "nn.Module: ";

// Which slices of the rank are module calls: Python frames, else (old traces of scripted modules) operators that carry a Module Hierarchy.
enum class Records { none, python_frames, hierarchies };

class ModuleTimes {
 public:
  explicit ModuleTimes(const Scene& scene) : scene_(scene), timeline_(scene.timeline), innermost_(scene, outside) {}

  bool find_calls() {
    RankColumn<std::uint8_t> is_frame(scene_);
    records_ = Records::none;
    for (const PythonFact& fact : timeline_.python) {
      if (fact.module == 0xFFFF'FFFFu || !is_frame.contains(fact.slice) || timeline_.track_of(fact.slice).rank != scene_.rank) continue;
      is_frame[fact.slice] = 1;
      records_ = Records::python_frames;
    }
    if (records_ == Records::none && !find_hierarchies()) return false;
    for (const TrackId track : threads_by_first_call(is_frame)) visit_thread(track, is_frame);
    return modules.nodes.size() > 1;
  }

  void add_device_slices() {
    for_each_device_slice(scene_, [&](SliceId id) {
      const Nanoseconds duration = timeline_.slices.duration[id];
      bool backward = scene_.facts.phase[id] == Phase::backward && scene_.facts.recomputed[id] == 0;
      std::uint32_t node = node_of_cause(id);
      if (node == outside && (node = node_of_forward(id)) != outside) backward = true;
      Node& module = modules.nodes[node];
      device_total += duration;
      ++module.slices;
      module.device_own += duration;
      if (backward) module.own_backward += duration;
    });
    for (std::size_t i = modules.nodes.size(); i-- > 0;) {  // children follow their parents
      Node& node = modules.nodes[i];
      node.device_total += node.device_own;
      node.device_backward += node.own_backward;
      if (i == outside || node.parent == outside) continue;
      modules.nodes[node.parent].device_total += node.device_total;
      modules.nodes[node.parent].device_backward += node.device_backward;
    }
  }

  Modules modules;
  Nanoseconds device_total = 0;

 private:
  bool find_hierarchies() {
    hierarchy_of_detail_.assign(timeline_.details.size(), {});
    for (std::uint32_t i = 0; i < timeline_.details.size(); ++i) {
      const std::string_view detail = timeline_.details[NameId{i}];
      if (detail.find("\"Module Hierarchy\"") == std::string_view::npos) continue;
      hierarchy_of_detail_[i] = recorded_argument(detail, "Module Hierarchy").value_or("");
      if (!hierarchy_of_detail_[i].empty()) records_ = Records::hierarchies;
    }
    return records_ == Records::hierarchies;
  }

  // The thread that calls modules first runs the whole model; others only call parts of it again.
  std::vector<TrackId> threads_by_first_call(const RankColumn<std::uint8_t>& is_frame) const {
    std::vector<std::pair<Nanoseconds, TrackId>> threads;
    for (const TrackId track : tracks_of_rank(scene_)) {
      if (timeline_.tracks[index(track)].kind != TrackKind::thread) continue;
      const std::span<const SliceId> slices = timeline_.on_track(track);
      const auto first = std::ranges::find_if(slices, [&](SliceId id) { return is_frame[id] != 0; });
      threads.emplace_back(first == slices.end() ? all_time.end : timeline_.slices.start[*first], track);
    }
    std::ranges::sort(threads);
    std::vector<TrackId> tracks;
    for (const auto& [first_call, track] : threads) tracks.push_back(track);
    return tracks;
  }

  // The node of a module call around which `around` is the innermost module; `around` itself where the slice is no module call.
  std::uint32_t node_of_call(SliceId id, std::uint32_t around, bool is_frame) {
    if (is_frame) {
      std::string_view name = timeline_.name_of(id);
      if (name.starts_with(frame_prefix)) name.remove_prefix(frame_prefix.size());
      return modules.child(around, static_cast<std::uint32_t>(timeline_.slices.name[id]), name);
    }
    if (records_ != Records::hierarchies || timeline_.slices.kind[id] != SliceKind::operation) return around;
    const std::string_view hierarchy = hierarchy_of_detail_[index(timeline_.slices.detail[id])];
    if (hierarchy.empty() || (around != outside && modules.nodes[around].name == hierarchy)) return around;
    const auto [key, fresh] = hierarchy_keys_.try_emplace(hierarchy, static_cast<std::uint32_t>(hierarchy_keys_.size()));
    return modules.child(outside, key->second, hierarchy);
  }

  void visit_thread(TrackId track, const RankColumn<std::uint8_t>& is_frame) {
    const SliceColumns& s = timeline_.slices;
    const Interval window = scene_.window;
    for (const SliceId id : timeline_.on_track(track)) {
      const SliceId parent = scene_.facts.parent[id];
      const std::uint32_t around = parent == no_id<SliceId> ? outside : innermost_[parent];
      const std::uint32_t node = node_of_call(id, around, is_frame[id] != 0);
      innermost_[id] = node;
      if (node == around) continue;
      Nanoseconds begin = s.start[id], end = s.end(id);
      if (!scene_.whole_capture) begin = std::max(begin, window.begin), end = std::min(end, window.end);
      const Nanoseconds duration = std::max<Nanoseconds>(0, end - begin);
      Node& module = modules.nodes[node];
      module.calls += scene_.whole_capture || window.contains(s.start[id]);
      module.cpu_own += duration;
      if (records_ == Records::python_frames && around != outside) modules.nodes[around].cpu_own -= std::min(duration, time_left(parent, begin, end));
      module.cpu_total += duration;
    }
  }
  // How much of [begin, end) lies before the end of the slice around it: a frame may seem to end shortly after the one around it.
  Nanoseconds time_left(SliceId around, Nanoseconds begin, Nanoseconds end) const {
    return std::max<Nanoseconds>(0, std::min(end, timeline_.slices.end(around)) - begin);
  }

  std::uint32_t node_of_cause(SliceId device_slice) const {
    for (const SliceId cause : {scene_.facts.launch[device_slice], scene_.facts.operation[device_slice]})
      if (cause != no_id<SliceId> && innermost_.contains(cause) && innermost_[cause] != outside) return innermost_[cause];
    return outside;
  }

  // Of backward work: the module of the forward operator that autograd gave the same number.
  std::uint32_t node_of_forward(SliceId device_slice) {
    for (SliceId up = scene_.facts.operation[device_slice]; up != no_id<SliceId>; up = scene_.facts.operation[up]) {
      const auto found = std::ranges::lower_bound(timeline_.sequences, up, {}, &SequenceFact::slice);
      if (found == timeline_.sequences.end() || found->slice != up || !is_backward_operator(*found)) continue;
      if (!forward_) forward_.emplace(scene_.timeline, scene_.rank);
      const SliceId forward = forward_->operator_of(*found);
      return forward == no_id<SliceId> ? outside : innermost_[forward];
    }
    return outside;
  }

  const Scene& scene_;
  const Timeline& timeline_;
  Records records_ = Records::none;
  RankColumn<std::uint32_t> innermost_;  // per slice on a thread: the module it is, or the innermost one around it
  std::vector<std::string_view> hierarchy_of_detail_;
  std::unordered_map<std::string_view, std::uint32_t> hierarchy_keys_;
  std::optional<ForwardOperators> forward_;
};

bool may_have_modules(const Timeline& timeline) {
  if (std::ranges::any_of(timeline.python, [](const PythonFact& fact) { return fact.module != 0xFFFF'FFFFu; })) return true;
  for (std::uint32_t i = 0; i < timeline.details.size(); ++i)
    if (timeline.details[NameId{i}].find("\"Module Hierarchy\"") != std::string_view::npos) return true;
  return false;
}

std::vector<Section> answer_modules(const Scene& scene) {
  if (!may_have_modules(scene.timeline)) return {};
  ModuleTimes times(scene);
  if (!times.find_calls()) return {};
  times.add_device_slices();
  const std::vector<Node>& nodes = times.modules.nodes;

  Table table{.key = "modules",
              .title = "By module",
              .columns = {{"path", "Module"},
                          {"depth", "Depth", Unit::none, false},
                          {"calls", "Calls", Unit::count},
                          {"cpu_total_ns", "CPU, total", Unit::nanoseconds},
                          {"cpu_own_ns", "CPU, own", Unit::nanoseconds, false},
                          {"launched", "Launched", Unit::count, false},
                          {"device_own_ns", "Device, own", Unit::nanoseconds},
                          {"device_total_ns", "Device, total", Unit::nanoseconds},
                          {"device_backward_ns", "of it backward", Unit::nanoseconds},
                          {"share", "Total share", Unit::ratio}},
              .rows = {}};
  const auto add = [&](std::string name, const Node& node, bool is_module) {
    table.rows.push_back({std::move(name), whole_if(is_module, node.depth), whole_if(is_module, node.calls), whole_if(is_module, node.cpu_total),
                          whole_if(is_module, node.cpu_own), whole(node.slices), whole(node.device_own), whole(node.device_total), whole(node.device_backward),
                          share(node.device_total, times.device_total)});
  };
  Nanoseconds cpu_total = 0;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    order.push_back(i);
    if (nodes[i].parent == outside) cpu_total += nodes[i].cpu_total;
  }
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::tuple(-nodes[i].device_total, -nodes[i].cpu_total, nodes[i].depth, i); });
  Node others;
  for (const std::uint32_t i : order) {
    const Node& node = nodes[i];
    if (static_cast<double>(node.device_total) >= kept_share * static_cast<double>(times.device_total) && node.device_total > 0) {
      add(times.modules.path(i), node, true);
    } else if (node.cpu_total > 0 && static_cast<double>(node.cpu_total) >= kept_share * static_cast<double>(cpu_total)) {
      add(times.modules.path(i), node, true);
    } else {
      others.slices += node.slices;
      others.device_own += node.device_own;
      others.device_backward += node.own_backward;
    }
  }
  others.device_total = others.device_own;
  if (others.slices != 0) add("(others)", others, false);
  if (nodes[outside].slices != 0) add("(outside modules)", nodes[outside], false);
  if (table.rows.empty()) return {};
  Section section{.key = "modules", .title = "Modules", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 45};
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace

extern const Question modules_question;
const Question modules_question{"modules", "Which modules of the model does the time go to?", Scope::rank, answer_modules};

}  // namespace stepscope
