#include "simulate/critical_path.h"

#include <algorithm>

namespace stepscope {

namespace {

struct KindText {
  std::string_view name, title;
};
constexpr KindText kind_texts[path_part_kind_count] = {
    {"compute", "Compute kernels"},
    {"communication", "Communication"},
    {"copy", "Copies and fills"},
    {"launch", "Launch calls"},
    {"synchronisation", "Synchronisation calls"},
    {"api", "Other API calls"},
    {"cpu_operator", "CPU operators"},
    {"data_loading", "Data loading"},
    {"python", "Python and between operators"},
    {"other_rank", "Waiting for another rank"},
    {"launch_latency", "Launch latency"},
    {"device_gap", "Gaps between queued kernels"},
    {"hand_over", "Hand-over"},
    {"graph", "Inside CUDA graphs"},
    {"no_cause", "No recorded cause"},
    {"unexplained", "Unexplained delays"},
};

PathPartKind kind_of_operation(OperationClass operation_class) {
  switch (operation_class) {
    case OperationClass::compute:
      return PathPartKind::compute;
    case OperationClass::communication:
    case OperationClass::transfer:
      return PathPartKind::communication;
    case OperationClass::copy:
    case OperationClass::fill:
      return PathPartKind::copy;
    case OperationClass::launch:
      return PathPartKind::launch;
    case OperationClass::synchronisation:
      return PathPartKind::synchronisation;
    case OperationClass::api:
      return PathPartKind::api;
    case OperationClass::framework:
      return PathPartKind::cpu_operator;
    case OperationClass::data_loading:
      return PathPartKind::data_loading;
    case OperationClass::python:
      return PathPartKind::python;
    case OperationClass::origin:
      break;
  }
  return PathPartKind::no_cause;
}

PathPartKind kind_of_lag(LagKind kind) {
  switch (kind) {
    case LagKind::launch:
      return PathPartKind::launch_latency;
    case LagKind::scheduling:
      return PathPartKind::device_gap;
    case LagKind::hand_over:
      return PathPartKind::hand_over;
    case LagKind::graph:
      return PathPartKind::graph;
    case LagKind::root:
      return PathPartKind::no_cause;
    case LagKind::none:
    case LagKind::unexplained:
      break;
  }
  return PathPartKind::unexplained;
}

class Walk {
 public:
  Walk(const Graph& graph, const ReplayTimes& times, Moment begin, Moment end) : graph_(graph), times_(times), rank_(graph.place_of(end.operation()).rank) {
    path_.window = {times[begin], std::max(times[begin], times[end])};
    covered_from_ = path_.window.end;
  }

  CriticalPath back_from(Moment moment) {
    while (covered_from_ > path_.window.begin) {
      const OpId op = moment.operation();
      if (moment.is_end()) {
        cover_from(times_.start(op), kind_of_operation(graph_.operations.operation_class[op]), op, no_dependency);
        moment = Moment::start(op);
        continue;
      }
      if (op == OpId{0}) break;  // the origin: nothing is known of what was before it
      const std::uint32_t row = deciding_dependency(graph_, times_, op);
      moment = graph_.dependencies.moment[row];
      cover_from(times_[moment], kind_of_lag(graph_.dependencies.lag_kind[row]), op, row);
    }
    cover_from(path_.window.begin, PathPartKind::no_cause, OpId{0}, no_dependency);
    std::ranges::reverse(path_.parts);
    return std::move(path_);
  }

 private:
  // Links between ranks belong to none.
  bool elsewhere(OpId op) const {
    const RankId rank = graph_.place_of(op).rank;
    return rank != no_id<RankId> && rank_ != no_id<RankId> && rank != rank_;
  }

  void cover_from(Nanoseconds time, PathPartKind kind, OpId op, std::uint32_t row) {
    if (elsewhere(op)) kind = PathPartKind::other_rank;
    const Interval interval{std::max(time, path_.window.begin), covered_from_};
    if (interval.end <= interval.begin) return;
    path_.parts.push_back({interval, kind, op, row});
    path_.by_kind[static_cast<std::size_t>(kind)] += interval.end - interval.begin;
    covered_from_ = interval.begin;
  }

  const Graph& graph_;
  const ReplayTimes& times_;
  RankId rank_;
  Nanoseconds covered_from_ = 0;  // the window is covered from here to its end
  CriticalPath path_;
};

}  // namespace

std::string_view path_part_kind_name(PathPartKind kind) {
  return kind_texts[static_cast<std::size_t>(kind)].name;
}

std::string_view path_part_kind_title(PathPartKind kind) {
  return kind_texts[static_cast<std::size_t>(kind)].title;
}

CriticalPath critical_path(const Graph& graph, const ReplayTimes& times, Moment begin, Moment end) {
  return Walk(graph, times, begin, end).back_from(end);
}

SlackTimes slack_before(const Graph& graph, const ReplayTimes& times, Moment end) {
  SlackTimes found;
  found.slack.resize(times.times.size(), no_limit);
  Nanoseconds* const slack = found.slack.data();
  const Moment* const moments = graph.dependencies.moment.data();
  const Nanoseconds* const lags = graph.dependencies.lag.data();
  slack[end.row] = 0;
  for (std::size_t op = index(end.operation()) + 1; op-- > 0;) {
    // What may end later may start later by as much.
    const Nanoseconds allowed = std::min(slack[2 * op], slack[2 * op + 1]);
    slack[2 * op] = allowed;
    if (allowed == no_limit) continue;
    const Nanoseconds latest_start = times.times[2 * op] + allowed;
    for (std::uint32_t row = graph.first[op]; row < graph.first[op + 1]; ++row) {
      Nanoseconds& of_cause = slack[moments[row].row];
      of_cause = std::min(of_cause, latest_start - lags[row] - times.times[moments[row].row]);
    }
  }
  return found;
}

}  // namespace stepscope
