// message: n consecutive collectives of one name become one, with all of their bytes. With time = alpha + bytes · beta (message_time.h) that saves one alpha
// for each message less; given alpha= and bandwidth= the time is theirs. The last of them carries it, because only then all data are there; whoever waited for
// an earlier one waits for the last. Collectives are not merged beyond whoever waits for one of them before the last has been issued, nor where something else
// of the same stream stands between that needs its result.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "edit/change.h"
#include "edit/message_time.h"
#include "edit/words.h"

namespace stepscope {

namespace {

constexpr OperationClass classes[] = {OperationClass::communication, OperationClass::transfer};
constexpr EditParameter parameters[] = {{"merge", "collectives that become one: 4"},
                                        {"bucket", "bytes that they hold together at most: 100MB"},
                                        {"alpha", "time of a message of no bytes, where known: 20us"},
                                        {"bandwidth", "bytes per second of a long message, where known, as bytes: 200GB"}};

struct Wish {
  std::int64_t merge = std::numeric_limits<std::int64_t>::max();
  double bucket = std::numeric_limits<double>::infinity();
  std::optional<MessageTime> given;
};

Result<Wish> wish_of(const Edit& edit) {
  const auto merge = count_parameter(edit, "merge");
  const auto bucket = bytes_parameter(edit, "bucket"), bandwidth = bytes_parameter(edit, "bandwidth");
  const auto alpha = duration_parameter(edit, "alpha");
  if (!merge) return std::unexpected(merge.error());
  if (!bucket) return std::unexpected(bucket.error());
  if (!bandwidth) return std::unexpected(bandwidth.error());
  if (!alpha) return std::unexpected(alpha.error());
  if (!*merge && !*bucket) return edit_error("neither merge= nor bucket= is given", "for example: message collective=all_reduce merge=4");
  if (alpha->has_value() != bandwidth->has_value()) return edit_error("alpha= and bandwidth= are given together or not at all", "alpha=20us bandwidth=200GB");
  if (*bandwidth && **bandwidth <= 0) return edit_error("bandwidth=0: nothing would ever arrive", "bytes per second above 0");
  Wish wish;
  if (*merge) wish.merge = **merge;
  if (*bucket) wish.bucket = **bucket;
  if (*alpha) wish.given = MessageTime{static_cast<double>(**alpha), 1e9 / **bandwidth};
  return wish;
}

// Per operation: the first one that waits for its end, except the next one on its stream.
std::vector<std::uint32_t> first_waiters(const Graph& graph) {
  std::vector<std::uint32_t> first(graph.size(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      const Moment moment = graph.dependencies.moment[i];
      if (!moment.is_end() || graph.dependencies.kind[i] == DependencyKind::stream_order) continue;
      std::uint32_t& at = first[index(moment.operation())];
      at = std::min(at, row);
    }
  return first;
}

// Whose end is the collective's end for those who wait for it: the kernel itself, or the members' completions of a transfer.
std::map<OpId, std::vector<OpId>> ends_of(const Graph& graph, std::span<const OpId> carrying) {
  std::map<OpId, std::vector<OpId>> ends;
  for (const OpId op : carrying) {
    std::vector<OpId>& own = ends[op];
    if (graph.operations.operation_class[op] != OperationClass::transfer) own.push_back(op);
  }
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i)
      if (graph.dependencies.kind[i] == DependencyKind::collective && graph.operations.operation_class[OpId{row}] == OperationClass::communication)
        if (const auto transfer = ends.find(graph.dependencies.moment[i].operation()); transfer != ends.end()) transfer->second.push_back(OpId{row});
  return ends;
}

// The members' arrivals at a transfer.
std::vector<OpId> arrivals_at(const Graph& graph, OpId transfer) {
  std::vector<OpId> arrivals;
  for (std::uint32_t i = graph.first_dependency(transfer); i < graph.end_dependency(transfer); ++i)
    if (graph.dependencies.kind[i] == DependencyKind::collective) arrivals.push_back(graph.dependencies.moment[i].operation());
  return arrivals;
}

// Whether nothing else stands between two collectives on their streams: what did might need the first one's result.
class Neighbours {
 public:
  explicit Neighbours(const Graph& graph) : graph_(graph), place_in_stream_(graph.size(), 0) {
    for (const std::vector<OpId>& stream : by_stream(graph))
      for (std::uint32_t i = 0; i < stream.size(); ++i) place_in_stream_[index(stream[i])] = i;
  }
  bool follow(const std::vector<OpId>& ends, OpId next) const {
    const std::vector<OpId> starts = graph_.operations.operation_class[next] == OperationClass::transfer ? arrivals_at(graph_, next) : std::vector<OpId>{next};
    return std::ranges::all_of(ends, [&](OpId end) {
      return std::ranges::any_of(starts, [&](OpId start) {
        return graph_.operations.place[start] == graph_.operations.place[end] && place_in_stream_[index(start)] == place_in_stream_[index(end)] + 1;
      });
    });
  }

