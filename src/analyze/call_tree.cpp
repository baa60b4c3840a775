// The call tree of each thread: calls of one name under one path are one node, Python frames included where they were recorded, iterations of a step merged.
//
// CPU time of a node = its own part + its children's, exactly; device time is that of the slices launched from the node's calls. Nodes below 0.1 % of both
// the CPU and the device time, and all but the 1,000 weightiest, are summed in a row "(others)" under their parent, and device time that no recorded call
// launched in "(unattributed)", so that the own times of all rows sum to the totals.

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/call_stack.h"
#include "analyze/question.h"
#include "analyze/rank_rows.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

constexpr double kept_share = 0.001;
constexpr std::size_t most_kept = 1'000;  // nodes; deep Python stacks would else fill the report with rows of one and the same time
constexpr std::uint32_t no_parent = 0xFFFF'FFFFu;

struct Node {
  std::uint32_t parent = no_parent;
  NameId name{};
  TrackId track{};  // of a thread's root
  SliceKind kind = SliceKind::other;
  std::int64_t calls = 0, slices = 0, slices_total = 0;  // slices: launched from its own calls
  Nanoseconds cpu_own = 0, cpu_total = 0, device_own = 0, device_total = 0;
  std::uint32_t latest_child = no_node, then = no_node;  // then: the sibling visited after this one the last time
};

// The nodes, found by (parent, name) in a hash table with linear probing. Programs repeat themselves: mostly the sibling that followed the last time is it.
class Tree {
 public:
  std::vector<Node> nodes;

  std::uint32_t add_root(TrackId track) {
    nodes.push_back({.track = track});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint32_t child(std::uint32_t parent, NameId name, SliceKind kind) {
    const std::uint32_t elder = nodes[parent].latest_child;
    std::uint32_t found = elder == no_node ? no_node : nodes[elder].then;
    if (found == no_node || nodes[found].name != name) {
      found = search(parent, name, kind);
      if (elder != no_node) nodes[elder].then = found;
    }
    nodes[parent].latest_child = found;
    return found;
  }

 private:
  std::uint32_t search(std::uint32_t parent, NameId name, SliceKind kind) {
    if (2 * (nodes.size() + 1) > slots_.size()) grow();
    for (std::size_t slot = slot_of(parent, name);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0) {
        nodes.push_back({.parent = parent, .name = name, .kind = kind});
        slots_[slot] = static_cast<std::uint32_t>(nodes.size());
        return slots_[slot] - 1;
      }
      const Node& node = nodes[slots_[slot] - 1];
      if (node.parent == parent && node.name == name) return slots_[slot] - 1;
    }
  }
  std::size_t slot_of(std::uint32_t parent, NameId name) const {
    const std::uint64_t key = std::uint64_t{parent} << 32 | static_cast<std::uint32_t>(name);
    return (key * 0x9E37'79B9'7F4A'7C15u >> 32) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(slots_.empty() ? 4096 : slots_.size() * 2, 0);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent == no_parent) continue;
      std::size_t slot = slot_of(nodes[i].parent, nodes[i].name);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }
  std::vector<std::uint32_t> slots_;  // node + 1; 0 = free
};

struct Launched {
  Nanoseconds device = 0;
  std::int64_t slices = 0;
};

// The name under which a slice is merged: the numbers of ProfilerStep annotations are left away.
constexpr std::string_view step_prefix = "ProfilerStep#";
std::vector<NameId> merged_names(const Timeline& timeline) {
  std::vector<NameId> merged(timeline.names.size());
  NameId step = no_id<NameId>;
  for (std::uint32_t i = 0; i < merged.size(); ++i) {
    merged[i] = NameId{i};
    if (!timeline.names[NameId{i}].starts_with(step_prefix)) continue;
    if (step == no_id<NameId>) step = NameId{i};
    merged[i] = step;
  }
  return merged;
}

struct Totals {
  Nanoseconds cpu = 0, device = 0, unattributed = 0;
  std::int64_t unattributed_slices = 0;
};

Totals build(const Scene& scene, Tree& tree) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  Totals totals;
  RankColumn<std::uint32_t> launched_at(scene, 0);  // per call that launched: 1 + the row of launched
  Column<Launched> launched;
  std::int64_t slices = 0;
  for_each_device_slice(scene, [&](SliceId id) {
    totals.device += s.duration[id];
    ++slices;
    SliceId from = scene.facts.launch[id];
    if (from == no_id<SliceId>) from = scene.facts.operation[id];
    if (from == no_id<SliceId> || !launched_at.contains(from)) return;
    std::uint32_t& place = launched_at[from];
    if (place == 0) {
      launched.push_back({});
      place = static_cast<std::uint32_t>(launched.size());
    }
    launched[place - 1].device += s.duration[id];
    ++launched[place - 1].slices;
  });
  totals.unattributed = totals.device;
  totals.unattributed_slices = slices;

