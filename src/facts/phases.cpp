// The part of a training step that an operator, API call or device slice belongs to.
//   optimizer  inside "Optimizer.step#…" or "Optimizer.zero_grad#…"
//   data       inside "enumerate(DataLoader)#…" or a user's range that names the loading of data
//   backward   inside an autograd node ("autograd::engine::evaluate_function: …", "AddmmBackward0"), an operator that autograd numbered with its forward
//              thread, the head of a forward-backward arrow, or a user's range named so; also what runs at top level of autograd's own threads
//   forward    inside an operator that autograd numbered for the first time, an nn.Module call, or a user's range named so. In a rank without any backward
//              work (inference) every other operator is forward as well
//   other      the rest: metrics, gradient clipping, work before the first step
// The innermost of these that says something decides; a device slice takes the phase of its launch.
#include <algorithm>
#include <string>

#include "facts/derive.h"

namespace stepscope {

std::string_view phase_name(Phase phase) {
  static constexpr std::string_view names[phase_count] = {"forward", "backward", "optimizer", "data", "other"};
  return names[static_cast<std::size_t>(phase)];
}

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// "AddmmBackward0", "torch::autograd::CopyBackwards", "CheckpointFunctionBackward", "torch::autograd::AccumulateGrad"
bool names_autograd_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  if (name.starts_with("torch::autograd::AccumulateGrad")) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") || name.ends_with("Backwards");
}

Phase phase_of_annotation(std::string_view name) {
  if (name.starts_with("Optimizer.")) return Phase::optimizer;
  if (name.starts_with("enumerate(DataLoader)")) return Phase::data;
  const std::string lower = lower_case(name);
  for (const std::string_view word : {"dataloader", "data_load", "data load", "load_batch", "load batch", "next_batch", "get_batch"})
    if (has(lower, word)) return Phase::data;
  // A range that names both, such as "forward_backward", says nothing.
  const bool backward = has(lower, "backward"), forward = has(lower, "forward"), optimizer = has(lower, "optimizer");
  if (backward + forward + optimizer != 1) return Phase::other;
  return backward ? Phase::backward : forward ? Phase::forward : Phase::optimizer;
}

// What a slice says about itself; `other` = nothing.
enum Evidence : std::uint8_t { none, numbered_forward, numbered_backward, module_call };

class Phases {
 public:
  Phases(const Timeline& timeline, Facts& facts) : timeline_(timeline), facts_(facts) {}

  void find() {
    const SliceColumns& s = timeline_.slices;
    facts_.phase.resize(s.size(), Phase::other);
    collect_evidence();
    annotation_phase_.resize(timeline_.names.size(), unseen);
    node_names_.resize(timeline_.names.size(), unseen);
    std::vector<bool> rank_trains(timeline_.ranks.size(), false);
    for (std::size_t t = 0; t < timeline_.tracks.size(); ++t) {
      if (timeline_.tracks[t].kind != TrackKind::thread) continue;
      if (on_thread(TrackId{static_cast<std::uint32_t>(t)})) rank_trains[index(timeline_.tracks[t].rank)] = true;
    }
    for (std::size_t row = 0; row < s.size(); ++row) {
      const SliceId id{static_cast<std::uint32_t>(row)};
      if (facts_.phase[row] == Phase::other && s.kind[row] == SliceKind::operation && !rank_trains[index(timeline_.track_of(id).rank)])
        facts_.phase[row] = Phase::forward;
      if (facts_.phase[row] == Phase::other && is_api_call(s.kind[row]) && facts_.operation[row] != no_id<SliceId> &&
          !rank_trains[index(timeline_.track_of(id).rank)])
        facts_.phase[row] = Phase::forward;
    }
    for (std::size_t row = 0; row < s.size(); ++row) {
      if (!is_device_activity(s.kind[row])) continue;
      const SliceId cause = facts_.launch[row] != no_id<SliceId> ? facts_.launch[row] : facts_.operation[row];
      if (cause != no_id<SliceId>) facts_.phase[row] = facts_.phase[cause];
      // A launch outside of any operator, in a slice that the profiler linked to one by its External id.
      if (facts_.phase[row] == Phase::other && facts_.operation[row] != no_id<SliceId>) facts_.phase[row] = facts_.phase[facts_.operation[row]];
    }
  }

