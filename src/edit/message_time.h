// What messages of a collective cost: time = alpha + bytes · beta (Hockney 1994), from the trace's own collectives of several sizes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edit/edit.h"

namespace stepscope {

struct MessageTime {
  double alpha = 0;  // ns
  double beta = 0;   // ns per byte
  double of(double bytes) const { return alpha + bytes * beta; }
};

// Least squares over the shortest time of each size, because longer ones waited for other ranks. Absent where fewer than two sizes are known, or larger
// messages did not take longer. A negative alpha becomes 0 (beta then by least squares through the origin).
std::optional<MessageTime> fit_message_time(const EditScene& scene, const Graph& graph, std::span<const OpId> operations);

// Bytes of a collective: of the operation, else as the trace notes them (facts/collective_call.h); unknown_amount = not known.
std::int64_t message_bytes(const EditScene& scene, const Graph& graph, OpId op);

// The operations that carry data between ranks: transfers, and communication kernels that are no members of one.
std::vector<OpId> that_carry_data(const Graph& graph, std::span<const OpId> operations);

// Those that carry data, by name.
std::vector<std::vector<OpId>> by_name(const Graph& graph, std::span<const OpId> operations);

}  // namespace stepscope
