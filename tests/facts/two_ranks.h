// Two ranks that work on the host, then take part in an all-reduce of 1 ms, then run a kernel of 2 ms. Rank 0 works for 10 ms, rank 1 for 15 ms. Rank 1's clock
// is `ahead`.
#pragma once

#include "several_ranks.h"

namespace stepscope {

struct TwoRanks {
  static constexpr Nanoseconds ms = 1'000'000;
  explicit TwoRanks(Nanoseconds ahead) : run(2) {
    const std::string detail = SeveralRanks::arguments("allreduce", "0", "[0, 1]", 2, 0);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds clock = rank == 0 ? 0 : ahead, late = rank == 0 ? 0 : 5 * ms;
      work[rank] = run.operation(run.threads[rank], "work", clock + 1, 10 * ms + late);
      const Nanoseconds launched = clock + 1 + 10 * ms + late;
      member[rank] = run.launched_collective(rank, launched, launched + 10'000, clock + 16 * ms + 10'001, detail);
      run.call(run.threads[rank], "cudaLaunchKernel", launched + 20'000, 1000, 90 + rank);
      after[rank] = run.kernel(run.streams[rank], "gemm", clock + 16 * ms + 12'001, 2 * ms, 90 + rank);
    }
    run.finish();
  }
  SeveralRanks run;
  SliceId work[2], member[2], after[2];
};

}  // namespace stepscope
