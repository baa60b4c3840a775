#include "read/file_rank.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(FileRank, IsTheNumberAfterRankOrWorker) {
  const std::pair<const char*, std::int64_t> names[] = {
      {"rank003.json.gz", 3},
      {"rank0.json", 0},
      {"trace_rank_7.json", 7},
      {"sampled_rank-0.json.gz", 0},
      {"profile_trace_rank_12.json.gz", 12},
      {"19_clock_skew_rank1.json", 1},
      {"nccl_trace_rank_31", 31},
      {"rank=5.json", 5},
      {"rank.6.json", 6},
      {"RANK-8.json", 8},
      {"traceRank9.json", 9},
      {"global_rank4_local_rank0.json", 4},
      {"globalrank4.json", 4},
      {"local_rank0_rank17.json", 17},
      {"worker0_step_12.1694128201545.pt.trace.json", 0},
      {"worker7_step_12.1694128201545.pt.trace.json", 7},
      {"/data/run 1/rank2.json", 2},
      {"/data/rank_3/trace.json", 3},
      {"rank_4/trace_rank_5.json", 5},
      {"rank9/trace.json.gz", 9},
      {"000000128rank000000128.json", 128},
  };
  for (const auto& [name, rank] : names) EXPECT_EQ(rank_in_path(name), rank) << name;
}

TEST(FileRank, IsAbsentWhereTheNameDoesNotSay) {
  for (const char* name : {"", "/", "-", "trace.json", "rank.json", "rank_non_gpu.json.gz", "frank3.json", "crank_4.json", "ranks8.json", "rank__3.json",
                           "local_rank0.json", "localrank1.json", "host_1234.1694128201545.pt.trace.json", "step12.json", "rank1694128201545.json",
                           "coworker3.json", "3/trace.json", "rank3/deeper/trace.json"})
    EXPECT_FALSE(rank_in_path(name).has_value()) << name;
}

}  // namespace
}  // namespace stepscope