 private:
  static constexpr std::uint8_t unseen = 0xFF;

  void collect_evidence() {
    evidence_.resize(timeline_.slices.size(), Evidence::none);
    for (const PythonFact& fact : timeline_.python)
      if (fact.module != 0xFFFF'FFFFu) evidence_[fact.slice] = Evidence::module_call;
    for (const SequenceFact& fact : timeline_.sequences)
      evidence_[fact.slice] = fact.forward_thread != 0 && fact.forward_thread != no_number ? Evidence::numbered_backward : Evidence::numbered_forward;
    std::vector<FlowEnd> arrows;
    for (const FlowEnd& flow : timeline_.flows)
      if (flow.kind == FlowKind::forward_backward && timeline_.tracks[index(flow.track)].kind == TrackKind::thread) arrows.push_back(flow);
    for (const FlowEnd& arrow : arrows) {
      const SliceId id = operator_at(arrow.track, arrow.time);
      if (id != no_id<SliceId> && evidence_[id] == Evidence::none) evidence_[id] = arrow.starts ? Evidence::numbered_forward : Evidence::numbered_backward;
    }
  }
  // The operator that starts at this time on a thread: arrows are drawn from start to start.
  SliceId operator_at(TrackId track, Nanoseconds time) const {
    const SliceColumns& s = timeline_.slices;
    const auto mine = timeline_.on_track(track);
    for (auto at = std::ranges::lower_bound(mine, time, {}, [&](SliceId id) { return s.start[id]; }); at != mine.end() && s.start[*at] == time; ++at)
      if (s.kind[*at] == SliceKind::operation) return *at;
    return no_id<SliceId>;
  }

  bool is_autograd_node(NameId name) {
    std::uint8_t& known = node_names_[name];
    if (known == unseen) known = names_autograd_node(timeline_.names[name]);
    return known != 0;
  }
  Phase annotation_phase(NameId name) {
    std::uint8_t& known = annotation_phase_[name];
    if (known == unseen) known = static_cast<std::uint8_t>(phase_of_annotation(timeline_.names[name]));
    return static_cast<Phase>(known);
  }
  Phase own_phase(SliceId id, Phase inherited) {
    const SliceColumns& s = timeline_.slices;
    switch (s.kind[id]) {
      case SliceKind::operation:
        if (evidence_[id] == Evidence::numbered_backward || is_autograd_node(s.name[id])) return Phase::backward;
        if (inherited == Phase::other && evidence_[id] == Evidence::numbered_forward) return Phase::forward;
        return inherited;
      case SliceKind::annotation: {
        const Phase named = annotation_phase(s.name[id]);
        return named == Phase::other ? inherited : named;
      }
      case SliceKind::python_function:
        return inherited == Phase::other && evidence_[id] == Evidence::module_call ? Phase::forward : inherited;
      default:
        return inherited;
    }
  }
  // True where the thread did backward work.
  bool on_thread(TrackId track) {
    const SliceColumns& s = timeline_.slices;
    std::size_t top_operators = 0, top_nodes = 0;
    bool backward = false;
    for (const SliceId id : timeline_.on_track(track)) {
      const SliceId parent = facts_.parent[id];
      const Phase phase = own_phase(id, parent == no_id<SliceId> ? Phase::other : facts_.phase[parent]);
      facts_.phase[id] = phase;
      backward |= phase == Phase::backward;
      if (parent == no_id<SliceId> && s.kind[id] == SliceKind::operation) {
        ++top_operators;
        top_nodes += phase == Phase::backward;
      }
    }
    // A thread of autograd's own: what it does between its nodes (hooks, reductions) is backward work too.
    if (top_nodes * 2 > top_operators)
      for (const SliceId id : timeline_.on_track(track))
        if (facts_.phase[id] == Phase::other) facts_.phase[id] = Phase::backward;
    return backward;
  }

  const Timeline& timeline_;
  Facts& facts_;
  Column<std::uint8_t> evidence_;          // per slice
  Column<std::uint8_t> annotation_phase_;  // per name, as an annotation's
  Column<std::uint8_t> node_names_;        // per name, as an operator's
};

}  // namespace

void find_phases(const Timeline& timeline, Facts& facts) {
  Phases(timeline, facts).find();
}

}  // namespace stepscope
