// balance: no rank is a straggler. Between two collectives each rank works for some time; where that is longer than the median rank's (the lower of the middle
// two), everything that the rank did between them, on its threads and streams, is shortened by the same factor, so that it arrives when the median rank does.
// Ranks that are faster than the median stay as they are.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/statistics.h"
#include "edit/change.h"
#include "edit/words.h"

namespace stepscope {

namespace {

struct Arrival {
  RankId rank{};
  Nanoseconds from = 0, at = 0;  // since the end of the rank's last collective, until it arrived
};

// Ranks' arrivals at each transfer, in order of the transfers.
std::vector<std::vector<Arrival>> arrivals_of(const Graph& graph, const std::vector<Nanoseconds>& starts) {
  std::vector<std::vector<Arrival>> arrivals;
  std::map<RankId, Nanoseconds> last_end;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    if (graph.operations.operation_class[op] != OperationClass::transfer) continue;
    std::vector<Arrival> here;
    for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i) {
      if (graph.dependencies.kind[i] != DependencyKind::collective) continue;
      const OpId member = graph.dependencies.moment[i].operation();
      const RankId rank = graph.place_of(member).rank;
      here.push_back({rank, last_end[rank], starts[index(member)]});
    }
    const Nanoseconds end = starts[row] + graph.operations.duration[op];
    for (const Arrival& one : here) last_end[one.rank] = std::max(last_end[one.rank], end);
    if (here.size() > 1) arrivals.push_back(std::move(here));
  }
  return arrivals;
}

struct Stretch {
  Interval time;
  double factor = 1;
};

Result<EditEffect> apply(const EditScene&, const Edit&, std::span<const OpId>, Graph& graph) {
  const std::vector<Nanoseconds> starts = start_times(graph);
  const auto arrivals = arrivals_of(graph, starts);
  if (arrivals.empty()) return edit_error("no collective of several ranks is in the trace", "give the traces of several ranks of one job");
  std::map<RankId, std::vector<Stretch>> stretches;
  std::uint64_t late = 0;
  for (const std::vector<Arrival>& one : arrivals) {
    std::vector<Nanoseconds> work;
    for (const Arrival& arrival : one) work.push_back(std::max<Nanoseconds>(0, arrival.at - arrival.from));
    const Nanoseconds middle = median(work).value_or(0);
    for (const Arrival& arrival : one) {
      const Nanoseconds own = arrival.at - arrival.from;
      if (own <= middle || own <= 0) continue;
      stretches[arrival.rank].push_back({{arrival.from, arrival.at}, static_cast<double>(middle) / static_cast<double>(own)});
      ++late;
    }
  }
  EditEffect effect{.operations = 0, .summary = {}, .caveats = {}};
  Nanoseconds saved = 0;
  for (std::uint32_t row = 1; row < graph.size(); ++row) {
    const OpId op{row};
    const OperationClass c = graph.operations.operation_class[op];
    if (c == OperationClass::transfer || c == OperationClass::communication) continue;
    const auto mine = stretches.find(graph.place_of(op).rank);
    if (mine == stretches.end()) continue;
    for (const Stretch& stretch : mine->second) {
      if (!stretch.time.contains(starts[row])) continue;
      Nanoseconds& duration = graph.operations.duration[op];
      const Nanoseconds shorter = scaled(duration, stretch.factor);
      saved += duration - shorter;
      duration = shorter;
      for (std::uint32_t i = graph.first[row]; i < graph.first[row + 1]; ++i)
        if (graph.dependencies.lag[i] > 0 && graph.dependencies.lag_kind[i] != LagKind::root)
          graph.dependencies.lag[i] = scaled(graph.dependencies.lag[i], stretch.factor);
      ++effect.operations;
      break;
    }
  }
  effect.summary = fmt::format("{} arrivals at {} collectives that were later than the median rank's now are not: {} of work less", late, arrivals.size(),
                               format_duration(saved));
  effect.caveats.push_back(
      "Why a rank is late (more data, a slower device, a busy host) the edit does not say; work that moves to another rank is not added there.");
  return effect;
}

}  // namespace

extern const EditKind balance_edit{
    .name = "balance",
    .help = "No rank arrives later at collectives than the median rank.",
    .example = "balance",
    .selects = false,
    .classes = {},
    .parameters = {},
    .apply = apply,
};

}  // namespace stepscope
