#include "analyze/time_moved.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "facts/two_ranks.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

// A member of a collective keeps its device busy while it waits. Rank 0's device runs from its arrival at 10.010001 ms to 18.012001 ms with a gap of 2 µs: 8
// ms; rank 1's 5 ms less. With rank 1 on time both run for 3 ms.
TEST(TimeMoved, MembersOfCollectivesAreBusyWhileTheyWait) {
  const TwoRanks two(0);
  const Lifted lifted = lift(two.run.timeline, two.run.facts);
  ASSERT_EQ(lifted.windows.size(), 2u);
  Graph edited = lifted.graph.copy();
  edited.operations.duration[lifted.operation_of[two.work[1]]] -= 5 * TwoRanks::ms;
  const TimeMoved moved = time_moved(lifted, edited, replay(lifted.graph), replay(edited), {0, 1});
  EXPECT_DOUBLE_EQ(moved.busy_before_ns, 5.5e6);
  EXPECT_DOUBLE_EQ(moved.idle_before_ns, 2000);
  EXPECT_DOUBLE_EQ(moved.busy_after_ns, 3e6);
  EXPECT_DOUBLE_EQ(moved.idle_after_ns, 2000);
  // The transfer itself, on each of both devices.
  const auto transfer = std::ranges::find(moved.by_class, OperationClass::transfer, &MovedTime::operation_class);
  ASSERT_NE(transfer, moved.by_class.end());
  EXPECT_DOUBLE_EQ(transfer->before_ns, 1e6);
  EXPECT_DOUBLE_EQ(transfer->after_ns, 1e6);
}

}  // namespace
}  // namespace stepscope
