// The class of a device slice by its name: the built-in table, which a user's patterns override (METRICS.md, Activity).
#pragma once

#include <string_view>

#include "facts/facts.h"

namespace stepscope {

// Whether a kernel of this name communicates between devices, by the table in activity.cpp. Letter case does not matter.
bool is_communication_name(std::string_view name);
// Of a device slice of this kind (kernel, copy or fill) and name, by the built-in table.
ActivityClass activity_class(SliceKind kind, std::string_view name);
std::string_view activity_class_name(ActivityClass activity);  // "compute"

}  // namespace stepscope
