// The collectives of several ranks: which communication kernels of which ranks are one.
//
// Kernels are one collective where the trace records the same function, process group (its name and its ranks) and sequence number in that group. Where no
// sequence number is recorded, the k-th call of a function, size and group on each rank is one, if all ranks of the group made the same number of them and the
// ends of the k-th, in corrected clocks (clock.h), lie together. All else stays unmatched, and is counted. Calls between two ranks (send, receive) are not
// matched: their numbers count per rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace stepscope {

enum class CollectiveFunction : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send_receive,  // point to point, grouped or not
  send,
  receive,
  barrier,
  custom_all_reduce,  // outside of collective libraries: one-shot, two-shot, multimem, cross_device_reduce
  expert_dispatch,    // DeepEP
  expert_combine,
  expert_notify,
  unknown,
};
std::string_view collective_function_name(CollectiveFunction function);  // "all-reduce"

enum class CollectiveMatch : std::uint8_t { sequence, order };

struct CollectiveMember {
  RankId rank{};
  SliceId slice{};  // the communication kernel
};

struct MatchedCollective {
  CollectiveFunction function{};
  CollectiveMatch match = CollectiveMatch::sequence;
  std::int64_t bytes = -1;      // as nccl-tests counts them, of the first member; -1 = not known
  std::int64_t group_size = 0;  // ranks that take part; 0 = not recorded
  std::uint32_t first = 0;      // its members: rows first … first + members of Collectives::members
  std::uint32_t members = 0;    // ≥ 2
  bool is_complete() const { return group_size == members; }
  // Ranks of its group are missing in the capture (or their records).
  bool is_partial() const { return group_size > members; }
};

struct Collectives {
  std::vector<MatchedCollective> matched;  // by start of the first rank's member
  std::vector<CollectiveMember> members;   // of a collective: by rank
  // Communication kernels without a counterpart, by reason. With a single rank nothing is looked for, and all of them are 0.
  std::uint64_t alone = 0;           // no other rank of the capture recorded the call
  std::uint64_t point_to_point = 0;  // send or receive, or of no known function
  std::uint64_t repeated = 0;        // one rank has several kernels of one sequence number: several launches of a call, or a group made anew
  std::uint64_t uneven = 0;          // without sequence numbers: ranks made different numbers of such calls
  std::uint64_t apart = 0;           // without sequence numbers: the k-th calls did not end together
  std::span<const CollectiveMember> members_of(const MatchedCollective& one) const { return std::span(members).subspan(one.first, one.members); }
};

}  // namespace stepscope
