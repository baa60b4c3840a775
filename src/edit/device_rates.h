// What a device operation would take elsewhere, as a factor on its time: by its roofline where its work is known, else by the rate that its category lives on.
#pragma once

#include <optional>

#include "edit/edit.h"
#include "edit/work_of.h"

namespace stepscope {

// What an operation's time hangs on where its work is not known.
enum class Limit : std::uint8_t { matrix_units, memory, host_link, link, unknown };
// gemm, attention, convolution: matrix units; copies within the device and the other categories: memory; copies to and from the host: their link;
// communication: the links between GPUs; kernels of no known category: unknown.
Limit limit_of(const EditScene& scene, const Graph& graph, OpId op);

}  // namespace stepscope
