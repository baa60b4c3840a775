// overlap: operations move to a stream of their own on their device.
//
// A moved operation waits for what stood before it on the old stream (its data), for its launch and for the moved one before it; it keeps what else it waited
// for. The next operation on the old stream no longer waits for it, but for what the moved one waited for. Going from one stream to another takes as long as it
// does elsewhere on the device. What needs its result: the first operation that
// `until=` matches on the old stream behind it; without until=, the next thing that waits for the old stream (a synchronisation, another stream's wait for an
// event), or the first operation of the next step, whichever comes first.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/statistics.h"
#include "edit/change.h"
#include "edit/selector.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr EditParameter parameters[] = {{"until", "selector of what needs the result, in quotes: until=\"phase=optimizer\""},
                                        {"slowdown", "factor on the duration of what is moved, because it shares the device (1)"}};

// The old stream's operations with who waits for each (other than by stream order).
struct Waiter {
  OpId operation;
  std::uint32_t row;
};

// Per operation: those that wait for its end or start by other kinds than stream and launch order.
std::vector<std::vector<Waiter>> waiters_of(const Graph& graph, const std::vector<bool>& of_interest) {
  std::vector<std::vector<Waiter>> waiters(graph.size());
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      const OpId on = graph.dependencies.moment[i].operation();
      const DependencyKind kind = graph.dependencies.kind[i];
      if (of_interest[index(on)] && (kind == DependencyKind::synchronise || kind == DependencyKind::event)) waiters[index(on)].push_back({OpId{row}, i});
    }
  return waiters;
}

// The step window that an operation starts in by the trace; no_step = none.
std::uint32_t step_of(const EditScene& scene, const Graph& graph, OpId op) {
  const SliceId slice = graph.operations.origin[op];
  if (slice == no_id<SliceId>) return no_step;
  for (const DeviceFacts& device : scene.facts.devices) {
    if (device.device != graph.place_of(op).device) continue;
    const Nanoseconds at = scene.timeline.slices.start[slice];
    const auto after = std::ranges::upper_bound(device.windows, at, {}, [](const StepWindow& w) { return w.window.begin; });
    return after == device.windows.begin() ? no_step : std::prev(after)->step;
  }
  return no_step;
}

// By device: the median time from one stream to another.
std::map<DeviceId, Nanoseconds> typical_hand_overs(const Graph& graph) {
  std::map<DeviceId, std::vector<Nanoseconds>> lags;
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i)
      if (graph.dependencies.kind[i] == DependencyKind::event && graph.dependencies.lag_kind[i] == LagKind::hand_over)
        lags[graph.place_of(OpId{row}).device].push_back(graph.dependencies.lag[i]);
  std::map<DeviceId, Nanoseconds> typical;
  for (auto& [device, list] : lags) typical[device] = median(list).value_or(0);
  return typical;
}

class Move {
 public:
  Move(const EditScene& scene, Graph& graph, std::vector<bool> moved, std::vector<bool> until, bool has_until)
      : scene_(scene),
        graph_(graph),
        moved_(std::move(moved)),
        until_(std::move(until)),
        has_until_(has_until),
        hand_overs_(typical_hand_overs(graph)),
        dropped_(graph.dependencies.size(), false) {}

  void run() {
    const std::vector<std::vector<OpId>> streams = by_stream(graph_);
    std::vector<bool> of_interest(graph_.size(), false);
    for (const auto& stream : streams)
      if (std::ranges::any_of(stream, [&](OpId op) { return moved_[index(op)]; }))
        for (const OpId op : stream) of_interest[index(op)] = true;
    waiters_ = waiters_of(graph_, of_interest);
    next_stayed_.assign(graph_.size(), no_id<OpId>);
    for (const auto& stream : streams)
      for (std::size_t i = stream.size(); i-- > 1;)
        if (moved_[index(stream[i - 1])]) next_stayed_[index(stream[i - 1])] = moved_[index(stream[i])] ? next_stayed_[index(stream[i])] : stream[i];
    for (const auto& stream : streams)
      if (!stream.empty() && of_interest[index(stream.front())]) move_on(stream);
    rewire(graph_, [&](OpId, std::uint32_t row) { return static_cast<bool>(dropped_[row]); }, std::move(added_));
  }
  std::size_t without_end() const { return without_end_; }

