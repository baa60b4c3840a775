// What the rules about communication share: the collectives of the devices with their sizes and groups, what of them is exposed, and what they are for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "advise/evidence_device.h"
#include "facts/collective_call.h"

namespace stepscope::on_device {

struct DeviceCollective {
  std::uint32_t row = 0;  // of DeviceEvidence::slices
  CollectiveCall call;
  std::string group;              // name and ranks of its process group as recorded; "" = not recorded
  Nanoseconds exposed = 0;        // of it, not covered by compute on its device
  Phase phase = Phase::other;     // its own, or where that is not told, that of the compute kernel that started last before it
  bool between_products = false;  // a matrix product ran right before it and one right after it on the device
};

class CollectiveEvidence {
 public:
  explicit CollectiveEvidence(const AdviceScene& scene);
  DeviceEvidence e;
  std::vector<DeviceCollective> all;  // by device and start
  const DeviceSlice& slice(const DeviceCollective& one) const { return e.slices[one.row]; }
  // Tensor parallelism: a group that reduces 1 MiB or more in forward, between products. (Data parallelism reduces in backward only; synchronised batch
  // normalisation reduces less.)
  bool tensor_parallel(const DeviceCollective& one) const { return tensor_groups_.contains(one.group); }
  // Context parallelism: launched by an operator, or in a group, that says so.
  bool context_parallel(const DeviceCollective& one) const;
  bool gradient_reduction(const DeviceCollective& one) const;
  bool parameter_gather(const DeviceCollective& one) const;
  bool point_to_point(const DeviceCollective& one) const;
  // Compute of the phases in the representative steps that no communication runs beside, ns: where more of it could hide. By step (DeviceSlice::window).
  std::map<std::uint32_t, double> free_compute(std::initializer_list<Phase> phases) const;
  bool has_experts() const;                                                  // whether operators or kernels say that the model routes tokens to experts
  double exposed(const std::vector<const DeviceCollective*>& chosen) const;  // union, ns
  // Takes `hidden` ns off a collective: its kernel, and with several ranks the transfer that it takes part in.
  void shorten(ScaleEdits& edits, const DeviceCollective& one, double hidden) const;
  std::vector<OpId> operations(const std::vector<const DeviceCollective*>& chosen) const;  // kernels and their transfers, ascending
  Picked picked(const std::vector<const DeviceCollective*>& chosen) const;                 // weighed by what is exposed
  // Bytes x bus factor / duration, per second; absent where a size is not known.
  std::optional<double> bus_bandwidth(const DeviceCollective& one) const;

 private:
  std::set<std::string> tensor_groups_;
  std::map<OpId, OpId> transfer_of_;  // of a member
};

// Why a figure of one rank's trace needs care.
inline constexpr std::string_view wait_or_transfer =
    "The traces of all ranks of the group: with one rank, waiting for the others and transferring cannot be told apart.";
// To be put behind an observation: "" with several ranks.
std::string_view remark_of_one_rank(const DeviceEvidence& evidence);
// Confidence and what would settle it: with one rank the other ranks' traces, else as given.
void settle_by_ranks(Finding& finding, const DeviceEvidence& evidence, std::string_view otherwise = {});

// Who came last at the collectives that are lifted over several ranks, and what that cost.
struct Arrivals {
  std::map<RankId, std::size_t> last;  // how often each rank came last
  std::map<RankId, double> cost;       // what its lateness cost: last arrival less the second to last, ns
  std::size_t transfers = 0;
  double waited = 0, transferred = 0;             // summed over members, ns
  std::vector<std::pair<double, SliceId>> waits;  // of the members that waited longest, longest first
  std::vector<SliceId> longest_waits() const;     // at most 10
};
Arrivals arrivals_of(const AdviceScene& scene);

// The steady state of a pipeline's stage, by step (DeviceSlice::window): from its first backward kernel to the end of its last forward kernel. Before it the
// pipeline fills, after it drains.
std::map<std::uint32_t, Interval> steady_states(const DeviceEvidence& evidence);

}  // namespace stepscope::on_device
