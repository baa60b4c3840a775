// The critical path as findings: a small timeline whose path is worked out by hand, and sums on generated ones.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "analyze/question.h"
#include "analyze/value.h"
#include "hand_built.h"
#include "lift/host_bound.h"
#include "lift/lift.h"
#include "random_device.h"
#include "simulate/replay.h"

namespace stepscope {

extern const Question critical_path_question;

namespace {

std::vector<Section> answer(const SmallTimeline& t, const Lifted& lifted, const ReplayTimes& times, std::size_t device = 0) {
  const Scene scene{.timeline = t.timeline,
                    .facts = t.facts,
                    .rank = t.facts.devices[device].rank,
                    .device = &t.facts.devices[device],
                    .window = {},
                    .lifted = &lifted,
                    .times = &times};
  return critical_path_question.answer(scene);
}

std::int64_t figure(const Section& section, std::string_view key) {
  return whole_of(section.figure(key)->value);
}

// A host-bound capture, times in ns. The device's window is [100, 1250): softmax starts when it was launched.
//   gemm 100-400; aten::softmax 1000-1100 launches softmax at 1050 (call of 20); softmax runs 1150-1250.
//   On the path: softmax 100, its launch latency 1050-1150 = 100, the operator's own time before its call 50, and before it the thread's 900.
TEST(CriticalPathQuestion, OfAHostBoundCapture) {
  SmallTimeline t;
  host_bound_capture(t);
  const Lifted lifted = lift(t.timeline, t.facts);
  const ReplayTimes times = replay(lifted.graph);
  const std::vector<Section> sections = answer(t, lifted, times);
  ASSERT_EQ(sections.size(), 1u);
  const Section& section = sections[0];
  EXPECT_EQ(section.figure("step")->value, absent());
  EXPECT_EQ(figure(section, "window_ns"), 1150);
  EXPECT_EQ(figure(section, "compute_ns"), 100);
  EXPECT_EQ(figure(section, "launch_latency_ns"), 100);
  EXPECT_EQ(figure(section, "cpu_operator_ns"), 50);
  EXPECT_EQ(figure(section, "python_ns"), 900);
  EXPECT_EQ(figure(section, "parts"), 4);
  const Table& operators = *section.table("by_operator");
  EXPECT_EQ(whole_of(cell(operators, "aten::softmax", "total_ns")), 250);
  EXPECT_EQ(whole_of(cell(operators, "aten::softmax", "device_ns")), 100);
  EXPECT_EQ(whole_of(cell(operators, "aten::softmax", "host_ns")), 50);
  EXPECT_EQ(whole_of(cell(operators, "aten::softmax", "lag_ns")), 100);
  EXPECT_EQ(whole_of(cell(operators, "(between operators)", "total_ns")), 900);
  EXPECT_EQ(section.table("by_module"), nullptr);
  EXPECT_EQ(section.table("by_collective"), nullptr);
  EXPECT_EQ(section.table("unexplained"), nullptr);
  EXPECT_EQ(section.summary,
            "The capture: 78 % Python and between operators, 9 % compute kernels, 9 % launch latency; most of it for (between operators) (78 %)");
}

// Modules and collectives: the forward operator of autograd's number 5 ran in module Linear_0, so its backward gemm is Linear_0's.
TEST(CriticalPathQuestion, BackwardWorkIsItsModulesAndCollectivesHaveTheirNames) {
  SmallTimeline t;
  const TrackId thread = t.thread("1"), backward = t.thread("2"), stream = t.stream(7);
  const SliceId model = t.slice(SliceKind::python_function, thread, "nn.Module: GPT_0", 0, 1000);
  const SliceId layer = t.slice(SliceKind::python_function, thread, "nn.Module: Linear_0", 100, 500);
  t.builder().add(PythonFact{model, 0, 0xFFFF'FFFFu, 0});
  t.builder().add(PythonFact{layer, 1, 0, 1});
  t.numbered(thread, "aten::addmm", 200, 100, 5, 0);
  t.launched_kernel(thread, stream, "forward_gemm", 250, 300, 50'000);
  t.numbered(backward, "AddmmBackward0", 1200, 100, 5, 1);
  t.launched_kernel(backward, stream, "backward_gemm", 1250, 50'300, 50'000);
  t.operation(backward, "c10d::allreduce_", 1400, 100);
  t.launched_kernel(backward, stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", 1450, 100'300, 70'000);
  t.finish();
  const Lifted lifted = lift(t.timeline, t.facts);
  const ReplayTimes times = replay(lifted.graph);
  const std::vector<Section> sections = answer(t, lifted, times);
  ASSERT_EQ(sections.size(), 1u);
  const Table& modules = *sections[0].table("by_module");
  EXPECT_EQ(whole_of(cell(modules, "GPT_0/Linear_0", "total_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(modules, "(outside modules)", "total_ns")), 70'000);
  EXPECT_EQ(whole_of(cell(*sections[0].table("by_collective"), "all-reduce", "total_ns")), 70'000);
  EXPECT_EQ(figure(sections[0], "communication_ns"), 70'000);
  EXPECT_EQ(sections[0].caveats.size(), 1u);
}

TEST(CriticalPathQuestion, SaysNothingWhereNothingWasLifted) {
  SmallTimeline t;
  t.kernel(t.stream(7), "gemm", 0, 100);
  t.finish();
  const Scene scene{.timeline = t.timeline, .facts = t.facts, .rank = t.rank(), .device = &t.facts.devices[0], .window = {}};
  EXPECT_TRUE(critical_path_question.answer(scene).empty());
}

// A kernel without a launch record is on the path with its delay, which is listed with that reason.
TEST(CriticalPathQuestion, ADelayHasItsLikelyReason) {
  SmallTimeline t;
  const TrackId stream = t.stream(7);
  t.kernel(stream, "first", 0, 100);
  t.kernel(stream, "second", 500'000, 100);
  t.finish();
  const Lifted lifted = lift(t.timeline, t.facts);
  const ReplayTimes times = replay(lifted.graph);
  const std::vector<Section> sections = answer(t, lifted, times);
  ASSERT_EQ(sections.size(), 1u);
  const Table* delays = sections[0].table("unexplained");
  ASSERT_NE(delays, nullptr);
  ASSERT_EQ(delays->rows.size(), 1u);
  EXPECT_EQ(whole_of(delays->rows[0][column_of(*delays, "duration_ns")]), 500'000 - 100);
  EXPECT_EQ(text_of(delays->rows[0][column_of(*delays, "before")]), "second");
  EXPECT_EQ(text_of(delays->rows[0][column_of(*delays, "reason")]), "no launch record: launched before the capture, or its record was dropped");
}

TEST(CriticalPathQuestion, EveryTableSumsToTheWindow) {
  EXPECT_TRUE(rc::check("figures, kinds, operators and steps sum to the window", [] {
    const auto t = random_device();
    const Lifted lifted = lift(t->timeline, t->facts);
    const ReplayTimes times = replay(lifted.graph);
    for (std::size_t device = 0; device < t->facts.devices.size(); ++device) {
      for (const Section& section : answer(*t, lifted, times, device)) {
        const std::int64_t window = figure(section, "window_ns");
        std::int64_t sum = 0;
        for (const Figure& f : section.figures)
          if (f.unit == Unit::nanoseconds && f.key != "window_ns") sum += whole_of(f.value);
        RC_ASSERT(sum == window);
        RC_ASSERT(sum_of(*section.table("by_kind"), "total_ns") == window);
        RC_ASSERT(sum_of(*section.table("by_operator"), "total_ns") == window);
        RC_ASSERT(sum_of(*section.table("by_kind"), "parts") == figure(section, "parts"));
        const Table& steps = *section.table("by_step");
        for (const auto& row : steps.rows) {
          std::int64_t parts = 0;
          for (std::size_t column = 2; column < row.size(); ++column) parts += whole_of(row[column]);
          RC_ASSERT(parts == whole_of(row[1]));
        }
      }
    }
  }));
}

}  // namespace
}  // namespace stepscope