 private:
  void move_on(const std::vector<OpId>& stream) {
    hand_over_ = hand_overs_[graph_.place_of(stream.front()).device];
    const PlaceId place = new_place(graph_.operations.place[stream.front()]);
    OpId last_stayed = no_id<OpId>, last_moved = no_id<OpId>;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const OpId op = stream[i];
      const OpId before = moved_[index(op)] ? last_moved : last_stayed;
      if (moved_[index(op)] && next_stayed_[index(op)] != no_id<OpId>)
        for (std::uint32_t row = graph_.first_dependency(op); row < graph_.end_dependency(op); ++row)
          if (graph_.dependencies.kind[row] == DependencyKind::event) wait_as(row, next_stayed_[index(op)], graph_.dependencies.moment[row].operation());
      redirect(op, last_stayed, before);
      if (!moved_[index(op)]) {
        last_stayed = op;
        continue;
      }
      last_moved = op;
      graph_.operations.place[op] = place;
      wait_for(stream, i);
    }
  }

  // Stream order within the old stream, seen from op: on the last one that stayed there and, of a moved one, on the moved one before it.
  void redirect(OpId op, OpId last_stayed, OpId before) {
    for (std::uint32_t i = graph_.first_dependency(op); i < graph_.end_dependency(op); ++i) {
      if (graph_.dependencies.kind[i] != DependencyKind::stream_order) continue;
      const OpId on = graph_.dependencies.moment[i].operation();
      const bool on_moved = moved_[index(on)];
      if (!on_moved && !moved_[index(op)]) continue;  // between two that stay
      if (!on_moved && on == last_stayed) {           // the data of a moved one
        set_hand_over(i);
        if (before != no_id<OpId>) add(op, before, DependencyKind::stream_order, 0, LagKind::none);
        continue;
      }
      dropped_[i] = true;
      const Nanoseconds lag = graph_.dependencies.lag[i];
      const LagKind lag_kind = graph_.dependencies.lag_kind[i];
      const bool moves = moved_[index(op)];
      if (last_stayed != no_id<OpId> && moves) add_event(op, last_stayed);
      if (last_stayed != no_id<OpId> && !moves) add(op, last_stayed, DependencyKind::stream_order, lag, lag_kind);
      if (moves && before != no_id<OpId>) add(op, before, DependencyKind::stream_order, lag, lag_kind);
    }
  }

  // What comes to need the result of the moved operation stream[at].
  void wait_for(const std::vector<OpId>& stream, std::size_t at) {
    const OpId op = stream[at];
    const std::uint32_t step = step_of(scene_, graph_, op);
    if (!waiters_[index(op)].empty() && !has_until_) return;  // somebody waits for it as it is
    for (std::size_t i = at + 1; i < stream.size(); ++i) {
      const OpId later = stream[i];
      if (moved_[index(later)]) {
        if (!has_until_ && !waiters_[index(later)].empty()) return;  // whoever waits for a later one on the new stream has waited for this one
        continue;
      }
      if (has_until_ ? until_[index(later)] : step_of(scene_, graph_, later) != step) return add_event(later, op);
      if (has_until_) continue;
      if (!waiters_[index(later)].empty()) {
        for (const Waiter& waiter : waiters_[index(later)]) {
          wait_as(waiter.row, waiter.operation, op);
          if (const OpId next = next_stayed_[index(waiter.operation)]; next != no_id<OpId>) wait_as(waiter.row, next, op);
        }
        return;
      }
    }
    ++without_end_;
  }

  void add(OpId op, OpId on, DependencyKind kind, Nanoseconds lag, LagKind lag_kind) {
    if (index(on) < index(op)) added_.push_back({op, Moment::end(on), kind, lag, lag_kind});
  }

  // As the dependency in this row, another operation on another one.
  void wait_as(std::uint32_t row, OpId op, OpId on) {
    add(op, on, graph_.dependencies.kind[row], graph_.dependencies.lag[row], graph_.dependencies.lag_kind[row]);
  }
  void add_event(OpId op, OpId on) { add(op, on, DependencyKind::event, hand_over_, hand_over_ == 0 ? LagKind::none : LagKind::hand_over); }
  void set_hand_over(std::uint32_t row) {
    graph_.dependencies.kind[row] = DependencyKind::event;
    graph_.dependencies.lag[row] = hand_over_;
    graph_.dependencies.lag_kind[row] = hand_over_ == 0 ? LagKind::none : LagKind::hand_over;
  }

  PlaceId new_place(PlaceId old) {
    Place place = graph_.places[index(old)];
    std::int64_t highest = 0;
    for (const Place& other : graph_.places)
      if (other.kind == PlaceKind::stream && other.device == place.device) highest = std::max(highest, other.stream);
    place.stream = highest + 1;
    place.track = no_id<TrackId>;
    graph_.places.push_back(place);
    return PlaceId{static_cast<std::uint32_t>(graph_.places.size() - 1)};
  }

  const EditScene& scene_;
  Graph& graph_;
  std::vector<bool> moved_, until_;
  bool has_until_;
  std::map<DeviceId, Nanoseconds> hand_overs_;
  Nanoseconds hand_over_ = 0;      // of the stream's device
  std::vector<OpId> next_stayed_;  // of a moved operation: the next one on its old stream, which waits for what it waited for; no_id = none
  std::vector<bool> dropped_;
  std::vector<NewDependency> added_;
  std::vector<std::vector<Waiter>> waiters_;
  std::size_t without_end_ = 0;
};

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const auto slowdown = factor_parameter(edit, "slowdown");
  if (!slowdown) return std::unexpected(slowdown.error());
  std::vector<bool> moved(graph.size(), false), until(graph.size(), false);
  const std::vector<OpId> chosen = filtered(operations, [&](OpId op) { return graph.place_of(op).kind == PlaceKind::stream; });
  if (chosen.empty()) return edit_error("none of the chosen operations runs on a stream", "choose kernels or copies");
  for (const OpId op : chosen) moved[index(op)] = true;
  const auto until_text = parameter(edit, "until");
  if (until_text) {
    const Result<Edit> selector = parse_edit("free " + std::string(*until_text));
    if (!selector) {
      std::string problem = selector.error().problem;
      if (constexpr std::string_view of_edit = "the edit free"; problem.starts_with(of_edit)) problem.replace(0, of_edit.size(), "a selector");
      return edit_error(fmt::format("until={}: {}", *until_text, problem), "a selector in quotes: until=\"phase=optimizer\"");
    }
    const Result<std::vector<OpId>> found = select_operations(scene, graph, *selector, {});
    if (!found) return edit_error(fmt::format("until={}: {}", *until_text, found.error().problem), found.error().remedy);
    for (const OpId op : *found) until[index(op)] = true;
  }
  EditEffect effect{.operations = chosen.size(), .summary = fmt::format("moved {} to a stream of their own", counted(graph, chosen)), .caveats = {}};
  Move move(scene, graph, std::move(moved), std::move(until), until_text.has_value());
  move.run();
  const double factor = slowdown->value_or(1);
  if (factor != 1)
    for (const OpId op : chosen) graph.operations.duration[op] = scaled(graph.operations.duration[op], factor);
  else
    effect.caveats.push_back("Operations that run together share the device and slow each other down: none of that is counted (slowdown= does).");
  if (!until_text) effect.caveats.push_back("Nothing needs the results before the next wait for the stream or the next step: until= says what does.");
  if (move.without_end() > 0)
    effect.caveats.push_back(fmt::format("Behind {} nothing is left in the capture that could wait for {}.", plural(move.without_end(), "moved operation"),
                                         move.without_end() == 1 ? "it" : "them"));
  return effect;
}

}  // namespace

extern const EditKind overlap_edit{
    .name = "overlap",
    .help = "Operations move to a stream of their own and run beside what comes after them.",
    .example = "overlap collective=all_reduce until=\"phase=optimizer\"",
    .classes = {},
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
