#include <gtest/gtest.h>

#include "hand_built.h"

namespace stepscope {

extern const Question synchronisations_question;

namespace {

// aten::item copies 4 bytes to pageable memory and waits 100 µs for it; a device synchronisation of 300 µs outside operators, with the driver's call inside;
// another thread, which launches nothing, waits 1000 µs for an event.
struct Synchronisations : testing::Test {
  HandBuilt run;
  Synchronisations() {
    const TrackId main = run.thread("10"), watchdog = run.thread("11"), stream = run.stream(7);
    run.slice(SliceKind::python_function, main, "train.py(7): log", 0, 400);
    run.slice(SliceKind::python_function, main, "<built-in method item>", 5, 300);
    run.operation(main, "aten::item", 10, 250);
    run.operation(main, "aten::_local_scalar_dense", 20, 200);
    run.call(main, "cudaMemcpyAsync", 30, 60, 1);
    run.call(main, "cudaStreamSynchronize", 100, 100, 2);
    run.call(main, "cudaMemcpyAsync", 270, 10, 3);
    run.call(main, "cudaDeviceSynchronize", 500, 300, 4);
    run.slice(SliceKind::driver_call, main, "cuCtxSynchronize", 510, 280, 4);
    run.call(watchdog, "cudaEventSynchronize", 0, 1000, 5);
    run.call(watchdog, "cudaEventQuery", 1000, 2, 6);
    run.copy(stream, "Memcpy DtoH (Device -> Pageable)", 40, 45, 1, 4);
    run.copy(stream, "Memcpy HtoD (Pinned -> Device)", 275, 50, 3, 4);
    run.finish();
    // The hand-built nesting keeps calls childless: the driver's call lies inside the runtime's.
    for (std::uint32_t i = 0; i < run.timeline.slices.size(); ++i)
      for (std::uint32_t j = 0; j < run.timeline.slices.size(); ++j)
        if (run.timeline.name_of(SliceId{i}) == "cuCtxSynchronize" && run.timeline.name_of(SliceId{j}) == "cudaDeviceSynchronize")
          run.facts.parent[i] = SliceId{j};
  }
};

TEST_F(Synchronisations, ByCall) {
  const Section section = synchronisations_question.answer(run.rank_scene()).at(0);
  const Table& table = *section.table("by_call");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(text_of(table.rows[0][0]), "cudaDeviceSynchronize");
  EXPECT_EQ(whole_of(cell(table, "cudaDeviceSynchronize", "blocked_ns")), 300'000);
  EXPECT_EQ(whole_of(cell(table, "cudaStreamSynchronize", "launching_blocked_ns")), 100'000);
  EXPECT_EQ(whole_of(cell(table, "cudaMemcpyAsync", "count")), 1) << "the copy to pageable memory, not the one from pinned";
  EXPECT_EQ(whole_of(cell(table, "cudaMemcpyAsync", "blocked_ns")), 60'000);
  EXPECT_EQ(whole_of(cell(table, "cudaEventSynchronize", "blocked_ns")), 1'000'000);
  EXPECT_EQ(whole_of(cell(table, "cudaEventSynchronize", "launching_blocked_ns")), 0);
  EXPECT_EQ(whole_of(section.figure("count")->value), 4);
  EXPECT_EQ(whole_of(section.figure("blocked_ns")->value), 1'460'000);
  EXPECT_EQ(whole_of(section.figure("launching_blocked_ns")->value), 460'000);
}

TEST_F(Synchronisations, ByOperatorAndCaller) {
  const Section section = synchronisations_question.answer(run.rank_scene()).at(0);
  const Table& table = *section.table("by_operator");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][0], Value{}) << "the device synchronisation has no operator";
  EXPECT_EQ(text_of(table.rows[1][0]), "aten::_local_scalar_dense");
  EXPECT_EQ(text_of(table.rows[1][1]), "aten::item");
  EXPECT_EQ(text_of(table.rows[1][2]), "train.py(7): log");
  EXPECT_EQ(text_of(table.rows[1][3]), "cudaStreamSynchronize");
  EXPECT_EQ(sum_of(table, "blocked_ns"), 1'460'000);
}

TEST_F(Synchronisations, AWindowCountsCallsThatStartInIt) {
  Scene scene = run.rank_scene();
  scene.whole_capture = false;
  scene.window = {50'000, 450'000};
  EXPECT_EQ(whole_of(synchronisations_question.answer(scene).at(0).figure("count")->value), 1);
  scene.window = {2'000'000, 3'000'000};
  EXPECT_TRUE(synchronisations_question.answer(scene).empty());
}

}  // namespace
}  // namespace stepscope
