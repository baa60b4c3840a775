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

std::vector<std::vector<OpId>> groups_of(const Graph& graph, std::span<const OpId> carrying, const Wish& wish) {
  const std::vector<std::uint32_t> first_waiter = first_waiters(graph);
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
      const auto own = static_cast<double>(graph.operations.bytes[op]);
      if (!group.empty() && (graph.operations.name[op] != graph.operations.name[group.back()] || static_cast<std::int64_t>(group.size()) >= wish.merge ||
                             bytes + own > wish.bucket || index(op) >= limit))
        close();
      group.push_back(op);
      bytes += own;
      limit = std::min(limit, first_waiter[index(op)]);
    }
    close();
  }
  return groups;
}

Result<EditEffect> apply(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph) {
  const Result<Wish> wish = wish_of(edit);
  if (!wish) return std::unexpected(wish.error());
  const std::vector<OpId> carrying = filtered(that_carry_data(graph, operations), [&](OpId op) { return graph.operations.bytes[op] > 0; });
  if (carrying.empty()) return edit_error("the trace does not tell the bytes of the chosen collectives", "record with PyTorch 2.4 or later, which notes them");
  const auto groups = groups_of(graph, carrying, *wish);
  if (groups.empty()) return edit_error("no two of the chosen collectives can become one", "choose a larger merge= or bucket=, or others");
  std::map<NameId, std::optional<MessageTime>> costs;
  for (const std::vector<OpId>& group : by_name(graph, carrying)) costs[graph.operations.name[group.front()]] = fit_message_time(graph, group);

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
    for (const OpId op : group) bytes += static_cast<double>(graph.operations.bytes[op]);
    before += total_duration(graph, group);
    // The fit speaks of what is saved: each message that there is no more saves one alpha.
    const double time = static_cast<double>(total_duration(graph, group)) - cost->alpha * static_cast<double>(group.size() - 1);
    const Nanoseconds merged = scaled(1, wish->given ? cost->of(bytes) : std::max(time, 0.0));
    after += merged;
    effect.operations += group.size();
    for (const OpId op : std::span(group).first(group.size() - 1)) {
      instead[index(op)] = group.back();
      gone.push_back(op);
    }
    graph.operations.duration[group.back()] = merged;
    graph.operations.bytes[group.back()] = static_cast<std::int64_t>(bytes);
  }
  for (const OpId op : gone) graph.operations.bytes[op] = 0;
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