  const std::vector<NameId> merged = merged_names(timeline);
  const Interval window = scene.whole_capture ? all_time : scene.window;
  using Frame = StackFrame<std::uint32_t>;  // the node
  std::uint32_t root = 0;
  const auto enter = [&](Frame& frame, Frame* around) {
    frame.payload = tree.child(around != nullptr ? around->payload : root, merged[index(s.name[frame.slice])], s.kind[frame.slice]);
    Node& node = tree.nodes[frame.payload];
    node.calls += window.contains(s.start[frame.slice]);
    node.cpu_total += frame.time();
    const std::uint32_t place = launched_at[frame.slice];
    if (place == 0) return;
    const Launched& here = launched[place - 1];
    node.device_own += here.device;
    node.slices += here.slices;
    totals.unattributed -= here.device;
    totals.unattributed_slices -= here.slices;
  };
  const auto leave = [&](Frame& frame, Frame*) { tree.nodes[frame.payload].cpu_own += frame.own(); };
  const auto skip = [](SliceKind) { return false; };
  const auto is_call = [](SliceKind kind) { return kind >= SliceKind::operation && kind <= SliceKind::annotation; };
  for (const TrackId track : tracks_of_rank(scene)) {
    if (timeline.tracks[index(track)].kind == TrackKind::stream) continue;
    root = tree.add_root(track);
    walk_call_stack<std::uint32_t>(timeline, scene.facts.parent, track, window, skip, is_call, enter, leave);
  }
  // Children follow their parents in nodes.
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    Node& node = tree.nodes[i];
    node.device_total += node.device_own;
    node.slices_total += node.slices;
    if (node.parent == no_parent) {
      totals.cpu += node.cpu_total;
      continue;
    }
    Node& parent = tree.nodes[node.parent];
    parent.device_total += node.device_total;
    parent.slices_total += node.slices_total;
    if (parent.parent == no_parent) parent.cpu_total += node.cpu_total;
  }
  return totals;
}

std::string label_of(const Timeline& timeline, const Node& node) {
  if (node.parent != no_parent) {
    const std::string_view name = timeline.names[node.name];
    return std::string(name.starts_with(step_prefix) ? step_prefix.substr(0, step_prefix.size() - 1) : name);
  }
  const Track& track = timeline.tracks[index(node.track)];
  return track.label.empty() ? "thread " + std::string(timeline.names[track.thread]) : track.label;
}

