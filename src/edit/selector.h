// Which operations of a Graph an edit means: parameters that must all hold.
//
//   name=       glob on the name, as written or shortened (base/kernel_name.h)
//   operator=   glob on a framework operator around it, innermost or outer (Facts::operation)
//   category=   of the operator behind it, else of the kernel's name (cost/category.cpp): gemm, attention, elementwise, …
//   module=     glob on a module of the model around its launch, its name ("Linear_3") or its path ("Block_0/Linear_3"); backward work: of its forward operator
//   phase=      forward, backward, optimizer, data, other (Facts::phase)
//   class=      an OperationClass: compute, communication, copy, launch, framework, …
//   collective= a collective's function as it was recorded, else by the kernel's name: all_reduce, all_gather, reduce_scatter, …
//   rank=, stream=, device=, step=   glob on the number (Rank::number, Place::stream, Device::label, Step::number)
//
// Alternatives are written a|b. A transfer of several ranks is meant where a member of its is, except by class=.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/operator_cost.h"
#include "edit/edit.h"
#include "facts/collectives.h"

namespace stepscope {

std::span<const EditParameter> selector_parameters();

// Whether the values of the selector's closed lists (category, phase, class, collective) are known words.
Result<void> check_selector(const Edit& edit);

// Ascending. Without class=, operations of the given classes are looked at, or, where there are none given, those that run on a device or on the links.
// An Error where nothing matches: it says what near names exist.
Result<std::vector<OpId>> select_operations(const EditScene& scene, const Graph& graph, const Edit& edit, std::span<const OperationClass> classes);

// The category of a device operation: of the innermost operator that has one, else by its own name; other = not known.
OperatorCategory operation_category(const EditScene& scene, const Graph& graph, OpId op);

// What a communication kernel or a transfer does: NCCL runs an all-to-all as SendRecv, what launched it knows better. Of all else: unknown.
CollectiveFunction operation_collective(const EditScene& scene, const Graph& graph, OpId op);

// As a selector writes it: "all_reduce", "send_receive".
std::string collective_word(CollectiveFunction function);

// The step it belongs to: by the step's window on its device, of what runs on a thread by the step itself; absent outside of all steps.
std::optional<std::int64_t> operation_step(const EditScene& scene, const Graph& graph, OpId op);

}  // namespace stepscope
