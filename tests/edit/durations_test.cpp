// Edits of durations, launches and waits, on graphs whose times are worked out by hand.
#include <gtest/gtest.h>

#include "edit/small_graph.h"

namespace stepscope {
namespace {

// One thread launches gemm (100), relu (20) and gemm (100) and waits for them; calls of 10, kernels 5 after the start of their call, gaps of 2.
//   calls at 0, 10, 20; gemm 5…105, relu 107…127, gemm 129…229; the thread goes on at 229.
struct ThreeKernels : testing::Test {
  SmallGraph g;
  OpId first, relu, last, wait, after;
  void SetUp() override {
    const PlaceId thread = g.thread(), stream = g.stream(7);
    first = g.kernel(thread, stream, "gemm_128", 100);
    relu = g.kernel(thread, stream, "relu", 20, OperationClass::compute, unknown_amount, 2);
    last = g.kernel(thread, stream, "gemm_256", 100, OperationClass::compute, unknown_amount, 2);
    wait = g.synchronise(thread, last);
    after = g.cpu(thread, "next", 30);
    g.finish();
  }
};

TEST_F(ThreeKernels, AsBuilt) {
  EXPECT_EQ(g.start(first), 5);
  EXPECT_EQ(g.end(relu), 127);
  EXPECT_EQ(g.end(last), 229);
  EXPECT_EQ(g.end(after), 259);
}

TEST_F(ThreeKernels, ScaleByAName) {
  const EditEffect effect = g.edit("scale name=gemm* by=0.5");
  EXPECT_EQ(effect.operations, 2u);
  EXPECT_EQ(effect.summary, "scaled 2 operations (200 ns) by 0.5");
  EXPECT_EQ(g.duration(first), 50);
  EXPECT_EQ(g.duration(relu), 20);
  EXPECT_EQ(g.end(after), 159);  // 5 + 50 + 2 + 20 + 2 + 50 + 30
}

TEST_F(ThreeKernels, SetToADuration) {
  g.edit("set name=gemm_??? to=0.04us");
  EXPECT_EQ(g.end(last), 5 + 40 + 2 + 20 + 2 + 40);
}

TEST_F(ThreeKernels, FreeKeepsLaunchAndLags) {
  g.edit("free name=relu");
  EXPECT_EQ(g.end(last), 5 + 100 + 2 + 0 + 2 + 100);
}

TEST_F(ThreeKernels, RemoveTakesLaunchAndLags) {
  const EditEffect effect = g.edit("remove name=relu");
  EXPECT_EQ(effect.summary, "removed 1 operation (20 ns) and 1 launch call");
  EXPECT_EQ(effect.operations, 2u);
  EXPECT_EQ(g.end(last), 5 + 100 + 2 + 100);
  EXPECT_EQ(g.graph.size(), g.lifted.graph.size());
}

TEST_F(ThreeKernels, RemoveKeepsALaunchThatLaunchedMore) {
  SmallGraph two;
  const PlaceId thread = two.thread(), stream = two.stream(7);
  const OpId a = two.kernel(thread, stream, "a", 10);
  const OpId call = two.cpu(thread, "cudaGraphLaunch", 10, OperationClass::launch);
  const OpId b = two.add(stream, OperationClass::compute, "b", 10), c = two.add(stream, OperationClass::compute, "c", 10);
  two.depend(b, Moment::start(call), DependencyKind::launch);
  two.depend(c, Moment::start(call), DependencyKind::launch);
  two.finish();
  two.edit("remove name=b");
  EXPECT_EQ(two.duration(call), 10);
  EXPECT_EQ(two.duration(b), 0);
  two.edit("remove name=b|c");
  EXPECT_EQ(two.duration(call), 0);
  EXPECT_EQ(two.end(c), two.end(a));
}

TEST_F(ThreeKernels, WithoutSynchronisationTheThreadGoesOn) {
  const EditEffect effect = g.edit("no_sync");
  EXPECT_EQ(effect.operations, 1u);
  EXPECT_EQ(g.start(after), 30);
  EXPECT_EQ(g.end(last), 229);
  EXPECT_NE(g.error("no_sync").find("none of the chosen operations waits for a device"), std::string::npos);
}

TEST_F(ThreeKernels, LaunchesCostNothing) {
  const EditEffect effect = g.edit("launch_cost");
  EXPECT_EQ(effect.operations, 3u);
  EXPECT_EQ(g.start(first), 0);
  EXPECT_EQ(g.end(last), 100 + 2 + 20 + 2 + 100);
  g.edit("launch_cost to=3ns lag=1ns");
  EXPECT_EQ(g.start(first), 1);
  EXPECT_EQ(g.duration(OpId{1}), 3);
}

TEST_F(ThreeKernels, ByClassStreamAndSeveralAtOnce) {
  EXPECT_EQ(g.edit("scale class=launch by=2").operations, 3u);
  EXPECT_EQ(g.edit("scale stream=7 by=1").operations, 3u);
  EXPECT_EQ(g.edit("scale stream=7, name=relu, by=1").operations, 1u);
  EXPECT_EQ(g.edit("scale class=python name=next by=0").operations, 1u);
  EXPECT_EQ(g.edit("scale category=gemm by=1").operations, 2u);
}

TEST_F(ThreeKernels, NothingMatchesSaysWhatThereIs) {
  EXPECT_EQ(g.error("scale name=gemn* by=2"), "edit 'scale by=2 name=gemn*': no operation matches\n  near names: gemm_128, gemm_256");
  EXPECT_NE(g.error("scale name=zzz by=2").find("there are: gemm_128, gemm_256, relu"), std::string::npos);
  EXPECT_NE(g.error("scale stream=8 by=2").find("there are: 7 (stream=)"), std::string::npos);
  EXPECT_NE(g.error("scale class=transfer by=2").find("(classes)"), std::string::npos);
  EXPECT_NE(g.error("scale name=relu category=gemm by=2").find("no single word is to blame"), std::string::npos);
}

TEST_F(ThreeKernels, ExactlyTheseOperations) {
  const Edit edit{.kind = "scale", .parameters = {{"by", "3"}}, .operations = std::vector<OpId>{g[last], g[first], g[first]}};
  const auto effects = apply_edits({g.timeline, g.facts, g.lifted}, std::span(&edit, 1), g.graph);
  ASSERT_TRUE(effects);
  EXPECT_EQ(effects->front().operations, 2u);
  EXPECT_EQ(g.duration(first), 300);
  const Edit wrong{.kind = "scale", .parameters = {{"by", "3"}}, .operations = std::vector<OpId>{OpId{999}}};
  EXPECT_FALSE(apply_edits({g.timeline, g.facts, g.lifted}, std::span(&wrong, 1), g.graph));
}

TEST_F(ThreeKernels, EditsComposeInOrder) {
  const std::vector<Edit> edits = {*parse_edit("set name=relu to=100ns"), *parse_edit("scale stream=7 by=0.1")};
  ASSERT_TRUE(apply_edits({g.timeline, g.facts, g.lifted}, edits, g.graph));
  EXPECT_EQ(g.duration(relu), 10);
  EXPECT_EQ(g.end(last), 39);  // the last launch at 20 + 5, behind 5 + 10 + 2 + 10 + 2; + 10
}

// Loading (60) and a step's work (40) in turn, three times.
struct Loader : testing::Test {
  SmallGraph g;
  std::vector<OpId> loads;
  OpId last;
  void SetUp() override {
    const PlaceId thread = g.thread();
    for (int i = 0; i < 3; ++i) {
      loads.push_back(g.cpu(thread, "next", 50, OperationClass::data_loading));
      loads.push_back(g.cpu(thread, "collate", 10, OperationClass::data_loading));
      last = g.cpu(thread, "step", 40);
    }
    g.finish();
  }
};

TEST_F(Loader, LoadingTakesNoTime) {
  g.edit("data_loading to=0");
  EXPECT_EQ(g.end(last), 120);
}

TEST_F(Loader, LoadingTakesAsLongAsSaid) {
  g.edit("data_loading to=5ns");
  EXPECT_EQ(g.end(last), 135);
  EXPECT_EQ(g.duration(loads[0]), 5);
  EXPECT_EQ(g.duration(loads[1]), 0);
}

TEST_F(Loader, OneWorkerHidesWhatTheStepTakes) {
  const EditEffect effect = g.edit("data_loading workers=1");  // 60 − 40 left of each batch
  EXPECT_EQ(g.end(last), 180);
  EXPECT_DOUBLE_EQ(effect.pessimistic, 0);  // were nothing hidden, one worker would save nothing
}

// A kernel of 100 runs while the next batch is loaded (60); its thread waits for it behind that. While one worker loads a batch, the thread waits for the
// kernel as it did for the batch.
TEST(LoaderBehindADevice, WorkersHaveAsLongAsTheStepTakesThen) {
  SmallGraph g;
  const PlaceId thread = g.thread(), stream = g.stream(7);
  OpId kernel{}, last{};
  for (int i = 0; i < 3; ++i) {
    g.cpu(thread, "next", 60, OperationClass::data_loading);
    if (i > 0) last = g.synchronise(thread, kernel);
    kernel = g.kernel(thread, stream, "gemm", 100);
  }
  g.finish();
  EXPECT_EQ(g.end(last), 270);  // a kernel from 65 to 165, one from 170 on
  const EditEffect effect = g.edit("data_loading workers=1");
  // Of the first batch 60 − 27.5 are left (10 and 45 were between two): a kernel from 38 to 138. The second batch is taken at 33 + 60, and the thread goes on
  // at 138: a kernel from 143 to 243. The third is there at 93 + 60, 5 after the thread came for it.
  EXPECT_EQ(g.end(last), 243);
  EXPECT_EQ(effect.summary, "loading of 3 batches, 3 operations (180 ns): 88 ns left to wait for");
}

TEST_F(Loader, TwoWorkersHideAllOfIt) {
  const EditEffect effect = g.edit("data_loading workers=2");  // 30 per batch, behind 40 of work
  EXPECT_EQ(g.end(last), 120);
  EXPECT_DOUBLE_EQ(effect.pessimistic, 0.5);
  EXPECT_NE(g.error("data_loading").find("either to= or workers="), std::string::npos);
}

}  // namespace
}  // namespace stepscope
