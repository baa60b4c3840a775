// Clocks of several ranks: how far each rank's clock is ahead of the first rank's, from collectives that all members leave together.
//
//   offset of rank b against rank a = median, over the collectives that both took part in, of (end on b − end on a)
//   uncertainty = half of the central 90 % of the residuals: (95th − 5th percentile) / 2, of at least five
// Offsets are constant over a capture. Only functions whose members need data of every other one count (all-reduce, all-gather, reduce-scatter, all-to-all,
// barrier), and only collectives with all members of their group in the capture, or matched by sequence number. Ranks that share no group with the first one
// are reached through others, along the spanning tree of the smallest uncertainties; along it uncertainties add.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/time.h"

namespace stepscope {

struct RankClock {
  std::optional<Nanoseconds> offset;       // this rank's clock − the first rank's; absent = no collective connects them
  std::optional<Nanoseconds> uncertainty;  // ±; absent = too few collectives to tell. The first rank's is 0.
  RankId through = no_id<RankId>;          // the rank that it was compared with; no_id = none (the first rank, and those not connected)
  std::uint32_t collectives = 0;           // that it was compared in
};

}  // namespace stepscope
