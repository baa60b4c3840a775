// A small graph written in a test, in nanoseconds: threads and streams in order, kernels behind their launches; and edits of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "edit/edit.h"
#include "graph/builder.h"
#include "graph/check.h"
#include "simulate/replay.h"

namespace stepscope {

class SmallGraph {
 public:
  PlaceId thread(std::uint32_t rank = 0) { return builder_.place({.kind = PlaceKind::thread, .rank = RankId{rank}}); }
  PlaceId stream(std::int64_t number, std::uint32_t rank = 0) {
    return builder_.place({.kind = PlaceKind::stream, .rank = RankId{rank}, .device = DeviceId{rank}, .stream = number});
  }
  PlaceId link() { return builder_.place({.kind = PlaceKind::link}); }

  // Follows the last operation of its place.
  OpId add(PlaceId place, OperationClass c, std::string_view name, Nanoseconds duration, Nanoseconds lag = 0, std::int64_t bytes = unknown_amount) {
    const OpId op =
        builder_.add({.place = place, .operation_class = c, .duration = duration, .name = builder_.names().intern(name), .bytes = bytes, .about = ++about_});
    const auto last = last_.find(place);
    const bool stream = runs_on_device(c);
    if (last != last_.end())
      builder_.depend(op, Moment::end(last->second), stream ? DependencyKind::stream_order : DependencyKind::program_order, lag,
                      lag == 0 ? LagKind::none : LagKind::scheduling);
    else if (!stream)
      builder_.depend(op, Moment::start(OpId{0}), DependencyKind::origin, 0, LagKind::root);
    last_[place] = op;
    return op;
  }
  OpId cpu(PlaceId place, std::string_view name, Nanoseconds duration, OperationClass c = OperationClass::python) { return add(place, c, name, duration); }
  // A launch call of 10 ns and its kernel, which may start 5 ns after the call's start.
  OpId kernel(PlaceId on_thread, PlaceId on_stream, std::string_view name, Nanoseconds duration, OperationClass c = OperationClass::compute,
              std::int64_t bytes = unknown_amount, Nanoseconds gap = 0) {
    const OpId call = add(on_thread, OperationClass::launch, "cudaLaunchKernel", 10);
    const OpId op = add(on_stream, c, name, duration, gap, bytes);
    builder_.depend(op, Moment::start(call), DependencyKind::launch, 5, LagKind::launch);
    return op;
  }
  OpId synchronise(PlaceId on_thread, OpId with) {
    const OpId call = add(on_thread, OperationClass::synchronisation, "cudaStreamSynchronize", 0);
    builder_.depend(call, Moment::end(with), DependencyKind::synchronise);
    return call;
  }
  // What the members do together, from the last arrival on.
  OpId transfer(PlaceId place, std::string_view name, Nanoseconds duration, const std::vector<OpId>& members, std::int64_t bytes = unknown_amount) {
    const OpId op = builder_.add({.place = place,
                                  .operation_class = OperationClass::transfer,
                                  .duration = duration,
                                  .name = builder_.names().intern(name),
                                  .bytes = bytes,
                                  .about = ++about_});
    for (const OpId member : members) builder_.depend(op, Moment::start(member), DependencyKind::collective);
    return op;
  }
  void depend(OpId op, Moment on, DependencyKind kind, Nanoseconds lag = 0, LagKind lag_kind = LagKind::none) { builder_.depend(op, on, kind, lag, lag_kind); }

  void finish() {
    GraphBuilder::Finished finished = std::move(builder_).finish();
    number_ = std::move(finished.number);
    lifted.graph = std::move(finished.graph);
    graph = lifted.graph.copy();
  }
  OpId operator[](OpId built) const { return number_[index(built)]; }

  // The edit's effect; its Error as a failure of the test.
  EditEffect edit(std::string_view text, const Gpu* gpu = nullptr) {
    const Result<std::vector<EditEffect>> effects = try_edit(text, gpu);
    EXPECT_TRUE(effects) << text << ": " << (effects ? "" : effects.error().message());
    EXPECT_EQ(check(graph), std::vector<std::string>{}) << text;
    return effects ? effects->front() : EditEffect{};
  }
  Result<std::vector<EditEffect>> try_edit(std::string_view text, const Gpu* gpu = nullptr) {
    const Result<Edit> parsed = parse_edit(text);
    if (!parsed) return std::unexpected(parsed.error());
    const EditScene scene{timeline, facts, lifted, gpu};
    return apply_edits(scene, std::span(&*parsed, 1), graph);
  }
  std::string error(std::string_view text, const Gpu* gpu = nullptr) {
    const auto effects = try_edit(text, gpu);
    return effects ? std::string("(no error)") : effects.error().message();
  }
  Nanoseconds duration(OpId built) const { return graph.operations.duration[number_[index(built)]]; }
  Nanoseconds start(OpId built) const { return replay(graph).start(number_[index(built)]); }
  Nanoseconds end(OpId built) const { return replay(graph).end(number_[index(built)]); }

  Timeline timeline;
  Facts facts;
  Lifted lifted;
  Graph graph;  // that edits change

 private:
  GraphBuilder builder_;
  std::vector<OpId> number_;
  std::map<PlaceId, OpId> last_;
  Nanoseconds about_ = 0;
};

}  // namespace stepscope