class Rows {
 public:
  Rows(const Scene& scene, const Tree& tree, const Totals& totals, Table& table) : scene_(scene), tree_(tree), totals_(totals), table_(table) {
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i)
      if (const Node& node = tree.nodes[i]; node.cpu_total != 0 || node.calls != 0 || node.device_total != 0) order_.push_back(i);
    // Each parent's children together, the costliest first.
    std::ranges::sort(order_, {}, [&](std::uint32_t i) {
      const Node& node = tree.nodes[i];
      return std::tuple(node.parent, -node.device_total, -node.cpu_total, i);
    });
    if (order_.size() > most_kept) {
      std::vector<double> weights;
      for (const std::uint32_t i : order_) weights.push_back(weight(tree.nodes[i]));
      std::ranges::nth_element(weights, weights.begin() + most_kept, std::greater{});
      kept_above_ = weights[most_kept];
    }
    add_children(no_parent, absent(), 0);
    if (totals.unattributed_slices != 0)
      add("(unattributed)", "", absent(), 0, {.slices = totals.unattributed_slices, .device_own = totals.unattributed, .device_total = totals.unattributed});
  }

 private:
  // The larger of its shares of the CPU and the device time: no child weighs more than its parent.
  double weight(const Node& node) const {
    const auto share_of = [](Nanoseconds part, Nanoseconds all) { return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all); };
    return std::max(share_of(node.cpu_total, totals_.cpu), share_of(node.device_total, totals_.device));
  }
  bool kept(const Node& node) const { return weight(node) >= kept_share && weight(node) > kept_above_; }
  void add(std::string name, std::string_view kind, Value parent, std::int64_t depth, const Node& node) {
    table_.rows.push_back({std::move(name), text(kind), std::move(parent), whole(depth), whole(node.calls), whole(node.cpu_total), whole(node.cpu_own),
                           whole(node.slices), whole(node.device_own), whole(node.device_total)});
  }
  // Recursion is as deep as the call stacks of the capture; their depth is bounded by keeping only nodes of some weight and by max_depth.
  void add_children(std::uint32_t parent, const Value& parent_row, std::int64_t depth) {
    Node others;
    std::int64_t others_nodes = 0;
    const auto [first, last] = std::ranges::equal_range(order_, parent, {}, [&](std::uint32_t i) { return tree_.nodes[i].parent; });
    for (auto at = first; at != last; ++at) {
      const Node& node = tree_.nodes[*at];
      if (parent == no_parent ? node.calls + node.cpu_total + node.device_total != 0 : kept(node) && depth < max_depth) {
        const Value row = whole(table_.rows.size());
        add(label_of(scene_.timeline, node), parent == no_parent ? "thread" : slice_kind_name(node.kind), parent_row, depth, node);
        add_children(*at, row, depth + 1);
      } else {
        ++others_nodes;
        others.calls += node.calls;
        others.cpu_total += node.cpu_total;
        others.device_total += node.device_total;
        others.slices += node.slices_total;
      }
    }
    if (others_nodes == 0) return;
    others.cpu_own = others.cpu_total;
    others.device_own = others.device_total;
    add("(others)", "", parent_row, depth, others);
  }

  static constexpr std::int64_t max_depth = 400;
  double kept_above_ = -1;
  const Scene& scene_;
  const Tree& tree_;
  const Totals& totals_;
  Table& table_;
  std::vector<std::uint32_t> order_;
};

std::vector<Section> answer_call_tree(const Scene& scene) {
  Tree tree;
  const Totals totals = build(scene, tree);
  Section section{.key = "call_tree", .title = "Call tree", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 70};
  Table table{.key = "call_tree",
              .title = "Calls by path",
              .columns = {{"name", "Call"},
                          {"kind", "Kind", Unit::none, false},
                          {"parent", "Parent row", Unit::none, false},
                          {"depth", "Depth"},
                          {"calls", "Calls", Unit::count},
                          {"cpu_total_ns", "CPU, total", Unit::nanoseconds},
                          {"cpu_own_ns", "CPU, own", Unit::nanoseconds},
                          {"launched", "Launched", Unit::count, false},
                          {"device_own_ns", "Device, own", Unit::nanoseconds, false},
                          {"device_total_ns", "Device, total", Unit::nanoseconds}},
              .rows = {}};
  Rows(scene, tree, totals, table);
  if (std::ranges::none_of(tree.nodes, [](const Node& node) { return node.parent != no_parent; })) return {};
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace

extern const Question call_tree_question;
const Question call_tree_question{"call_tree", "Which path of calls does the time go to, on each thread?", Scope::rank, answer_call_tree};

}  // namespace stepscope