 private:
  const Graph& graph_;
  std::vector<std::uint32_t> place_in_stream_;
};

std::vector<std::vector<OpId>> groups_of(const Graph& graph, std::span<const OpId> carrying, const std::map<OpId, std::int64_t>& sizes,
                                         const std::map<OpId, std::vector<OpId>>& ends, const Wish& wish) {
  const std::vector<std::uint32_t> first_waiter = first_waiters(graph);
  const Neighbours neighbours(graph);
  // Collectives of one name on one place, in order; other collectives between them end a group, so that order between ranks stays.
  std::map<PlaceId, std::vector<OpId>> places;
  for (const OpId op : carrying) places[graph.operations.place[op]].push_back(op);
  std::vector<std::vector<OpId>> groups;
  for (const auto& [place, list] : places) {
    std::vector<OpId> group;
    double bytes = 0;
    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max();
    const auto close = [&] {
      if (group.size() > 1) groups.push_back(group);
      group.clear();
      bytes = 0;
      limit = std::numeric_limits<std::uint32_t>::max();
    };
    for (const OpId op : list) {
      const auto own = static_cast<double>(sizes.at(op));
      if (!group.empty() && (graph.operations.name[op] != graph.operations.name[group.back()] || static_cast<std::int64_t>(group.size()) >= wish.merge ||
                             bytes + own > wish.bucket || index(op) >= limit || !neighbours.follow(ends.at(group.back()), op)))
        close();
      group.push_back(op);
      bytes += own;
      for (const OpId end : ends.at(op)) limit = std::min(limit, first_waiter[index(end)]);
    }
    close();
  }
  return groups;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const Result<Wish> wish = wish_of(edit);
  if (!wish) return std::unexpected(wish.error());
  std::map<OpId, std::int64_t> sizes;
  for (const OpId op : that_carry_data(graph, operations))
    if (const std::int64_t bytes = message_bytes(scene, graph, op); bytes > 0) sizes[op] = bytes;
  std::vector<OpId> carrying;
  for (const auto& [op, bytes] : sizes) carrying.push_back(op);
  const auto ends = ends_of(graph, carrying);
  if (carrying.empty()) return edit_error("the trace does not tell the bytes of the chosen collectives", "record with PyTorch 2.4 or later, which notes them");
  const auto groups = groups_of(graph, carrying, sizes, ends, *wish);
  if (groups.empty()) return edit_error("no two of the chosen collectives can become one", "choose a larger merge= or bucket=, or others");
  std::map<NameId, std::optional<MessageTime>> costs;
  for (const std::vector<OpId>& group : by_name(graph, carrying)) costs[graph.operations.name[group.front()]] = fit_message_time(scene, graph, group);

  EditEffect effect{.operations = 0, .summary = {}, .caveats = {}};
  const Launches launches(scene, graph);
  std::vector<OpId> instead(graph.size(), no_id<OpId>), gone;
  Nanoseconds before = 0, after = 0;
  for (const std::vector<OpId>& group : groups) {
    const std::optional<MessageTime> cost = wish->given ? wish->given : costs[graph.operations.name[group.front()]];
    if (!cost)
      return edit_error(fmt::format("the time of {} by its size cannot be told: the trace has it in fewer than two known sizes", graph.name_of(group.front())),
                        "give it: alpha=20us bandwidth=200GB");
    double bytes = 0;
    for (const OpId op : group) bytes += static_cast<double>(sizes.at(op));
    before += total_duration(graph, group);
    // The fit speaks of what is saved: each message that there is no more saves one alpha.
    const double time = static_cast<double>(total_duration(graph, group)) - cost->alpha * static_cast<double>(group.size() - 1);
    const Nanoseconds merged = scaled(1, wish->given ? cost->of(bytes) : std::max(time, 0.0));
    after += merged;
    effect.operations += group.size();
    for (const OpId op : std::span(group).first(group.size() - 1)) {
      // Who waited for this one's end on a rank waits for the last one's there.
      for (const OpId end : ends.at(op))
        for (const OpId other : ends.at(group.back()))
          if (graph.place_of(end).rank == graph.place_of(other).rank) instead[index(end)] = other;
      gone.push_back(op);
      for (const OpId arrival : arrivals_at(graph, op)) gone.push_back(arrival);
      if (!ends.at(op).empty() && ends.at(op).front() != op) gone.insert(gone.end(), ends.at(op).begin(), ends.at(op).end());
    }
    graph.operations.duration[group.back()] = merged;
    graph.operations.bytes[group.back()] = static_cast<std::int64_t>(bytes);
  }
  for (const OpId op : gone) graph.operations.bytes[op] = 0;
  std::ranges::sort(gone);
  std::vector<NewDependency> added;
  const DependencyColumns& d = graph.dependencies;
  for (std::uint32_t row = 1; row < graph.size(); ++row)
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      const OpId merged = instead[index(d.moment[i].operation())];
      if (merged != no_id<OpId> && d.moment[i].is_end() && d.kind[i] != DependencyKind::stream_order && index(merged) < row)
        added.push_back({OpId{row}, Moment::end(merged), d.kind[i], d.lag[i], d.lag_kind[i]});
    }
  const std::vector<OpId> calls = launches.only_for(gone);
  vanish(graph, gone);
  vanish(graph, calls);
  rewire(graph, [](OpId, std::uint32_t) { return false; }, std::move(added));
  effect.summary =
      fmt::format("merged {} into {} ({} to {})", plural(effect.operations, "collective"), groups.size(), format_duration(before), format_duration(after));
  effect.caveats.push_back("A merged collective starts when the last of its parts would have: overlap with the work in between is lost, as it would be.");
  return effect;
}

}  // namespace

extern const EditKind message_edit{
    .name = "message",
    .help = "Consecutive collectives become one with all of their bytes.",
    .example = "message collective=all_reduce merge=4",
    .classes = classes,
    .parameters = parameters,
    .apply = apply,
};

}  // namespace stepscope
