// What one communication kernel did: function, type, size and process group, from the best record there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "facts/collectives.h"
#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

// Where the size and group of a call were found.
enum class CollectiveSource : std::uint8_t { kernel_arguments, operator_arguments, operator_shapes, kernel_name };

struct CollectiveCall {
  CollectiveFunction function = CollectiveFunction::unknown;
  CollectiveSource source = CollectiveSource::kernel_name;
  DataType type = DataType::unknown;
  std::optional<std::int64_t> bytes;  // as nccl-tests counts: all-gather its output, the others their input; all-to-all all that a rank sends
  std::optional<std::int64_t> group_size;
  std::string group;                     // "Process Group Name"; "" = not recorded
  std::string group_ranks;               // as recorded: "[0, 1, 2, 3]"; "" = not recorded
  std::optional<std::int64_t> sequence;  // "Seq": the number of the call in its group
  SliceId cause = no_id<SliceId>;        // the operator or annotation that the sizes come from
};

// slice: a device slice of class communication.
CollectiveCall collective_call(const Timeline& timeline, const Facts& facts, SliceId slice);

// Of names as the frameworks write them: "allreduce", "_all_gather_base", "nccl:all_to_all", "c10d::reduce_scatter_tensor_coalesced_".
CollectiveFunction collective_function_of_operator(std::string_view name);
// Of kernel names: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)", "void deep_ep::intranode::dispatch<…>(…)".
CollectiveFunction collective_function_of_kernel(std::string_view name);

// Bus bandwidth / algorithm bandwidth (METRICS.md, Communication); absent for functions without a bus model or an unknown group size.
std::optional<double> bus_factor(CollectiveFunction function, std::optional<std::int64_t> group_size);

}  // namespace stepscope
